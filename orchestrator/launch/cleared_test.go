package launch

import (
	"testing"

	"paw/session/turn"
)

func TestCleared(t *testing.T) {
	in := func(conversations ...string) []turn.Record {
		var turns []turn.Record
		for i, id := range conversations {
			turns = append(turns, turn.Record{Number: i + 1, Conversation: id})
		}
		return turns
	}
	for name, c := range map[string]struct {
		conversations []string
		turns         []turn.Record
		want          bool
	}{
		"never prompted":                       {[]string{"a"}, nil, false},
		"prompted in the only one":             {[]string{"a"}, in("a"), false},
		"cleared, and nothing since":           {[]string{"a", "b"}, in("a", "a"), true},
		"cleared twice, and nothing since":     {[]string{"a", "b", "c"}, in("a", "b"), true},
		"cleared, and prompted since":          {[]string{"a", "b"}, in("a", "b"), false},
		"begun anew before any prompt":         {[]string{"a", "b"}, nil, false},
		"turns of which nobody knows where":    {[]string{"a", "b"}, in("a", ""), false},
		"turns in conversations of others":     {[]string{"a", "b"}, in("x"), false},
		"no conversation at all":               {nil, in("a"), false},
		"the newest is an earlier one resumed": {[]string{"b", "a"}, in("a", "b"), false},
	} {
		if got := cleared(c.conversations, c.turns); got != c.want {
			t.Errorf("%s: %t, want %t", name, got, c.want)
		}
	}
}
