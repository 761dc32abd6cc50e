package session

import (
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// sleeper starts a process in a terminal session of its own that has the files.
func sleeper(t *testing.T, script string, files ...*os.File) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", script)
	cmd.Dir, cmd.Env = t.TempDir(), []string{"PATH=" + os.Getenv("PATH")}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.ExtraFiles = files
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait()
	})
	return cmd
}

func TestTurnLockIsFreeAtOnceAlthoughAChildHasIt(t *testing.T) {
	l := Locks{Dir: t.TempDir()}
	me, err := ThisProcess()
	if err != nil {
		t.Fatal(err)
	}
	f, giveBack, err := l.HoldForTurn("shop", "one", me)
	if err != nil {
		t.Fatal(err)
	}
	sleeper(t, "exec sleep 1000", f)
	held, err := l.ProbeAgent("shop", "one")
	if err != nil || held.State != LockHeld || !held.Holder.Headless || held.PID() != os.Getpid() {
		t.Fatalf("%+v, %v", held, err)
	}
	giveBack()
	giveBack()
	if free, err := l.ProbeAgent("shop", "one"); err != nil || free.State != LockFree {
		t.Errorf("%+v, %v", free, err)
	}
}

func TestTurnLockIsInheritedOnlyByWhoIsGivenIt(t *testing.T) {
	l := Locks{Dir: t.TempDir()}
	f, giveBack, err := l.HoldForTurn("shop", "one", Holder{})
	if err != nil {
		t.Fatal(err)
	}
	defer giveBack()
	sleeper(t, "exec sleep 1000") // not given it
	f.Close()                     // as if this process were killed: nothing frees the lock but the last close
	if lock, err := l.ProbeAgent("shop", "one"); err != nil || lock.State != LockFree {
		t.Errorf("without the file: %+v, %v", lock, err)
	}
	again, giveBackAgain, err := l.HoldForTurn("shop", "one", Holder{})
	if err != nil {
		t.Fatal(err)
	}
	defer giveBackAgain()
	cli := sleeper(t, "exec sleep 1000", again)
	again.Close()
	if lock, err := l.ProbeAgent("shop", "one"); err != nil || lock.State != LockHeld {
		t.Errorf("with the file: %+v, %v", lock, err)
	}
	if err := cli.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cli.Wait()
	if lock, err := l.ProbeAgent("shop", "one"); err != nil || lock.State != LockFree {
		t.Errorf("after the program: %+v, %v", lock, err)
	}
}
