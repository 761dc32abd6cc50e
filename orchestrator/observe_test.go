package orchestrator

import (
	"os"
	"testing"
	"time"

	"paw/config"
	"paw/orchestrator/agent"
	"paw/session"
	"paw/tmux"
)

// A launcher takes its agent's lock and deletes its launch: whenever another paw
// looks, it must see one or the other, or it would start the agent a second time.
func TestAnAgentThatIsJustStartingIsSeen(t *testing.T) {
	p := &Paw{CLIs: agent.New(nil), Paths: config.Paths{StateDir: t.TempDir()}, Now: time.Now}
	p.Locks = session.Locks{Dir: p.Paths.LocksDir()}
	s := &session.Session{Name: "shop", Worktrees: []session.Worktree{{Agent: "one"}}}
	on := panesOn{panes: []tmux.Pane{{ID: "%0", PawSession: "shop", Identity: &tmux.Identity{Session: "shop", Agent: "one", Generation: 3}}}}
	path, err := p.writeLaunch(launchFile{Session: "shop", Agent: "one", Generation: 3, Argv: []string{"x"}})
	if err != nil {
		t.Fatal(err)
	}
	agents := p.lookAtAgents(s, lookAtProcesses())
	// Between the look at the lock and all that follows the launcher gets ahead.
	holder, err := session.ThisProcess()
	if err != nil {
		t.Fatal(err)
	}
	lock, err := p.Locks.HoldAgent("shop", "one", holder)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if a := p.joinFacts(s, on, agents).agent("one"); a.lock.State != session.LockHeld && a.launchedAt.IsZero() {
		t.Error("neither the lock nor the launch was seen")
	}
	if a := p.joinFacts(s, on, p.lookAtAgents(s, lookAtProcesses())).agent("one"); a.lock.State != session.LockHeld || !a.launchedAt.IsZero() {
		t.Errorf("afterwards: lock %v, launched at %v", a.lock.State, a.launchedAt)
	}
}
