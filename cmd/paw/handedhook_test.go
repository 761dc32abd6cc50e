package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"paw/orchestrator"
	"paw/orchestrator/app"
	"paw/session"
)

// claudeWorld starts a claude that calls no hooks, so that a test calls them.
func claudeWorld(t *testing.T) (w *world, a agentJSON) {
	t.Helper()
	w = newWorld(t)
	claude := filepath.Join(w.root, "claude")
	w.script(w.root, "claude", "#!/bin/sh\n[ \"$1\" = --version ] && echo 2.1.330 || exec cat\n")
	w.configure("[clis.claude]\ncommand = [\"" + claude + "\"]\n")
	w.ok(w.paw("start", "--cli", "claude", "--detach"))
	waitFor(t, "claude runs", func() bool { a = w.agent("claude"); return a.PID != nil })
	w.ok(w.claudeHook(a, nil, "SessionStart", "source", "startup"))
	return w, a
}

// claudeHook calls a hook as claude does; more has the event's own fields, each name before its
// value.
func (w *world) claudeHook(a agentJSON, env []string, event string, more ...string) output {
	w.t.Helper()
	payload := map[string]any{
		"session_id": *a.ConversationID, "cwd": a.WorktreePath, "hook_event_name": event, "permission_mode": "default",
	}
	for i := 0; i < len(more); i += 2 {
		payload[more[i]] = more[i+1]
	}
	return w.hookOf("claude", a, env, payload)
}

// TestClaudeGoesOnWhileItsTurnIsSaved: the hook of a turn's end returns at once, the turn counts as
// running until its end is written, and the next turn begins after that.
func TestClaudeGoesOnWhileItsTurnIsSaved(t *testing.T) {
	t.Parallel()
	w, a := claudeWorld(t)
	w.ok(w.claudeHook(a, nil, "UserPromptSubmit", "prompt", "first", "prompt_id", "p1"))
	w.write(a.WorktreePath, "made.txt", "made\n")
	reached, goOn := filepath.Join(w.root, "reached"), filepath.Join(w.root, "go-on")
	stuck := []string{"PAW_TEST_AT=turn.snapshot", "PAW_TEST_DO=touch " + reached + "; while [ ! -e " + goOn + " ]; do sleep 0.05; done"}
	if said := w.ok(w.claudeHook(a, stuck, "Stop", "last_assistant_message", "done", "prompt_id", "p1")); said.stdout+said.stderr != "" {
		t.Errorf("the hook printed %q", said.stdout+said.stderr)
	}
	w.awaitFile(reached)
	if state := w.agent("claude").State; state != "running" {
		t.Errorf("claude is %s while its end is written down", state)
	}
	next := make(chan output, 1)
	go func() { next <- w.claudeHook(a, nil, "UserPromptSubmit", "prompt", "second", "prompt_id", "p2") }()
	if list := w.turnsOf("claude"); len(list) != 1 || list[0].State != "in_progress" {
		t.Errorf("the next turn did not wait: %+v", list)
	}
	w.write(w.root, "go-on", "")
	w.ok(<-next)
	list := w.turnsOf("claude")
	if len(list) != 2 || list[0].State != "finished" || list[0].Tag == nil || list[1].State != "in_progress" {
		t.Fatalf("turns: %+v", list)
	}
	if made := w.git(a.WorktreePath, "show", *list[0].Snapshot+":made.txt"); made != "made\n" {
		t.Errorf("the snapshot has %q", made)
	}
}

// TestFailedTurnIsRunningUntilSaved: until the snapshot of a failed turn is taken, the agent's state is
// running, and the turn's log has no end.
func TestFailedTurnIsRunningUntilSaved(t *testing.T) {
	t.Parallel()
	w, a := claudeWorld(t)
	w.ok(w.claudeHook(a, nil, "UserPromptSubmit", "prompt", "first", "prompt_id", "p1"))
	w.write(a.WorktreePath, "made.txt", "made\n")
	reached, goOn := filepath.Join(w.root, "reached"), filepath.Join(w.root, "go-on")
	stuck := []string{"PAW_TEST_AT=turn.snapshot", "PAW_TEST_DO=touch " + reached + "; while [ ! -e " + goOn + " ]; do sleep 0.05; done"}
	w.ok(w.claudeHook(a, stuck, "StopFailure", "error", "overloaded", "last_assistant_message", "API Error", "prompt_id", "p1"))
	w.awaitFile(reached)
	if state := w.agent("claude").State; state != "running" {
		t.Errorf("claude is %s while its end is written down", state)
	}
	if list := w.turnsOf("claude"); len(list) != 1 || list[0].State != "in_progress" {
		t.Errorf("the turn has ended before it is saved: %+v", list)
	}
	w.write(w.root, "go-on", "")
	waitFor(t, "the turn has failed", func() bool { return w.agent("claude").State == "error" })
	list := w.turnsOf("claude")
	if len(list) != 1 || list[0].State != "aborted" || list[0].Snapshot == nil {
		t.Fatalf("turns: %+v", list)
	}
	if made := w.git(a.WorktreePath, "show", *list[0].Snapshot+":made.txt"); made != "made\n" {
		t.Errorf("the snapshot has %q", made)
	}
}

// TestStateWhileATurnIsWrittenDown: a turn's end in the CLI's own record counts only after the hook
// of that end has finished, whether the turn succeeded or failed.
func TestStateWhileATurnIsWrittenDown(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ last, state, turn string }{
		"success": {"do: write made.txt x", "idle", "finished"},
		"failure": {"do: fail broken", "error", "aborted"},
		"limit":   {"do: limit 60", "error", "aborted"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stateWhileWrittenDown(t, c.last, c.state, c.turn)
		})
	}
}

func stateWhileWrittenDown(t *testing.T, last, state, outcome string) {
	t.Helper()
	w := started(t, "demo")
	a, gate := w.agent("demo"), filepath.Join(w.root, "gate")
	w.ok(w.paw("send", "demo", "--no-wait", "do: run while [ ! -e "+gate+" ]; do sleep 0.05; done\n"+last))
	waitFor(t, "the turn runs", func() bool { _, worked, _ := w.demoTimes(a, 1); return !worked.IsZero() })
	unlock, err := session.Locks{Dir: filepath.Join(w.root, "home/.local/state/paw/locks")}.Turn(t.Context(), "shop", "demo")
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	w.write(w.root, "gate", "")
	waitFor(t, "demo has written down its end", func() bool { _, _, ended := w.demoTimes(a, 1); return !ended.IsZero() })
	if state := w.agent("demo").State; state != "running" {
		t.Errorf("demo is %s while its end is written down", state)
	}
	if state := w.stateIn(time.Minute, "demo"); state != session.StateRunning {
		t.Errorf("demo is %s while its end is written down, which takes a minute", state)
	}
	unlock()
	waitFor(t, "the turn is over", func() bool {
		one := w.turnsOf("demo")[0]
		return w.agent("demo").State == state && one.State == outcome && one.Snapshot != nil
	})
}

// stateIn returns the state of an agent as seen after some time.
func (w *world) stateIn(after time.Duration, agent string) session.State {
	w.t.Helper()
	h, err := app.New(w.repo, append(scriptEnvironment(filepath.Join(w.root, "home"), w.socket), "PATH="+os.Getenv("PATH")), nil)
	if err != nil {
		w.t.Fatal(err)
	}
	local := filepath.Join(w.root, "home/.local")
	h.Paths.SessionsDir, h.Paths.StateDir = filepath.Join(local, "share/paw/sessions"), filepath.Join(local, "state/paw")
	h.Store, h.Locks = session.Store{Dir: h.Paths.SessionsDir, LocksDir: h.Paths.LocksDir()}, session.Locks{Dir: h.Paths.LocksDir()}
	h.Now = func() time.Time { return time.Now().Add(after) }
	statuses, _, err := orchestrator.Status(w.t.Context(), h, orchestrator.StatusOptions{Name: "shop"})
	if err != nil {
		w.t.Fatal(err)
	}
	for _, a := range statuses[0].Agents {
		if a.Record.Name == agent {
			return a.State
		}
	}
	return ""
}

// TestKilledHandedHook kills the process that does the hook's work after each step of the work.
func TestKilledHandedHook(t *testing.T) {
	t.Parallel()
	for _, step := range []string{"turn.snapshot", "turn.ended", "turn.remembered", "turn.tagged"} {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			w, a := claudeWorld(t)
			w.ok(w.claudeHook(a, nil, "UserPromptSubmit", "prompt", "first", "prompt_id", "p1"))
			w.ok(w.claudeHook(a, []string{"PAW_TEST_KILL=" + step}, "Stop", "last_assistant_message", "done", "prompt_id", "p1"))
			w.ok(w.claudeHook(a, nil, "UserPromptSubmit", "prompt", "second", "prompt_id", "p2"))
			w.ok(w.claudeHook(a, nil, "Stop", "last_assistant_message", "done", "prompt_id", "p2"))
			w.ok(w.paw("stop"))
			w.ok(w.paw("recover", "shop", "--detach"))
			if highest := w.checkTurns("claude"); highest != 2 {
				t.Errorf("the last turn is %d", highest)
			}
		})
	}
}

// TestKilledHandedFailure kills the process that does the hook's work for a turn that failed after
// each step of the work: the files of the turn's end are there, and no note says otherwise.
func TestKilledHandedFailure(t *testing.T) {
	t.Parallel()
	for _, step := range []string{"turn.snapshot", "turn.aborted", "turn.remembered"} {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			w, a := claudeWorld(t)
			w.ok(w.claudeHook(a, nil, "UserPromptSubmit", "prompt", "first", "prompt_id", "p1"))
			w.write(a.WorktreePath, "made.txt", "made\n")
			w.ok(w.claudeHook(a, []string{"PAW_TEST_KILL=" + step}, "StopFailure", "error", "overloaded", "prompt_id", "p1"))
			w.ok(w.paw("stop"))
			w.ok(w.paw("recover", "shop", "--detach"))
			w.checkTurns("claude")
			list := w.turnsOf("claude")
			if len(list) != 1 || list[0].Snapshot == nil || len(list[0].Notes) > 0 {
				t.Fatalf("turns: %+v", list)
			}
			if made := w.git(a.WorktreePath, "show", *list[0].Snapshot+":made.txt"); made != "made\n" {
				t.Errorf("the snapshot has %q", made)
			}
		})
	}
}
