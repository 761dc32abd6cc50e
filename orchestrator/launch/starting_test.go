package launch

import (
	"os"
	"testing"
	"time"

	"paw/config"
	"paw/orchestrator/app"
	"paw/orchestrator/cli/clis"
	"paw/orchestrator/observe"
	"paw/session"
	"paw/tmux"
)

// A launcher takes its agent's lock and deletes its launch: whenever another paw
// looks, it must see one or the other, or it would start the agent a second time.
func TestAnAgentThatIsJustStartingIsSeen(t *testing.T) {
	h := &app.App{CLIs: clis.New(nil), Paths: config.Paths{StateDir: t.TempDir()}, Now: time.Now}
	h.Locks = session.Locks{Dir: h.Paths.LocksDir()}
	s := &session.Session{Name: "shop", Agents: []session.Agent{{Name: "one"}}}
	on := observe.Panes{Panes: []tmux.Pane{{ID: "%0", PawSession: "shop", Identity: &tmux.Identity{Session: "shop", Agent: "one", Generation: 3}}}}
	path, err := writeLaunch(h, launchFile{Session: "shop", Agent: "one", Generation: 3, Argv: []string{"x"}})
	if err != nil {
		t.Fatal(err)
	}
	agents := observe.LookAtAgents(t.Context(), h, s, observe.LookAtProcesses())
	// Between the look at the lock and all that follows the launcher gets ahead.
	holder, err := session.ThisProcess()
	if err != nil {
		t.Fatal(err)
	}
	lock, err := h.Locks.HoldAgent("shop", "one", holder)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if a := observe.Join(h, s, on, agents).Agent("one"); a.Lock.State != session.LockHeld && a.LaunchedAt.IsZero() {
		t.Error("neither the lock nor the launch was seen")
	}
	if a := observe.Join(h, s, on, observe.LookAtAgents(t.Context(), h, s, observe.LookAtProcesses())).Agent("one"); a.Lock.State != session.LockHeld || !a.LaunchedAt.IsZero() {
		t.Errorf("afterwards: lock %v, launched at %v", a.Lock.State, a.LaunchedAt)
	}
}
