package opencode

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"paw/orchestrator/cli"
	"paw/orchestrator/cli/internal/hooks"
	"paw/orchestrator/cli/internal/questions"
)

// opencode serves its own API on loopback where it is given a port. The plugin writes down where, and only who has the password
// of the launch is answered.
const (
	serverName       = "opencode-server.json"
	passwordVariable = "OPENCODE_SERVER_PASSWORD"
	channelTimeout   = 30 * time.Second
)

// server is what the plugin and the launch write down of an opencode.
type server struct {
	URL      string `json:"url"`
	Password string `json:"password"`
}

// serve adds to a launch what makes opencode serve, unless its arguments say where.
func serve(s cli.Spec, command cli.Command) cli.Command {
	if s.Hook == "" || slices.ContainsFunc(s.Args, func(arg string) bool { return strings.HasPrefix(arg, "--port") }) {
		return command
	}
	password := uuid.NewString()
	command.Argv = append(command.Argv, "--hostname", "127.0.0.1", "--port", "0")
	command.Env = append(command.Env, passwordVariable+"="+password)
	command.Files = append(command.Files, cli.File{
		Path: filepath.Join(s.StateDir, serverName), Content: hooks.JSON(server{Password: password}),
	})
	return command
}

// channel is the API of the opencode of one launch.
type channel struct {
	server
	conversation string
}

// Channel is that of the launch, if its plugin has written down where it listens.
func (driver) Channel(s cli.Spec) cli.Channel {
	c := channel{conversation: s.ConversationID}
	if text, err := os.ReadFile(filepath.Join(s.StateDir, serverName)); err == nil {
		_ = json.Unmarshal(text, &c.server)
	}
	if at, err := url.Parse(c.URL); err != nil || !net.ParseIP(at.Hostname()).IsLoopback() {
		c.URL = ""
	}
	return c
}

// Open looks the conversation up. One that does not exist yet begins with what is typed.
func (c channel) Open(ctx context.Context) bool {
	return c.URL != "" && c.conversation != "" && c.call(ctx, http.MethodGet, c.path("/message?limit=1"), nil, nil) == nil
}

// path is a place of the conversation in the API.
func (c channel) path(of string) string { return "/session/" + url.PathEscape(c.conversation) + of }

// Submit shows the conversation, which keeps what is half typed, and prompts it: as the agent that the screen shows as selected,
// else the one that the last message was for.
func (c channel) Submit(ctx context.Context, prompt string, seen cli.Screen) error {
	type object = map[string]any
	var last []struct {
		Info struct {
			Agent string `json:"agent"`
		} `json:"info"`
	}
	if err := errors.Join(
		c.call(ctx, http.MethodGet, c.path("/message?limit=1"), nil, &last),
		c.call(ctx, http.MethodPost, "/tui/select-session", object{"sessionID": c.conversation}, nil),
	); err != nil {
		return errors.Join(cli.ErrNotHandedOver, err)
	}
	as := ""
	for _, one := range last {
		as = one.Info.Agent
	}
	body := object{"parts": []object{{"type": "text", "text": prompt}}}
	if as = c.agentNamed(ctx, seen.Mode, as); as != "" {
		body["agent"] = as
	}
	return c.call(ctx, http.MethodPost, c.path("/prompt_async"), body, nil)
}

// agentNamed is the agent that a screen shows as selected, else another one.
func (c channel) agentNamed(ctx context.Context, shown, otherwise string) string {
	var all []struct {
		Name string `json:"name"`
	}
	if shown != "" && c.call(ctx, http.MethodGet, "/agent", nil, &all) == nil {
		for _, one := range all {
			if strings.EqualFold(one.Name, shown) {
				return one.Name
			}
		}
	}
	return otherwise
}

// Permission is the one that was asked for first.
func (c channel) Permission(ctx context.Context) (cli.Permission, bool) {
	var all []struct {
		ID         string   `json:"id"`
		Permission string   `json:"permission"`
		Patterns   []string `json:"patterns"`
	}
	if c.URL == "" || c.call(ctx, http.MethodGet, "/permission", nil, &all) != nil || len(all) == 0 {
		return cli.Permission{}, false
	}
	words := all[0].Permission
	if len(all[0].Patterns) > 0 {
		words += ": " + all[0].Patterns[0]
	}
	return cli.Permission{ID: all[0].ID, Question: questions.Title(words)}, true
}

// Reply answers by the id.
func (c channel) Reply(ctx context.Context, id string, grant bool) error {
	reply := "reject"
	if grant {
		reply = "once"
	}
	return c.call(ctx, http.MethodPost, "/permission/"+url.PathEscape(id)+"/reply", map[string]string{"reply": reply}, nil)
}

// loopback asks no proxy.
var loopback = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: channelTimeout}

// call asks for something, and decodes the answer. The error is ErrNotHandedOver where opencode has refused it, or was not reached.
func (c channel) call(ctx context.Context, method, path string, body, answer any) error {
	var text io.Reader
	if body != nil {
		text = bytes.NewReader(hooks.JSON(body))
	}
	request, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(c.URL, "/")+path, text)
	if err != nil {
		return errors.Join(cli.ErrNotHandedOver, err)
	}
	request.SetBasicAuth("opencode", c.Password)
	request.Header.Set("Content-Type", "application/json")
	response, err := loopback.Do(request)
	var dial *net.OpError
	if errors.As(err, &dial) && dial.Op == "dial" {
		return errors.Join(cli.ErrNotHandedOver, err)
	}
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode >= http.StatusBadRequest {
		return fmt.Errorf("%w: opencode says %s", cli.ErrNotHandedOver, response.Status)
	}
	if answer == nil {
		return nil
	}
	return json.NewDecoder(response.Body).Decode(answer)
}
