package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"paw/session"
)

// await polls a condition and fails the test when it never holds.
func await(t *testing.T, what string, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(10 * time.Second); !holds(); <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("never happened: %s", what)
		}
	}
}

// A CLI that does not heed the interrupt is killed, with a child of it that has
// left its process group.
func TestEndAllKillsWhatDoesNotEnd(t *testing.T) {
	before := interruptGrace
	interruptGrace = 100 * time.Millisecond
	t.Cleanup(func() { interruptGrace = before })
	ready := filepath.Join(t.TempDir(), "ready")
	cmd := exec.CommandContext(t.Context(), "sh", "-c", `trap '' INT; set -m; sh -c 'trap "" INT TERM; echo > "`+ready+`"; while :; do sleep 1000; done' & wait; while :; do sleep 1000; done`)
	cmd.Dir, cmd.Env = t.TempDir(), []string{"PATH=" + os.Getenv("PATH")}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	leader := cmd.Process.Pid
	t.Cleanup(func() { killAll(leader) })
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(ended)
	}()
	await(t, "the child runs", func() bool { _, err := os.Stat(ready); return err == nil })
	endAll(leader, ended)
	select {
	case <-ended:
	default:
		t.Error("returned before the CLI had ended")
	}
	await(t, "nothing is left", func() bool { return len(session.Members(leader)) == 0 })
}

func TestLineWriterHandsOnWholeLines(t *testing.T) {
	var got []string
	w := &LineWriter{Each: func(line []byte) { got = append(got, string(line)) }}
	for _, piece := range []string{"a", "b\nc", "\n", "\nrest"} {
		if n, err := w.Write([]byte(piece)); n != len(piece) || err != nil {
			t.Fatal(n, err)
		}
	}
	w.Flush()
	if want := "ab|c||rest"; strings.Join(got, "|") != want {
		t.Errorf("got %q, want %q", strings.Join(got, "|"), want)
	}
}

func TestTailKeepsTheEnd(t *testing.T) {
	var last []byte
	for _, line := range []string{"abc", "defgh", "i"} {
		last = withLine(last, []byte(line), 4)
	}
	if string(last) != "h\ni\n" {
		t.Errorf("kept %q", last)
	}
}
