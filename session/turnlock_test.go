package session

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
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
	f, giveBack, err := l.HoldForTurn("shop", "one", myself(t))
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

// childHoldTurn holds an agent's lock for a turn and runs a CLI that does not have it: LOCKS SESSION AGENT.
func childHoldTurn(args []string) error {
	h, err := ThisProcess()
	if err != nil {
		return err
	}
	f, giveBack, err := Locks{Dir: args[0]}.HoldForTurn(args[1], args[2], h)
	if err != nil {
		return err
	}
	defer giveBack()
	cmd := exec.Command("sleep", "1000")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	if err := NoteCLI(f, cmd.Process.Pid); err != nil {
		return err
	}
	fmt.Println(cmd.Process.Pid)
	return cmd.Wait()
}

// A headless turn whose paw was killed, and whose CLI does not have the lock.
func TestTheCLIOfAKilledTurnIsKnown(t *testing.T) {
	locks := Locks{Dir: t.TempDir()}
	paw := spawn(t, "hold-turn", locks.Dir, "demo", "claude")
	line, err := paw.out.ReadString('\n')
	if err != nil {
		t.Fatalf("%v: %s", err, paw.stderr)
	}
	cli := number(strings.TrimSpace(line))
	t.Cleanup(func() { _ = syscall.Kill(cli, syscall.SIGKILL) })
	if got := mustProbe(t, locks); got.State != LockHeld || !got.HolderAlive || got.PID() != paw.Process.Pid {
		t.Errorf("while paw lives: %+v", got)
	}
	paw.kill(t)
	got := mustProbe(t, locks)
	if got.State != LockHeld || got.HolderAlive || got.PID() != cli {
		t.Errorf("got %+v, want process %d", got, cli)
	}
	var locked *LockedError
	if _, err := locks.HoldAgent("demo", "claude", Holder{}); !errors.As(err, &locked) || locked.PID != cli {
		t.Errorf("a second launch: got %v", err)
	}
	if err := syscall.Kill(cli, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the agent to be free", func() bool { return mustProbe(t, locks).State == LockFree })
}
