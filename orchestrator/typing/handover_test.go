package typing

import (
	"context"
	"testing"
	"time"

	"paw/config"
	"paw/orchestrator/app"
	"paw/orchestrator/cli"
	"paw/orchestrator/cli/clis"
	"paw/session"
)

// reached is a CLI whose channel answers.
type reached struct{ cli.Driver }

func (reached) Channel(cli.Spec) cli.Channel { return answering{} }

type answering struct{ cli.NoChannel }

func (answering) Open(context.Context) bool { return true }

// TestAPromptBehindNewBeginsAConversation: the channel leads to the conversation of the last prompt. Where the screen shows that
// the user has begun another one, what is sent is typed there; elsewhere it takes the channel.
func TestAPromptBehindNewBeginsAConversation(t *testing.T) {
	h := &app.App{Paths: config.Paths{StateDir: t.TempDir()}, Now: time.Now}
	s, w := &session.Session{Name: "shop"}, &session.Agent{Name: "one", CLI: "opencode", WorktreePath: "/shop/one", ConversationIDs: []string{"ses_1"}}
	c, _ := clis.New(nil).Get("opencode")
	c.Driver = reached{c.Driver}
	one := &sender{Agent: h.Agent(s, w), cli: c, ready: c.Facts().Ready, screen: cli.Screen{Box: cli.BoxEmpty, Fresh: true}}
	if one.reach(t.Context()) {
		t.Error("a prompt for a new conversation goes to the old one")
	}
	one.screen.Fresh = false
	if !one.reach(t.Context()) {
		t.Error("the conversation is on the screen, and the prompt is typed")
	}
}
