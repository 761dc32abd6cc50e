package launch

import (
	"os"
	"testing"
	"time"

	"paw/config"
	"paw/orchestrator/cli/clis"
	"paw/orchestrator/fleet"
	"paw/orchestrator/home"
	"paw/session"
	"paw/tmux"
)

// A launcher takes its agent's lock and deletes its launch: whenever another paw
// looks, it must see one or the other, or it would start the agent a second time.
func TestAnAgentThatIsJustStartingIsSeen(t *testing.T) {
	h := &home.Home{CLIs: clis.New(nil), Paths: config.Paths{StateDir: t.TempDir()}, Now: time.Now}
	h.Locks = session.Locks{Dir: h.Paths.LocksDir()}
	s := &session.Session{Name: "shop", Agents: []session.Agent{{Name: "one"}}}
	on := fleet.Panes{Panes: []tmux.Pane{{ID: "%0", PawSession: "shop", Identity: &tmux.Identity{Session: "shop", Agent: "one", Generation: 3}}}}
	path, err := writeLaunch(h, launchFile{Session: "shop", Agent: "one", Generation: 3, Argv: []string{"x"}})
	if err != nil {
		t.Fatal(err)
	}
	agents := fleet.LookAtAgents(h, s, fleet.LookAtProcesses())
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
	if a := fleet.Join(h, s, on, agents).Agent("one"); a.Lock.State != session.LockHeld && a.LaunchedAt.IsZero() {
		t.Error("neither the lock nor the launch was seen")
	}
	if a := fleet.Join(h, s, on, fleet.LookAtAgents(h, s, fleet.LookAtProcesses())).Agent("one"); a.Lock.State != session.LockHeld || !a.LaunchedAt.IsZero() {
		t.Errorf("afterwards: lock %v, launched at %v", a.Lock.State, a.LaunchedAt)
	}
}
