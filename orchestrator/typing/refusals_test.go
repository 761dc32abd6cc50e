package typing

import (
	"slices"
	"strings"
	"testing"

	"paw/orchestrator/app"
	"paw/orchestrator/cli"
	"paw/session"
	"paw/session/turn"
)

// TestAMenuBehindAnErrorIsTheUsers: a menu that stands on the screen of an agent in error is none that paw answer takes, and nobody is
// sent there. A dialog in a turn may be its question.
func TestAMenuBehindAnErrorIsTheUsers(t *testing.T) {
	one := &sender{Agent: app.Agent{Session: &session.Session{Name: "shop"}, Record: &session.Agent{Name: "codex"}}}
	for state, want := range map[turn.State][]string{
		turn.Aborted:    {"paw attach shop codex"},
		turn.InProgress: {"paw answer shop/codex", "paw attach shop codex"},
	} {
		if got := one.asks(asksWith(cli.Screen{Dialog: "asks to choose a model"}, &turn.Record{State: state})).Hints; !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", state, got, want)
		}
	}
	if got := one.asks(asksWith(cli.Screen{Dialog: "asks whether to trust hooks", Question: &cli.Question{Outside: true}}, nil)).Hints; got[0] != "paw answer shop/codex" {
		t.Errorf("a list that can be answered: %q", got)
	}
	if got := (answerer{one}).nothingAsked("asks to choose a model").Error(); !strings.Contains(got, "asks to choose a model); this dialog is yours") {
		t.Errorf("a dialog that can not: %q", got)
	}
}
