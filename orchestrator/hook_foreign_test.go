package orchestrator

import (
	"testing"

	"paw/orchestrator/cli"
	"paw/orchestrator/turns"
	"paw/session/turn"
)

// What a CLI reports that the agent itself runs must not be taken for the agent's own work; what the agent does in
// another conversation of its own must.
func TestForeignConversation(t *testing.T) {
	nested := cli.Facts{ChoosesID: true}              // hooks that every CLI with paw's environment has
	own := cli.Facts{ChoosesID: true, OwnHooks: true} // hooks of paw's command alone
	learnt := cli.Facts{}                             // whose nested ones are known in another way
	start := func(source string) turn.Event {
		return turn.Event{Kind: turn.KindSessionStart, Source: source, Conversation: "other"}
	}
	for _, c := range []struct {
		name    string
		facts   cli.Facts
		current string
		event   turn.Event
		foreign bool
	}{
		{"a new one, nested", nested, "mine", start(turn.SourceStartup), true},
		{"a new one, the agent's", own, "mine", start(turn.SourceStartup), false},
		{"cleared", nested, "mine", start(turn.SourceClear), false},
		{"resumed", nested, "mine", start(turn.SourceResume), false},
		{"forked", nested, "mine", start(turn.SourceFork), false},
		{"made shorter", nested, "mine", start(turn.SourceCompact), false},
		{"a prompt elsewhere", nested, "mine", turn.Event{Kind: turn.KindPrompt, Conversation: "other"}, true},
		{"a prompt before the news of its conversation", own, "mine", turn.Event{Kind: turn.KindPrompt, Conversation: "other"}, false},
		{"an end elsewhere, of one's own hooks", own, "mine", turn.Event{Kind: turn.KindEnd, Conversation: "other"}, true},
		{"the same", nested, "mine", turn.Event{Kind: turn.KindPrompt, Conversation: "mine"}, false},
		{"none is known yet", nested, "", turn.Event{Kind: turn.KindPrompt, Conversation: "other"}, false},
		{"an id that is not chosen", learnt, "mine", turn.Event{Kind: turn.KindPrompt, Conversation: "other"}, false},
	} {
		if got := turns.ForeignConversation(c.facts, c.current, c.event); got != c.foreign {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
