package observe

import (
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"paw/session"
	"paw/tmux"
)

func TestGraceFor(t *testing.T) {
	for _, c := range []struct {
		ignores bool
		taken   time.Duration
		want    time.Duration
	}{
		{false, 0, dyingGrace},
		{false, 4 * time.Second, dyingGrace - 4*time.Second},
		{false, dyingGrace, 0},
		{false, time.Hour, 0},
		{false, -time.Hour, dyingGrace}, // the clock was set
		{true, 0, dyingQuiet},
		{true, dyingQuiet / 2, dyingQuiet / 2},
		{true, time.Hour, 0},
		{true, -time.Hour, dyingQuiet},
	} {
		if got := graceFor(c.ignores, c.taken); got != c.want {
			t.Errorf("graceFor(%v, %v) = %v, want %v", c.ignores, c.taken, got, c.want)
		}
	}
}

// TestGraceLeft asks of real processes what they do with a hang-up, and how long one has had a pane.
func TestGraceLeft(t *testing.T) {
	hangUps := make(chan os.Signal, 1)
	signal.Notify(hangUps, syscall.SIGHUP) // else a test below nohup has its children ignore the signal
	t.Cleanup(func() { signal.Stop(hangUps) })
	run := func(script string) int {
		cmd := exec.CommandContext(t.Context(), "sh", "-c", script+"echo ready; read x")
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := out.Read(make([]byte, 16)); err != nil { // its traps are set
			t.Fatal(err)
		}
		t.Cleanup(func() { in.Close(); _ = cmd.Wait() })
		return cmd.Process.Pid
	}
	plain, ignores, handles := run(""), run("trap '' HUP; "), run("trap 'true' HUP; ")
	now := time.Now()
	agent := func(pid int, pane *tmux.Pane) Agent {
		return Agent{Lock: session.AgentLock{Holder: session.Holder{PID: pid}, HolderAlive: true, State: session.LockHeld}, Pane: pane}
	}
	for name, c := range map[string]struct {
		pid  int
		want time.Duration
	}{"no trap": {plain, dyingGrace}, "ignored": {ignores, dyingQuiet}, "a handler": {handles, dyingGrace}} {
		if got := graceLeft(agent(c.pid, nil), now); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	if got := graceLeft(agent(handles, &tmux.Pane{PID: plain}), now.Add(time.Minute)); got != 0 {
		t.Errorf("a minute after another process got its pane: %v", got)
	}
	if got := graceLeft(agent(handles, &tmux.Pane{PID: plain, Dead: true}), now.Add(time.Minute)); got != dyingGrace {
		t.Errorf("in a dead pane: %v", got)
	}
}
