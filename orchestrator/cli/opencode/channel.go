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
	"paw/orchestrator/cli/internal/records"
	"paw/session/turn"
)

// opencode serves its API on loopback when a port is given. The plugin writes the address to
// serverName; requests need the password of the launch.
const (
	serverName       = "opencode-server.json"
	passwordVariable = "OPENCODE_SERVER_PASSWORD"
	channelTimeout   = 30 * time.Second
)

// server is the address and the password of a running opencode, as the plugin and the launch write
// them.
type server struct {
	URL      string `json:"url"`
	Password string `json:"password"`
	Session  string `json:"session"` // the conversation of this opencode's last prompt
}

// serve adds the options and the password that make opencode serve its API, unless the user's
// arguments already have a port.
func serve(s cli.Spec, command cli.Command) cli.Command {
	if slices.ContainsFunc(s.Args, func(arg string) bool { return strings.HasPrefix(arg, "--port") }) {
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

// channel uses the API of one launch of opencode.
type channel struct {
	server
	conversation, worktree string
}

func (driver) Channel(s cli.Spec) cli.Channel { return channelOf(s) }

// channelOf returns the channel of the launch; its URL is "" unless the plugin has written a loopback
// address.
func channelOf(s cli.Spec) channel {
	c := channel{conversation: s.ConversationID, worktree: s.Worktree}
	if text, err := os.ReadFile(filepath.Join(s.StateDir, serverName)); err == nil {
		_ = json.Unmarshal(text, &c.server)
	}
	if at, err := url.Parse(c.URL); err != nil || !net.ParseIP(at.Hostname()).IsLoopback() {
		c.URL = ""
	}
	return c
}

// Open looks the conversation up. A conversation that does not exist yet begins with a typed prompt, also where the one
// before has been left in another folder.
func (c channel) Open(ctx context.Context) bool {
	folder := c.folder(ctx)
	return folder != "" && (c.Session == c.conversation || folder == cli.Resolved(c.worktree))
}

// path returns the API path of something below the conversation.
func (c channel) path(of string) string { return "/session/" + url.PathEscape(c.conversation) + of }

// folder returns where the conversation goes on, which /move changes without an event; "" where opencode does not answer.
func (c channel) folder(ctx context.Context) string {
	var session struct {
		Directory string `json:"directory"`
	}
	if c.URL == "" || c.conversation == "" || c.call(ctx, http.MethodGet, c.path(""), nil, &session) != nil {
		return ""
	}
	return cli.Resolved(session.Directory)
}

// lookPatience is how long a look at a resting opencode may take.
const lookPatience = 500 * time.Millisecond

// Observe asks a resting opencode where it works, once it was prompted: after a fresh start its conversation is the one before.
func (driver) Observe(ctx context.Context, s cli.Spec, last *turn.Record) (cli.Observed, error) {
	c := channelOf(s)
	if records.IsOpen(last) || c.Session != c.conversation {
		return cli.Observed{}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, lookPatience)
	defer cancel()
	return cli.Observed{Folder: c.folder(ctx)}, nil
}

// Submit selects the conversation on opencode's screen, which keeps a half-typed text, and sends
// the prompt. The prompt goes to the agent of opencode that the screen shows as selected, else to
// the agent of the last message.
func (c channel) Submit(ctx context.Context, prompt string, seen cli.Screen) error {
	if folder := c.folder(ctx); folder != "" && folder != cli.Resolved(c.worktree) {
		return fmt.Errorf("%w: its conversation is in %s, not in its worktree", cli.ErrNotHandedOver, folder)
	}
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

// agentNamed returns opencode's name of the agent that the screen shows, else otherwise.
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

// Permission returns the request that was made first.
func (c channel) Permission(ctx context.Context) (cli.Permission, bool) {
	var all []struct {
		ID         string   `json:"id"`
		Permission string   `json:"permission"`
		Patterns   []string `json:"patterns"`
		Always     []string `json:"always"` // patterns of what "always" would allow
	}
	if c.URL == "" || c.call(ctx, http.MethodGet, "/permission", nil, &all) != nil || len(all) == 0 {
		return cli.Permission{}, false
	}
	words := all[0].Permission
	if len(all[0].Patterns) > 0 {
		words += ": " + all[0].Patterns[0]
	}
	options := []cli.Option{{Label: "Allow once"}, {Label: "Allow always", About: "allow always: " + strings.Join(all[0].Always, ", ")}, {Label: "Reject"}}
	return cli.Permission{ID: all[0].ID, Question: questions.Title(words), Options: options}, true
}

func (c channel) Reply(ctx context.Context, id string, took cli.Option) error {
	reply := map[cli.Meaning]string{cli.MeansYes: "once", cli.MeansAlways: "always", cli.MeansNo: "reject"}[took.Means()]
	return c.call(ctx, http.MethodPost, "/permission/"+url.PathEscape(id)+"/reply", map[string]string{"reply": reply}, nil)
}

// loopback uses no proxy.
var loopback = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: channelTimeout}

// call sends a request and decodes the answer. The error is ErrNotHandedOver where opencode refused
// the request or could not be reached.
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
	if dial, ok := errors.AsType[*net.OpError](err); ok && dial.Op == "dial" {
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
