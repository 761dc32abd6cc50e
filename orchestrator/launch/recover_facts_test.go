package launch

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"paw/config"
	"paw/orchestrator/app"
	"paw/orchestrator/cli"
	"paw/orchestrator/cli/clis"
	"paw/orchestrator/observe"
	"paw/session"
	"paw/session/turn"
)

// lookup is a CLI whose conversations are looked up with that answer.
type lookup struct {
	cli.Driver
	conversation cli.Conversation
	err          error
}

func (l lookup) Conversation(context.Context, cli.Spec) (cli.Conversation, error) {
	return l.conversation, l.err
}

func (l lookup) Learn(context.Context, cli.Spec) ([]string, error) { return nil, l.err }

// A conversation that could not be looked up may be there: a blank one in its place would be the loss of it.
func TestAConversationThatCannotBeLookedUpIsResumed(t *testing.T) {
	demo, ok := clis.New(nil).Get("demo")
	if !ok {
		t.Fatal("no demo")
	}
	h := &app.App{Paths: config.Paths{StateDir: t.TempDir()}}
	s := &session.Session{Name: "shop", Agents: []session.Agent{{Name: "one", ConversationIDs: []string{"mine"}}}}
	for _, c := range []struct {
		name string
		cli  lookup
		want string
	}{
		{"it is there", lookup{conversation: cli.Conversation{Resumable: true, Transcript: "/x"}}, "resumed"},
		{"its CLI alone can tell", lookup{conversation: cli.Conversation{Resumable: true}}, "resumed unless refused"},
		{"its CLI did not answer in time", lookup{err: context.DeadlineExceeded}, "resumed unless refused"},
		{"its CLI failed", lookup{err: errors.New("database is locked")}, "resumed unless refused"},
		{"it is gone", lookup{conversation: cli.Conversation{Reason: "gone"}}, "fresh: gone"},
		{"no CLI may be given its id", lookup{err: &cli.ConversationError{CLI: "demo", ID: "-x", Reason: "begins like an option"}}, "fresh: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.cli.Driver = demo.Driver
			how := FindContinuation(t.Context(), h, s, cli.CLI{Driver: c.cli}, cli.Spec{Agent: "one", ConversationID: "mine"})
			got := "fresh: " + how.FreshReason
			switch {
			case how.Resumable && how.unverified:
				got = "resumed unless refused"
			case how.Resumable:
				got = "resumed"
			}
			if c.cli.err != nil && !how.Resumable && c.want == "fresh: " {
				c.want += c.cli.err.Error()
			}
			if got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

// earlier is a CLI that has an earlier conversation of an agent, and not its newest.
type earlier struct{ cli.Driver }

func (earlier) Conversation(_ context.Context, spec cli.Spec) (cli.Conversation, error) {
	return cli.Conversation{Resumable: spec.ConversationID == "old", Transcript: "/x", Reason: "gone"}, nil
}

func (earlier) Learn(context.Context, cli.Spec) ([]string, error) { return []string{"old"}, nil }

// A conversation that the user has cleared stays so, for a headless turn as for a pane.
func TestAClearedConversationDoesNotComeBack(t *testing.T) {
	demo, _ := clis.New(nil).Get("demo")
	h := &app.App{Paths: config.Paths{StateDir: t.TempDir()}, Now: time.Now}
	s := &session.Session{Name: "shop", Agents: []session.Agent{{Name: "one", ConversationIDs: []string{"old", "mine"}}}}
	look := func() Continuation {
		return FindContinuation(t.Context(), h, s, cli.CLI{Driver: earlier{demo.Driver}}, cli.Spec{Agent: "one", ConversationID: "mine"})
	}
	if how := look(); how.Found != "old" {
		t.Errorf("nothing says that it was cleared: %+v", how)
	}
	observe.MarkHooks(h.Agent(s, &s.Agents[0]), 1)
	if err := turn.New(h.TurnDir("shop", "one"), 1, h.Now).Start(turn.Start{Type: turn.TypePrompt, Prompt: "x", Conversation: "old"}); err != nil {
		t.Fatal(err)
	}
	if how := look(); how.Resumable || !strings.Contains(how.FreshReason, "was cleared") {
		t.Errorf("it was cleared: %+v", how)
	}
}

// archived is a CLI that asks before it resumes the agent's newest conversation.
type archived struct{ earlier }

func (archived) Conversation(_ context.Context, spec cli.Spec) (cli.Conversation, error) {
	if spec.ConversationID == "old" {
		return cli.Conversation{Resumable: true, Transcript: "/x"}, nil
	}
	return cli.Conversation{Resumable: true, Transcript: "/x", Reason: "it is archived"}, nil
}

// A conversation that the user has archived is resumed where the agent has no other.
func TestAnArchivedConversationIsNotTheFirstChoice(t *testing.T) {
	demo, _ := clis.New(nil).Get("demo")
	h := &app.App{Paths: config.Paths{StateDir: t.TempDir()}, Now: time.Now}
	for _, ids := range [][]string{{"mine"}, {"old", "mine"}} {
		s := &session.Session{Name: "shop", Agents: []session.Agent{{Name: "one", ConversationIDs: ids}}}
		observe.MarkHooks(h.Agent(s, &s.Agents[0]), 1)
		how := FindContinuation(t.Context(), h, s, cli.CLI{Driver: archived{earlier{demo.Driver}}}, cli.Spec{Agent: "one", ConversationID: "mine"})
		if other := len(ids) > 1; !how.Resumable || other != (how.Found == "old") {
			t.Errorf("%v: %+v", ids, how)
		}
	}
}

// Once a hook has reported for an agent, recover does not resume a conversation that no hook has named: it is of another CLI in that folder.
func TestAConversationThatNoHookNamedIsNotTheAgents(t *testing.T) {
	demo, _ := clis.New(nil).Get("demo")
	h := &app.App{Paths: config.Paths{StateDir: t.TempDir()}, Now: time.Now}
	s := &session.Session{Name: "shop", Agents: []session.Agent{{Name: "one", ConversationIDs: []string{"mine"}}}}
	look := func() Continuation {
		return FindContinuation(t.Context(), h, s, cli.CLI{Driver: earlier{demo.Driver}}, cli.Spec{Agent: "one", ConversationID: "mine"})
	}
	if how := look(); how.Found != "old" {
		t.Errorf("no hook has ever reported, and it is not found: %+v", how)
	}
	observe.MarkHooks(h.Agent(s, &s.Agents[0]), 1)
	if how := look(); how.Resumable || how.Found != "" {
		t.Errorf("it goes on with a conversation of somebody else: %+v", how)
	}
}
