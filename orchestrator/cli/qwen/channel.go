package qwen

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/google/uuid"

	"paw/config/poll"
	"paw/orchestrator/cli"
	"paw/orchestrator/cli/internal/hooks"
	"paw/orchestrator/cli/internal/questions"
	"paw/orchestrator/cli/internal/records"
)

// qwen's setting dualOutput names two files of JSON lines: qwen writes its events into one and
// reads commands from the other. It looks for commands twice a second.
const (
	eventsName   = "qwen-events.jsonl"
	commandsName = "qwen-commands.jsonl"
)

// How long qwen may take to answer (more than ten seconds at the end of a turn on a busy machine),
// and after how long the request is repeated: qwen does not notice what is written while it reads.
const (
	channelPatience = 30 * time.Second
	channelAgain    = 2 * time.Second
)

type channel struct{ events, commands string }

func channelOf(s cli.Spec) channel {
	return channel{events: filepath.Join(s.StateDir, eventsName), commands: filepath.Join(s.StateDir, commandsName)}
}

func (driver) Channel(s cli.Spec) cli.Channel { return channelOf(s) }

// files returns the two files, empty, so that a launch reads nothing of an earlier one.
func (c channel) files() []cli.File { return []cli.File{{Path: c.events}, {Path: c.commands}} }

// addTo names the files in the settings of a launch, unless the settings already name others.
func (c channel) addTo(settings map[string]json.RawMessage) {
	if _, ok := settings["dualOutput"]; !ok {
		settings["dualOutput"] = hooks.JSON(map[string]string{"jsonFile": c.events, "inputFile": c.commands})
	}
}

type event struct {
	Type      string `json:"type"`
	RequestID string `json:"request_id"`
	Request   struct {
		Subtype string          `json:"subtype"`
		Tool    string          `json:"tool_name"`
		Input   json.RawMessage `json:"input"`
	} `json:"request"`
	Response struct {
		Subtype   string `json:"subtype"`
		RequestID string `json:"request_id"`
		Error     string `json:"error"`
	} `json:"response"`
}

type command struct {
	Type      string `json:"type"` // submit or confirmation_response
	Text      string `json:"text,omitempty"`
	RequestID string `json:"request_id,omitempty"`
	Allowed   *bool  `json:"allowed,omitempty"`
}

// Open sends a response to a request that qwen never made: a qwen that listens reports the error.
func (c channel) Open(ctx context.Context) bool {
	if info, err := os.Stat(c.events); err != nil || info.Size() == 0 {
		return false // qwen writes its first line when it starts: this launch has no channel
	}
	_, err := c.call(ctx)
	return err == nil
}

// Submit hands a prompt over. qwen begins with it once it is idle, also while a menu is open or a
// text is half typed.
func (c channel) Submit(ctx context.Context, prompt string, _ cli.Screen) error {
	_, err := c.call(ctx, command{Type: "submit", Text: prompt})
	return err
}

// Permission returns the oldest unanswered request since the last message. A request of the tool
// ask_user_question is skipped with all after it: it has more answers than two.
func (c channel) Permission(context.Context) (cli.Permission, bool) {
	all, _ := c.requests()
	for _, one := range all {
		if !one.answered && one.tool != "ask_user_question" {
			return one.Permission, true
		}
		if !one.answered {
			break
		}
	}
	return cli.Permission{}, false
}

func (c channel) Reply(ctx context.Context, id string, took cli.Option) error {
	grant := took.Means() == cli.MeansYes
	said, err := c.call(ctx, command{Type: "confirmation_response", RequestID: id, Allowed: &grant})
	if err == nil && said[id].Subtype == "error" {
		return fmt.Errorf("%w: %s", cli.ErrNotHandedOver, said[id].Error)
	}
	return err
}

type request struct {
	cli.Permission
	tool     string
	answered bool
}

// requests returns the requests since the last message of the conversation, in their order.
func (c channel) requests() (all []request, err error) {
	answered := map[string]bool{}
	err = records.EachBack(c.events, func(e event) bool {
		switch e.Type {
		case "control_response":
			answered[e.Response.RequestID] = true
		case "control_request":
			one := request{tool: e.Request.Tool, answered: answered[e.RequestID]}
			one.ID, one.Question = e.RequestID, questions.OfTool(e.Request.Tool, e.Request.Input)
			all = append([]request{one}, all...)
		case "assistant":
			return false
		}
		return true
	})
	return all, err
}

// answered reports whether the last request was a question of ask_user_question and no request is
// unanswered. The chat file tells that only once the tool has ended.
func (c channel) answered(question string) bool {
	all, err := c.requests()
	return err == nil && len(all) > 0 && all[len(all)-1].Question == question && !slices.ContainsFunc(all, func(one request) bool { return !one.answered })
}

// call writes commands followed by a response to an unknown request: once qwen reports that
// response as an error it has read all commands. call returns qwen's responses since it began, by
// request id.
func (c channel) call(ctx context.Context, commands ...command) (map[string]struct{ Subtype, Error string }, error) {
	info, err := os.Stat(c.events)
	if err != nil {
		return nil, errors.Join(cli.ErrNotHandedOver, err)
	}
	ping, no := "paw-"+uuid.NewString(), false
	if err := c.write(append(commands, command{Type: "confirmation_response", RequestID: ping, Allowed: &no})...); err != nil {
		return nil, errors.Join(cli.ErrNotHandedOver, err)
	}
	var said map[string]struct{ Subtype, Error string }
	asked := time.Now()
	if poll.Until(ctx, 5*poll.Tick, channelPatience, func() bool {
		if time.Since(asked) > channelAgain {
			asked = time.Now()
			_ = c.write(command{Type: "confirmation_response", RequestID: ping, Allowed: &no})
		}
		said = c.responses(info.Size())
		_, there := said[ping]
		return there
	}) {
		return said, nil
	}
	return nil, errors.New("qwen does not answer on its channel")
}

// write appends all commands in one write.
func (c channel) write(commands ...command) error {
	var text bytes.Buffer
	for _, one := range commands {
		text.Write(append(hooks.JSON(one), '\n'))
	}
	f, err := os.OpenFile(c.commands, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(text.Bytes())
	return errors.Join(err, f.Close())
}

// responses reads the responses behind an offset of the file of events.
func (c channel) responses(from int64) map[string]struct{ Subtype, Error string } {
	said := map[string]struct{ Subtype, Error string }{}
	_ = records.LinesFrom(c.events, from, func(line []byte) bool {
		var e event
		if bytes.Contains(line, []byte(`"control_response"`)) && json.Unmarshal(line, &e) == nil && e.Type == "control_response" {
			said[e.Response.RequestID] = struct{ Subtype, Error string }{e.Response.Subtype, e.Response.Error}
		}
		return true
	})
	return said
}
