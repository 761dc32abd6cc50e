package session

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"paw/config/disk"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// hold takes the lock of an agent for this process: LOCKS SESSION AGENT.
func hold(args []string) (*os.File, error) {
	h, err := ThisProcess()
	if err != nil {
		return nil, err
	}
	h.Generation = 5
	return Locks{Dir: args[0]}.HoldAgent(args[1], args[2], h)
}

// myself is the process of the test.
func myself(t *testing.T) Holder {
	t.Helper()
	h, err := ThisProcess()
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// childHold tries to hold an agent's lock once told so, says how it went, and stays until its input ends: LOCKS SESSION
// AGENT.
func childHold(args []string) error {
	in := bufio.NewReader(os.Stdin)
	fmt.Println("ready")
	if _, err := in.ReadString('\n'); err != nil {
		return err
	}
	f, err := hold(args)
	var locked *LockedError
	switch {
	case errors.As(err, &locked):
		fmt.Println("locked by", locked.PID)
	case err != nil:
		return err
	default:
		defer f.Close()
		fmt.Println("held")
	}
	_, err = io.Copy(io.Discard, in)
	return err
}

// childHoldExec holds an agent's lock and becomes another program: LOCKS SESSION AGENT PROGRAM ARGUMENT...
func childHoldExec(args []string) error {
	f, err := hold(args)
	if err != nil {
		return err
	}
	defer runtime.KeepAlive(f)
	return syscall.Exec(args[3], args[3:], os.Environ())
}

// childHoldDrop is childHoldExec with a lock that does not survive the exec, as node's process.execve has it.
func childHoldDrop(args []string) error {
	f, err := hold(args)
	if err != nil {
		return err
	}
	defer runtime.KeepAlive(f)
	unix.CloseOnExec(int(f.Fd()))
	return syscall.Exec(args[3], args[3:], os.Environ())
}

func mustProbe(t *testing.T, locks Locks) AgentLock {
	t.Helper()
	found, err := locks.ProbeAgent("demo", "claude")
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func program(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func TestAgentLockInOneProcess(t *testing.T) {
	locks := Locks{Dir: filepath.Join(t.TempDir(), "locks")}
	if got := mustProbe(t, locks); got.State != LockFree || got.HolderAlive || got.PID() != 0 {
		t.Errorf("without a folder: got %+v", got)
	}
	if _, err := os.Stat(locks.Dir); err == nil {
		t.Error("a probe made the folder")
	}
	h := myself(t)
	h.Generation = 3
	f, err := locks.HoldAgent("demo", "claude", h)
	if err != nil {
		t.Fatal(err)
	}
	h.Session, h.Agent = "demo", "claude"
	want := AgentLock{State: LockHeld, Holder: h, HolderAlive: true}
	for range 3 {
		if diff := cmp.Diff(want, mustProbe(t, locks)); diff != "" {
			t.Error(diff)
		}
	}
	if got := mustProbe(t, locks).PID(); got != os.Getpid() {
		t.Errorf("got process %d", got)
	}
	if got, err := locks.ProbeAgent("demo", "codex"); err != nil || got.State != LockFree {
		t.Errorf("another agent: got %+v, %v", got, err)
	}
	if flags, err := unix.FcntlInt(f.Fd(), unix.F_GETFD, 0); err != nil || flags&unix.FD_CLOEXEC != 0 {
		t.Errorf("flags %x, %v: the lock would not survive exec", flags, err)
	}
	f.Close()
	if got := mustProbe(t, locks); got.State != LockHeld || got.PID() != os.Getpid() {
		t.Errorf("after closing, while the holder lives: got %+v", got)
	}
	again, err := locks.HoldAgent("demo", "claude", h)
	if err != nil {
		t.Fatalf("its own process cannot have it again: %v", err)
	}
	again.Close()
}

// A program that closes its lock, or replaced another one that marked it to be closed, runs all the same: nothing may be
// started beside it.
func TestAProgramWithoutItsLockIsStillTheHolder(t *testing.T) {
	locks := Locks{Dir: t.TempDir()}
	p := spawn(t, "hold-drop", locks.Dir, "demo", "claude", program(t, "cat"))
	if _, err := io.WriteString(p.in, "hello\n"); err != nil {
		t.Fatal(err)
	}
	p.expect(t, "hello") // by now it is cat
	f, err := os.Open(filepath.Join(locks.Dir, "agent-demo-claude.lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if state, err := lockState(int(f.Fd())); err != nil || state != LockFree {
		t.Fatalf("got %v, %v: it has kept its lock, so this test shows nothing", state, err)
	}
	got := mustProbe(t, locks)
	if got.State != LockHeld || !got.HolderAlive || got.PID() != p.Process.Pid {
		t.Errorf("got %+v, want process %d", got, p.Process.Pid)
	}
	h := myself(t)
	_, err = locks.HoldAgent("demo", "claude", h)
	var locked *LockedError
	if !errors.As(err, &locked) || locked.PID != p.Process.Pid {
		t.Errorf("a second launch: got %v", err)
	}
	if _, _, err := locks.HoldForTurn("demo", "claude", h); !errors.As(err, &locked) || locked.PID != p.Process.Pid {
		t.Errorf("a headless turn: got %v", err)
	}
	if got := mustProbe(t, locks).Holder.PID; got != p.Process.Pid {
		t.Errorf("the loser wrote itself into the lock: %d", got)
	}
	p.kill(t)
	if got := mustProbe(t, locks); got.State != LockFree || got.PID() != 0 {
		t.Errorf("once it is dead: got %+v", got)
	}
	held, err := locks.HoldAgent("demo", "claude", h)
	if err != nil {
		t.Fatal(err)
	}
	held.Close()
}

func TestAgentLockSurvivesExecAndDiesWithTheProgram(t *testing.T) {
	locks := Locks{Dir: t.TempDir()}
	p := spawn(t, "hold-exec", locks.Dir, "demo", "claude", program(t, "cat"))
	if _, err := io.WriteString(p.in, "hello\n"); err != nil {
		t.Fatal(err)
	}
	p.expect(t, "hello") // by now it is cat
	got := mustProbe(t, locks)
	if got.State != LockHeld || !got.HolderAlive || got.PID() != p.Process.Pid || got.Holder.Generation != 5 {
		t.Errorf("got %+v, want process %d", got, p.Process.Pid)
	}
	h := myself(t)
	_, err := locks.HoldAgent("demo", "claude", h)
	var locked *LockedError
	if !errors.As(err, &locked) || locked.PID != p.Process.Pid {
		t.Errorf("got %v", err)
	}
	if want := fmt.Sprintf("agent demo/claude: locked by process %d", p.Process.Pid); err.Error() != want {
		t.Errorf("got %q, want %q", err, want)
	}
	if got := mustProbe(t, locks).Holder.PID; got != p.Process.Pid {
		t.Errorf("the loser wrote itself into the lock: %d", got)
	}
	p.in.Close()
	waitFor(t, "the lock to be freed", func() bool { return mustProbe(t, locks).State == LockFree })
	p.wait(t)
	f, err := locks.HoldAgent("demo", "claude", h)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
}

func TestAgentLockIsFreedByKill(t *testing.T) {
	locks := Locks{Dir: t.TempDir()}
	p := spawn(t, "hold-exec", locks.Dir, "demo", "claude", program(t, "cat"))
	waitFor(t, "the lock", func() bool { return mustProbe(t, locks).State == LockHeld })
	p.kill(t)
	if got := mustProbe(t, locks); got.State != LockFree || got.HolderAlive || got.Holder.PID != p.Process.Pid {
		t.Errorf("got %+v", got)
	}
}

// A program that goes into the background and ends leaves its lock to its child: nothing may be started beside it.
func TestADescendantHoldsTheAgentLock(t *testing.T) {
	locks := Locks{Dir: t.TempDir()}
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := unix.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	end, err := os.OpenFile(fifo, os.O_RDWR, 0) // for reading too, so that opening does not wait for the shell
	if err != nil {
		t.Fatal(err)
	}
	defer end.Close()
	p := spawn(t, "hold-exec", locks.Dir, "demo", "claude", program(t, "sh"), "-c",
		`exec 8<>"$0"; cat <"$0" 8>&- >/dev/null 2>&1 & echo $!`, fifo)
	line, err := p.out.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	descendant := number(strings.TrimSpace(line))
	p.wait(t)
	got := mustProbe(t, locks)
	if got.State != LockHeld || got.HolderAlive || got.Holder.PID != p.Process.Pid {
		t.Errorf("got %+v", got)
	}
	if runtime.GOOS == "linux" && (!slices.Equal(got.Holders, []int{descendant}) || got.PID() != descendant) {
		t.Errorf("got holders %v, want %d", got.Holders, descendant)
	}
	_, err = locks.HoldAgent("demo", "claude", Holder{})
	var locked *LockedError
	if !errors.As(err, &locked) || runtime.GOOS == "linux" && locked.PID != descendant {
		t.Errorf("got %v", err)
	}
	end.Close()
	waitFor(t, "the descendant to end", func() bool { return mustProbe(t, locks).State == LockFree })
}

func TestOfEightLaunchersExactlyOneHolds(t *testing.T) {
	for round := range 3 {
		locks := Locks{Dir: filepath.Join(t.TempDir(), "locks")}
		var running []*process
		for range 8 {
			running = append(running, spawn(t, "hold", locks.Dir, "demo", "claude"))
		}
		for _, p := range running {
			p.expect(t, "ready")
		}
		for _, p := range running {
			if _, err := io.WriteString(p.in, "go\n"); err != nil {
				t.Fatal(err)
			}
		}
		winner, losers := 0, []string{}
		for _, p := range running {
			line, err := p.out.ReadString('\n')
			if err != nil {
				t.Fatalf("%v: %s", err, p.stderr)
			}
			if line == "held\n" {
				winner = p.Process.Pid
				continue
			}
			losers = append(losers, line)
		}
		want := slices.Repeat([]string{fmt.Sprintf("locked by %d\n", winner)}, 7)
		if diff := cmp.Diff(want, losers); diff != "" {
			t.Errorf("round %d, holder %d: %s", round, winner, diff)
		}
		for _, p := range running {
			p.in.Close()
		}
		for _, p := range running {
			p.wait(t)
		}
	}
}

// A status command may look at the very moment of a launch.
func TestProbesDoNotPreventALaunch(t *testing.T) {
	locks := Locks{Dir: t.TempDir()}
	f, err := os.OpenFile(filepath.Join(locks.Dir, "agent-demo-claude.lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if err := disk.Lock(f.Fd(), unix.LOCK_SH|unix.LOCK_NB); err != nil {
		t.Fatal(err)
	}
	if got := mustProbe(t, locks); got.State != LockFree {
		t.Errorf("one probe took another for a holder: %+v", got)
	}
	time.AfterFunc(100*time.Millisecond, func() { release(f) })
	held, err := locks.HoldAgent("demo", "claude", Holder{PID: os.Getpid()})
	if err != nil {
		t.Fatal(err)
	}
	held.Close()
}

// What a launcher killed between taking the lock and writing into it, or a full disk, leaves there.
func TestALockFileWithNonsenseIsStillALock(t *testing.T) {
	for _, content := range []string{"", "{", "null", "[1]", strings.Repeat("x", 4096), `{"pid": "x"}`, `{"pid": -1}`, `{"pid": 1}`} {
		locks := Locks{Dir: t.TempDir()}
		path := filepath.Join(locks.Dir, "agent-demo-claude.lock")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := mustProbe(t, locks); got.State != LockFree || got.HolderAlive {
			t.Errorf("%q, free: got %+v", content, got)
		}
		f, err := locks.try("agent-demo-claude.lock")
		if err != nil {
			t.Fatal(err)
		}
		got := mustProbe(t, locks)
		if got.State != LockHeld || got.HolderAlive {
			t.Errorf("%q, held: got %+v", content, got)
		}
		if runtime.GOOS == "linux" && got.PID() != os.Getpid() {
			t.Errorf("%q: held by %d, want %d", content, got.PID(), os.Getpid())
		}
		release(f)
		long := Holder{PID: os.Getpid(), BootID: strings.Repeat("b", 300)}
		for _, h := range []Holder{long, {PID: 7}} { // the shorter one must not keep a rest of the longer
			f, err := locks.HoldAgent("demo", "claude", h)
			if err != nil {
				t.Fatal(err)
			}
			if got := mustProbe(t, locks).Holder; got.PID != h.PID || got.BootID != h.BootID {
				t.Errorf("got %+v, want %+v", got, h)
			}
			release(f)
		}
	}
}

func TestAgentLockWithoutAnAnswerIsUnknown(t *testing.T) {
	locks := Locks{Dir: t.TempDir()}
	if err := os.Symlink("loop", filepath.Join(locks.Dir, "loop")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("loop", filepath.Join(locks.Dir, "agent-demo-claude.lock")); err != nil {
		t.Fatal(err)
	}
	if got, err := locks.ProbeAgent("demo", "claude"); got.State != LockUnknown || err == nil {
		t.Errorf("got %+v, %v", got, err)
	}
	for _, names := range [][2]string{{"../x", "claude"}, {"demo", "a-b"}, {"", ""}} {
		var bad *NameError
		if got, err := locks.ProbeAgent(names[0], names[1]); got.State != LockUnknown || !errors.As(err, &bad) {
			t.Errorf("%v: got %+v, %v", names, got, err)
		}
		if _, err := locks.HoldAgent(names[0], names[1], Holder{}); !errors.As(err, &bad) {
			t.Errorf("%v: got %v", names, err)
		}
	}
}

// TestHolderIsReadBeforeARestOfAnother reads a lock file whose last holder was longer and is not cut off yet.
func TestHolderIsReadBeforeARestOfAnother(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	if err := os.WriteFile(path, []byte(`{"pid":7,"session":"s"}`+"\n"+`on":"longer"}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if h, err := readHolder(int(f.Fd())); err != nil || h.PID != 7 || h.Session != "s" {
		t.Errorf("got %+v", h)
	}
}
