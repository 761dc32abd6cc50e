package opencode

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"paw/config/poll"
	"paw/orchestrator/cli"
	"paw/orchestrator/cli/internal/hooks"
	"paw/orchestrator/cli/internal/inbox"
	"paw/orchestrator/cli/internal/questions"
)

// channel gives prompts and answers to a launch, whose plugin obeys what comes into its inbox.
type channel struct {
	inbox.Channel
	told
	state        string // path of the file that told is read from
	conversation string
}

// told is the plugin's file: what opencode has told it, as of now.
type told struct {
	Session  string            `json:"session"`  // conversation of the last prompt, or the one that was resumed; "" before the first
	Asked    []request         `json:"asked"`    // permissions that wait
	Answered map[string]string `json:"answered"` // replies to others since the last prompt
}

type request struct {
	ID         string   `json:"id"`
	Permission string   `json:"permission"`
	Patterns   []string `json:"patterns"`
	Always     []string `json:"always"` // patterns of what "always" would allow
}

// order is a line in the inbox, which the plugin carries out: a prompt to submit, or the reply to a permission.
type order struct {
	Prompt     string `json:"prompt,omitempty"`
	Mode       string `json:"mode"` // agent of opencode that the screen shows
	Permission string `json:"permission,omitempty"`
	Reply      string `json:"reply,omitempty"`
}

func (driver) Channel(s cli.Spec) cli.Channel { return channelOf(s) }

func channelOf(s cli.Spec) channel {
	c := channel{Channel: inbox.Of(s, "opencode"), state: filepath.Join(s.StateDir, "opencode-state.json"), conversation: s.ConversationID}
	c.told = c.read()
	return c
}

func (c channel) read() (now told) {
	if text, err := os.ReadFile(c.state); err == nil {
		_ = json.Unmarshal(text, &now)
	}
	return now
}

// Open refuses a conversation that this launch does not have: a new one begins with a typed prompt.
func (c channel) Open(ctx context.Context) bool {
	return c.conversation != "" && c.Session == c.conversation && c.Channel.Open(ctx)
}

// Submit has the conversation selected on opencode's screen, which keeps a half-typed text. The prompt goes to the agent of
// opencode that the screen shows as selected, else to the agent of the last message.
func (c channel) Submit(ctx context.Context, prompt string, seen cli.Screen) error {
	return c.Put(ctx, string(hooks.JSON(order{Prompt: prompt, Mode: seen.Mode})))
}

// Permission returns the request that was made first.
func (c channel) Permission(context.Context) (cli.Permission, bool) {
	if len(c.Asked) == 0 || !c.Alive() {
		return cli.Permission{}, false
	}
	first := c.Asked[0]
	words := first.Permission
	if len(first.Patterns) > 0 {
		words += ": " + first.Patterns[0]
	}
	options := []cli.Option{{Label: "Allow once"}, {Label: "Allow always", About: "allow always: " + strings.Join(first.Always, ", ")}, {Label: "Reject"}}
	return cli.Permission{ID: first.ID, Question: questions.Title(words), Options: options}, true
}

// answerPatience is how long the plugin may take to tell of an answer that it has got.
const answerPatience = 10 * time.Second

// Reply waits until the permission is answered, and reports ErrNotHandedOver if another answer came first.
func (c channel) Reply(ctx context.Context, id string, took cli.Option) error {
	if !slices.ContainsFunc(c.Asked, func(one request) bool { return one.ID == id }) {
		return cli.ErrNotHandedOver
	}
	reply := map[cli.Meaning]string{cli.MeansYes: "once", cli.MeansAlways: "always", cli.MeansNo: "reject"}[took.Means()]
	if err := c.Put(ctx, string(hooks.JSON(order{Permission: id, Reply: reply}))); err != nil {
		return err
	}
	got := ""
	poll.Until(ctx, poll.Tick, answerPatience, func() bool {
		got = c.read().Answered[id]
		return got != ""
	})
	if got != reply {
		return cli.ErrNotHandedOver
	}
	return nil
}
