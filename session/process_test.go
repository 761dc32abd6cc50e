package session

import (
	"encoding/json"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestThisProcessIsAlive(t *testing.T) {
	h := myself(t)
	if h.PID != os.Getpid() || h.StartTime == 0 || h.BootID == "" || h.BootID != BootID() || h.At.IsZero() || !h.Alive() {
		t.Errorf("got %+v", h)
	}
	again, err := ThisProcess()
	if err != nil || again.StartTime != h.StartTime {
		t.Errorf("got %+v, then %+v, %v", h, again, err)
	}
	text, err := json.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	var back Holder
	if err := json.Unmarshal(text, &back); err != nil || !cmp.Equal(h, back) {
		t.Errorf("%s became %+v, %v", text, back, err)
	}
}

// After a reboot, or after a while, the same pid belongs to somebody else.
func TestAReusedPIDIsNotAlive(t *testing.T) {
	h := myself(t)
	for what, change := range map[string]func(*Holder){
		"other boot":   func(h *Holder) { h.BootID = "00000000-0000-0000-0000-000000000000" },
		"no boot":      func(h *Holder) { h.BootID = "" },
		"other start":  func(h *Holder) { h.StartTime++ },
		"no such pid":  func(h *Holder) { h.PID = 1 << 30 },
		"zero pid":     func(h *Holder) { h.PID = 0 },
		"negative pid": func(h *Holder) { h.PID = -1 },
	} {
		other := h
		change(&other)
		if other.Alive() {
			t.Errorf("%s: alive", what)
		}
	}
	if (Holder{}).Alive() {
		t.Error("nobody is alive")
	}
}

func TestAZombieIsNotAlive(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "cat")
	cmd.Dir, cmd.Env, cmd.WaitDelay = t.TempDir(), []string{}, deadline
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Wait() })
	facts, err := inspectProcess(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	h := Holder{PID: cmd.Process.Pid, StartTime: facts.started, BootID: BootID(), At: time.Now()}
	if !h.Alive() {
		t.Error("not alive while it runs")
	}
	in.Close()
	waitFor(t, "the process to end", func() bool { return !h.Alive() })
	if facts, err := inspectProcess(h.PID); err != nil || !facts.dead {
		t.Errorf("got %+v, %v: it was not a zombie, so this test shows nothing", facts, err)
	}
}
