package landing

import (
	"errors"
	"testing"

	"paw/orchestrator/errs"
	"paw/session"
	"paw/worktree"
	"paw/worktree/gitdir"
)

// TestHalfDone: a landing that could not be ended, as on a full disk, is called so, and is not undone before it is ended.
func TestHalfDone(t *testing.T) {
	l := &session.Landing{ID: 2, Agent: "a", Phase: session.LandingBegun, Target: "main"}
	half := &worktree.HalfMovedError{Path: "/shop", Err: errors.New("no space left on device")}
	err := mover{session: "s"}.withdraw(t.Context(), l, half, "")
	if want := "s/a: landing 2 could not be ended: /shop: half done: no space left on device"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	s := &session.Session{Name: "s", Landings: []session.Landing{{ID: 1, Phase: session.LandingDone}, *l}}
	all := []Stand{{Landing: s.Landings[0], Session: "s", Standing: InForce, tip: "x"}, {Landing: *l, Session: "s", Standing: NotIn}}
	for id, want := range map[int]string{0: "landing 2: is half done, nothing is undone", 2: "landing 2: is half done, nothing is undone", 1: "landing 1: main has moved on since, not undone"} {
		all[0].Target = "main"
		_, err := toUndo(func(name string) string { return " --session " + name }, s, all, id, func(string) *gitdir.Checkout { return nil })
		var told *errs.Error
		if !errors.As(err, &told) || told.Kind != errs.Refused || err.Error() != want {
			t.Errorf("undo %d: %v, want %s", id, err, want)
		}
	}
}
