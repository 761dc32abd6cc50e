package typing

import (
	"slices"
	"testing"

	"paw/session"
	"paw/session/turn"
)

// TestAMenuBehindAnErrorIsTheUsers: a menu that stands on the screen of an agent in error is none that paw answer takes, and nobody is
// sent there. A dialog in a turn may be its question.
func TestAMenuBehindAnErrorIsTheUsers(t *testing.T) {
	one := &sender{s: &session.Session{Name: "shop"}, w: &session.Agent{Name: "codex"}}
	for state, want := range map[turn.State][]string{
		turn.Aborted:    {"paw attach shop codex"},
		turn.InProgress: {"paw answer shop/codex", "paw attach shop codex"},
	} {
		if got := one.asks(asksWith("asks to choose a model", &turn.Record{State: state})).Hints; !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", state, got, want)
		}
	}
}
