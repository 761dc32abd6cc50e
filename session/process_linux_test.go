package session

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func init() { children["hold-without-main-thread"] = childHoldWithoutMainThread }

// childHoldWithoutMainThread holds an agent's lock, ends its first thread alone, and stays until its input ends: LOCKS
// SESSION AGENT.
func childHoldWithoutMainThread(args []string) error {
	h, err := ThisProcess()
	if err != nil {
		return err
	}
	f, err := Locks{Dir: args[0]}.HoldAgent(args[1], args[2], h)
	if err != nil {
		return err
	}
	defer runtime.KeepAlive(f)
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	var leave func()
	leave = func() { // each call keeps its thread, until it is the first one's turn
		runtime.LockOSThread()
		if unix.Gettid() != os.Getpid() {
			go leave()
			select {}
		}
		_, _, _ = unix.Syscall(unix.SYS_EXIT, 0, 0, 0)
	}
	leave()
	return nil
}

// The state of such a process is that of a zombie, as it is for an instant of every process of several threads that ends.
func TestAHolderLivesAsLongAsItsLastThread(t *testing.T) {
	locks := Locks{Dir: t.TempDir()}
	p := spawn(t, "hold-without-main-thread", locks.Dir, "demo", "claude")
	waitFor(t, "the end of the first thread", func() bool {
		stat, err := os.ReadFile(filepath.Join("/proc", fmt.Sprint(p.Process.Pid), "stat"))
		return err == nil && strings.Contains(string(stat), ") Z ")
	})
	if got := mustProbe(t, locks); got.State != LockHeld || !got.HolderAlive || got.PID() != p.Process.Pid {
		t.Errorf("got %+v, want process %d", got, p.Process.Pid)
	}
	p.in.Close()
	waitFor(t, "the lock to be freed", func() bool { return mustProbe(t, locks).State == LockFree })
}

func TestParseStat(t *testing.T) {
	const rest = " 1 1 1 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 118845 3932160 421"
	tests := []struct {
		stat string
		want processFacts
		fine bool
	}{
		{"12 (sed) R" + rest, processFacts{started: 118845}, true},
		{"12 (tmux: server) S" + rest, processFacts{started: 118845}, true},
		{"12 (a) Z (b) S" + rest, processFacts{started: 118845}, true},
		{"12 () ) S" + rest, processFacts{started: 118845}, true},
		{"12 (node) Z" + rest, processFacts{started: 118845, dead: true}, true},
		{"12 (node) X" + rest, processFacts{started: 118845, dead: true}, true},
		{"12 (node) X" + strings.Replace(rest, " 1 0 118845", " 0 0 118845", 1), processFacts{started: 118845, dead: true}, true},
		{"12 (node) Z" + strings.Replace(rest, " 1 0 118845", " 2 0 118845", 1), processFacts{started: 118845}, true},
		{"12 (node) T" + rest, processFacts{started: 118845}, true},
		{"", processFacts{}, false},
		{"12 (sed)", processFacts{}, false},
		{"12 (sed) R 1 2 3", processFacts{}, false},
		{"12 (sed) R 1 1 1 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 -5 3932160 421", processFacts{}, false},
	}
	for _, tt := range tests {
		got, err := parseStat(tt.stat)
		if got != tt.want || (err == nil) != tt.fine {
			t.Errorf("%q: got %+v, %v", tt.stat, got, err)
		}
	}
}
