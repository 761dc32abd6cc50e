package orchestrator

import (
	"errors"
	"strings"
	"syscall"
	"testing"
	"time"

	"paw/orchestrator/agent"
	"paw/session"
	"paw/session/turn"
)

func TestOneShotResult(t *testing.T) {
	demo, _ := agent.New(nil).Get("demo")
	claude, _ := agent.New(nil).Get("claude")
	for _, c := range []struct {
		name    string
		cli     agent.CLI
		end     agent.Ended
		answer  string
		typ     string
		message string
	}{
		{"answer", demo, agent.Ended{Stdout: []byte("done\n")}, "done", "", ""},
		{"exit code", demo, agent.Ended{ExitCode: 7}, "", "", "demo ended with exit code 7"},
		{"last words", demo, agent.Ended{ExitCode: 1, Trace: "a\ndemo: error: b\n\n"}, "", "", "demo: error: b"},
		{"signal", demo, agent.Ended{ExitCode: -1, Signal: syscall.SIGKILL}, "", "signal", "demo was killed by signal 9 (SIGKILL)"},
		{"not started", demo, agent.Ended{Err: errors.New("x: no such file")}, "", "", "x: no such file"},
		{"success that says error", claude, agent.Ended{Stdout: []byte(`{"type":"result","subtype":"error_max_turns","is_error":true}` + "\n")}, "", "error_max_turns", "error_max_turns"},
		{"cut off", claude, agent.Ended{Stdout: []byte(`{"type":"assistant"}` + "\n")}, "", "", "claude ended with exit code 0"},
	} {
		answer, failed := turnResult(c.cli, c.end)
		if answer != c.answer || (failed != nil) != (c.message != "") {
			t.Errorf("%s: answer %q, failed %v", c.name, answer, failed)
			continue
		}
		if failed != nil && (failed.Message != c.message || failed.ErrorType != c.typ || failed.Reason != turn.ReasonError) {
			t.Errorf("%s: %+v", c.name, failed)
		}
	}
}

func TestPlanAgentAndHeadlessTurns(t *testing.T) {
	base := recoverFacts{sessionName: "shop", tmux: session.TmuxAlive, lock: session.LockFree, pane: session.PaneGone, record: session.Worktree{Agent: "one", Headless: true}}
	held := base
	held.lock, held.lockPID, held.headless, held.named = session.LockHeld, 42, true, true
	if j := planAgent(held); j.result != ResultRefused || !strings.Contains(j.reason, "a headless turn runs (pid 42)") {
		t.Errorf("while a turn runs: %+v", j)
	}
	making := base
	making.record.Phase = session.PhaseCreating
	if j := planAgent(making); j.result != ResultStopped || j.worktree != worktreeCreate {
		t.Errorf("half made: %+v", j)
	}
	making.named = true
	if j := planAgent(making); j.result != ResultFresh || j.worktree != worktreeCreate {
		t.Errorf("half made and named: %+v", j)
	}
}

func TestStateOfAHeadlessTurn(t *testing.T) {
	began := time.Now()
	orphan := session.AgentStatus{State: session.StateUnknown, Orphan: true}
	got := withTurnState(orphan, turnFacts{headless: true, launch: "shop/one/3", last: &turn.Record{Launch: "shop/one/3", StartedAt: began}})
	if got.State != session.StateRunning || got.Since == nil || !got.Since.Equal(began) || got.Orphan {
		t.Errorf("%+v", got)
	}
	if got := withTurnState(orphan, turnFacts{headless: true, launch: "shop/one/4", last: &turn.Record{Launch: "shop/one/3", StartedAt: began}}); got.State != session.StateRunning || got.Since != nil {
		t.Errorf("before its START: %+v", got)
	}
}
