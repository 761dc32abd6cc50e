package turns

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"paw/orchestrator/app"
	"paw/session"
	"paw/worktree/states"
)

// TestRememberedStates: the newest state is found again, after many others, and after a line of which a full disk took only
// the beginning.
func TestRememberedStates(t *testing.T) {
	home := t.TempDir()
	h := &app.App{}
	h.Paths.StateDir = home
	c := &Chain{Agent: app.Agent{App: h, Session: &session.Session{Name: "s"}, Record: &session.Agent{Name: "a"}}}
	state := func(n int) states.State {
		return states.State{Twin: fmt.Sprint("twin", n), Snapshot: fmt.Sprint("snapshot", n), Head: fmt.Sprint("head", n), Log: int64(n)}
	}
	for n := range 5 * mostRemembered {
		c.Remember(state(n))
		if got := c.remembered(state(n).Twin); got != state(n) {
			t.Fatalf("%d: %+v", n, got)
		}
	}
	if got := c.remembered(state(4*mostRemembered + 1).Twin); got != state(4*mostRemembered+1) {
		t.Errorf("the ones before are gone: %+v", got)
	}
	file, err := os.OpenFile(filepath.Join(Scratch(c.Agent), "state"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.WriteString("twin-torn snap"); err != nil {
		t.Fatal(err)
	}
	file.Close()
	c.Remember(state(7))
	if got := c.remembered(state(7).Twin); got != state(7) {
		t.Errorf("after a torn line: %+v", got)
	}
}
