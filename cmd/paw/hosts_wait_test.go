package main

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"paw/orchestrator/children"
	"paw/session"
)

// waiting starts paw wait in the background; out returns what the command has printed so far.
func (m *machines) waiting(args ...string) (cmd *exec.Cmd, out func() string) {
	m.t.Helper()
	printed, err := os.CreateTemp(m.root, "waiting")
	if err != nil {
		m.t.Fatal(err)
	}
	defer printed.Close()
	cmd = exec.Command(filepath.Join(m.root, "bin", "paw"), append([]string{"wait"}, args...)...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = m.repo, append(cmd.Environ(), m.env...), printed, printed
	if err := cmd.Start(); err != nil {
		m.t.Fatal(err)
	}
	out = func() string {
		text, _ := os.ReadFile(printed.Name())
		return string(text)
	}
	m.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		if m.t.Failed() {
			m.t.Logf("paw wait %v has said:\n%s", args, out())
		}
	})
	return cmd, out
}

// asking counts the processes on the host that serve this machine.
func (m *machines) asking() int {
	m.t.Helper()
	out, _ := exec.Command("pgrep", "-f", "^"+filepath.Join(m.root, "bin", "paw")+" __on ").Output()
	return len(strings.Fields(string(out)))
}

// A machine ends the waits for the others when an agent there asks, when any is enough and one has finished, or when it cannot be asked.
func TestEnough(t *testing.T) {
	agent := func(finished bool, state session.State) *children.Waited {
		return &children.Waited{Agents: []children.Awaited{{Finished: finished, Status: session.AgentStatus{State: state}}}}
	}
	for _, c := range []struct {
		waited    *children.Waited
		all, some bool // enough for a wait for all, and for any
	}{
		{agent(false, session.StateRunning), false, false},
		{agent(false, session.StateWaitingInput), true, true},
		{agent(true, session.StateIdle), false, true},
		{agent(true, session.StateWaitingInput), false, true},
	} {
		w := machineWait{waited: c.waited}
		if w.enough(children.WaitOptions{}) != c.all || w.enough(children.WaitOptions{Any: true}) != c.some {
			t.Errorf("%+v", c.waited.Agents)
		}
	}
	if w := (machineWait{err: errors.New("unreachable")}); !w.enough(children.WaitOptions{}) {
		t.Error("a machine that cannot be asked is waited for")
	}
}

// TestWaitOverMachines waits in one command for agents of this machine and of a host. The command
// ends when all have ended, or with the first one that asks, and names each agent as the user does.
// An interrupt ends the wait on the host as well.
func TestWaitOverMachines(t *testing.T) {
	t.Parallel()
	m := landMachines(t, "far=demo,quiet=demo")
	m.ok("start", "--name", "near", "--cli", "local=demo", "--detach")
	m.ok("send", "local", "do: write near.txt here")
	m.write(filepath.Join(m.root, "until"), "while [ ! -e "+filepath.Join(m.root, "go")+" ]; do sleep 0.05; done\n", 0o644)
	m.ok("send", "gpu:far", "do: write far.txt there\ndo: run sh "+filepath.Join(m.root, "until"))
	both, out := m.waiting("local", "gpu:far", "--json")
	waitFor(t, "the host is asked", func() bool { return m.asking() > 0 })
	if both.ProcessState != nil {
		t.Errorf("ended before the agent of the host has finished: %s", out())
	}
	m.write(filepath.Join(m.root, "go"), "", 0o644)
	if err := both.Wait(); err != nil {
		t.Errorf("%v\n%s", err, out())
	}
	var view waitJSON
	if err := json.Unmarshal([]byte(out()), &view); err != nil || !view.Finished || len(view.Agents) != 2 {
		t.Fatalf("%v\n%s", err, out())
	}
	if a := view.Agents[0]; a.Name != "local" || a.Host != nil || *a.Files != 1 {
		t.Errorf("%+v", a)
	}
	if a := view.Agents[1]; a.Name != "far" || *a.Host != "gpu" || *a.Session != "shop" || *a.Turn != 1 || *a.Files != 1 || *a.Outcome != "success" {
		t.Errorf("%+v\n%s", a, out())
	}
	if out := m.ok("wait"); !strings.Contains(out, "local  ") || !strings.Contains(out, "gpu:far  ") || !strings.Contains(out, "gpu:quiet  idle") {
		t.Errorf("paw wait: %s", out)
	}
	m.says(0, "gpu:far", "wait", "--session", "gpu:shop", "far")
	m.says(10, "gpu: no-such", "wait", "local", "gpu:no-such")
	m.says(10, "did you mean gpu", "wait", "local", "gpus:far")

	m.ok("send", "local", "do: hang")
	m.ok("send", "gpu:far", "do: ask sure?")
	if out := m.says(4, "gpu:far: ", "wait", "local", "gpu:far"); !strings.Contains(out, "paw answer gpu:shop/far") {
		t.Errorf("paw wait: %s", out)
	}
	m.says(4, "gpu:far: ", "wait")
	m.turnThere("quiet", "do: say done")
	if out := m.says(0, "gpu:quiet", "wait", "--any", "local", "gpu:quiet"); strings.Contains(out, "local") {
		t.Errorf("paw wait --any: %s", out)
	}

	m.ok("send", "gpu:quiet", "do: hang")
	lost, out := m.waiting("local", "gpu:quiet")
	waitFor(t, "the host is asked", func() bool { return m.asking() > 0 })
	_ = lost.Process.Signal(syscall.SIGINT)
	_ = lost.Wait()
	if lost.ProcessState.ExitCode() != exitInterrupted {
		t.Errorf("exit code %d: %s", lost.ProcessState.ExitCode(), out())
	}
	waitFor(t, "the wait on the host ends", func() bool { return m.asking() == 0 })
	m.cut()
	began := time.Now()
	m.says(7, "gpu: not finished after 2s", "wait", "gpu:quiet", "--timeout", "2s")
	if waited := time.Since(began); waited < 2*time.Second {
		t.Errorf("gave up after %s", waited)
	}
}
