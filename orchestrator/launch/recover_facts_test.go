package launch

import (
	"context"
	"errors"
	"testing"

	"paw/config"
	"paw/orchestrator/agent"
	"paw/orchestrator/agent/clis"
	"paw/orchestrator/home"
	"paw/session"
)

// lookup is a CLI whose conversations are looked up with that answer.
type lookup struct {
	agent.Driver
	conversation agent.Conversation
	err          error
}

func (l lookup) Conversation(context.Context, agent.Spec) (agent.Conversation, error) {
	return l.conversation, l.err
}

func (l lookup) Learn(context.Context, agent.Spec) ([]string, error) { return nil, l.err }

// A conversation that could not be looked up may be there: a blank one in its place would be the loss of it.
func TestAConversationThatCannotBeLookedUpIsResumed(t *testing.T) {
	demo, ok := clis.New(nil).Get("demo")
	if !ok {
		t.Fatal("no demo")
	}
	h := &home.Home{Paths: config.Paths{StateDir: t.TempDir()}}
	s := &session.Session{Name: "shop", Worktrees: []session.Worktree{{Agent: "one", ConversationIDs: []string{"mine"}}}}
	for _, c := range []struct {
		name string
		cli  lookup
		want string
	}{
		{"it is there", lookup{conversation: agent.Conversation{Resumable: true, Transcript: "/x"}}, "resumed"},
		{"its CLI alone can tell", lookup{conversation: agent.Conversation{Resumable: true}}, "resumed unless refused"},
		{"its CLI did not answer in time", lookup{err: context.DeadlineExceeded}, "resumed unless refused"},
		{"its CLI failed", lookup{err: errors.New("database is locked")}, "resumed unless refused"},
		{"it is gone", lookup{conversation: agent.Conversation{Reason: "gone"}}, "fresh: gone"},
		{"no CLI may be given its id", lookup{err: &agent.ConversationError{CLI: "demo", ID: "-x", Reason: "begins like an option"}}, "fresh: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.cli.Driver = demo.Driver
			rf := RecoverFacts{record: s.Worktrees[0]}
			ConversationFacts(t.Context(), h, s, agent.CLI{Driver: c.cli}, agent.Spec{Agent: "one", ConversationID: "mine"}, &rf)
			got := "fresh: " + rf.FreshReason
			switch {
			case rf.Resumable && rf.unverified:
				got = "resumed unless refused"
			case rf.Resumable:
				got = "resumed"
			}
			if c.cli.err != nil && !rf.Resumable && c.want == "fresh: " {
				c.want += c.cli.err.Error()
			}
			if got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}
