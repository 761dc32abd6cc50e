package session

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

const leaderless = "hold-leaderless"

func init() {
	children[leaderless] = childHoldLeaderless
	if os.Getenv(childMode) == leaderless {
		runtime.LockOSThread() // what main calls then runs in the first thread
	}
}

// childHoldLeaderless holds an agent's lock in a process whose first thread ends while others run on until the input
// ends: LOCKS SESSION AGENT.
func childHoldLeaderless(args []string) error {
	f, err := hold(args)
	if err != nil {
		return err
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		runtime.KeepAlive(f)
		os.Exit(0)
	}()
	fmt.Println("held")
	_, _, errno := unix.Syscall(unix.SYS_EXIT, 0, 0, 0) // of this thread alone
	return errno
}

// A process of many threads that is killed holds its lock until the last thread has given back memory and files, while
// its first one, of which /proc shows the state and the files, is a zombie already.
func TestAProcessIsAliveUntilItsLastThreadHasEnded(t *testing.T) {
	locks := Locks{Dir: t.TempDir()}
	p := spawn(t, leaderless, locks.Dir, "demo", "claude")
	p.expect(t, "held")
	pid := p.Process.Pid
	waitFor(t, "the first thread to end", func() bool {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		return err == nil && strings.Contains(string(stat), ") Z ")
	})
	if got := mustProbe(t, locks); got.State != LockHeld || !got.HolderAlive || got.PID() != pid {
		t.Errorf("got %+v, want process %d", got, pid)
	}
	if got := LockHolders(filepath.Join(locks.Dir, "agent-demo-claude.lock")); !slices.Equal(got, []int{pid}) {
		t.Errorf("got holders %v, want %d", got, pid)
	}
	p.in.Close()
	waitFor(t, "the lock to be free", func() bool { return mustProbe(t, locks).State == LockFree })
	waitFor(t, "the process to end", func() bool { return !mustProbe(t, locks).HolderAlive })
}
