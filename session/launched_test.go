//go:build linux

package session

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// terminal opens a terminal and returns the name of its end for programs.
func terminal(t *testing.T) string {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { master.Close() })
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetUint32(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("/dev/pts/%d", number)
}

// A wrapper is killed and what it ran lives on. The program is found by its name,
// another one because it reads from the terminal; the tools are of the launch and
// not its CLI, and what began a terminal session of its own is neither.
func TestTheSurvivorsOfAKilledWrapper(t *testing.T) {
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(sleep)
	if err != nil {
		t.Fatal(err)
	}
	native := filepath.Join(t.TempDir(), "nativecli")
	if err := os.WriteFile(native, data, 0o755); err != nil {
		t.Fatal(err)
	}
	wrapper := exec.Command("sh", "-c", `"$0" 1000 & echo $!; sleep 1000 <"$1" & echo $!; sleep 1000 & echo $!; env -u PAW_LAUNCH sleep 1000 & echo $!
setsid sleep 1000 & echo $!; wait`, native, terminal(t))
	wrapper.Env = append(os.Environ(), "PAW_LAUNCH=s/a/7")
	wrapper.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	out, err := wrapper.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := wrapper.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	var children []int
	for range 5 {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		pid, err := strconv.Atoi(strings.TrimSpace(line))
		if err != nil {
			t.Fatal(err)
		}
		children = append(children, pid)
		t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGKILL) })
	}
	program, reader, tool, unmarked, daemon := children[0], children[1], children[2], children[3], children[4]
	leader := wrapper.Process.Pid
	facts, err := inspectProcess(leader)
	if err != nil {
		t.Fatal(err)
	}
	h := Holder{PID: leader, StartTime: facts.started, BootID: BootID(), Session: "s", Agent: "a", Generation: 7}
	want := []int{leader, program, reader, tool, unmarked}
	slices.Sort(want)
	waitFor(t, "what the wrapper has started, without the daemon", func() bool {
		// Each is what it shall be, and no copy of the wrapper any more; env itself still has the mark.
		begun := runs(program, "nativecli") && readsTerminal(reader) && !runs(unmarked, "env") && !carries(unmarked, h.mark())
		return slices.Equal(h.Launched(ListProcesses()), want) && sessionLeader(daemon) == daemon && begun
	})
	if err := wrapper.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = wrapper.Wait()
	want = []int{program, reader, tool}
	slices.Sort(want)
	if got := h.Launched(ListProcesses()); !slices.Equal(got, want) {
		t.Errorf("of the launch: %v, want %v", got, want)
	}
	want = []int{program, reader}
	slices.Sort(want)
	if got := h.Survivors(ListProcesses(), "nativecli"); !slices.Equal(got, want) {
		t.Errorf("survivors: %v, want %v", got, want)
	}
	free := AgentLock{State: LockFree, Holder: h}
	if got := free.WithSurvivors("nativecli", ListProcesses); got.State != LockHeld || got.PID() != want[0] {
		t.Errorf("got %+v", got)
	}
	alone := func() Processes {
		all := ListProcesses()
		for leader, pids := range all {
			all[leader] = slices.DeleteFunc(pids, func(pid int) bool { return pid == reader })
		}
		return all
	}
	if got := free.WithSurvivors("nativecli", alone); got.State != LockHeld || got.PID() != program {
		t.Errorf("of a program alone: %+v", got)
	}
	headless := free
	headless.Holder.Headless = true
	if got := headless.WithSurvivors("nativecli", ListProcesses); got.State != LockFree {
		t.Errorf("of a headless turn: %+v", got)
	}
	h.Generation = 8
	if got := h.Launched(ListProcesses()); len(got) != 0 {
		t.Errorf("of another launch: %v", got)
	}
}

// sessionLeader is the terminal session of a process, 0 when it has ended.
func sessionLeader(pid int) int {
	for leader, pids := range ListProcesses() {
		if slices.Contains(pids, pid) {
			return leader
		}
	}
	return 0
}

func TestALaunchOfAnotherBootHasNoProcesses(t *testing.T) {
	h := Holder{PID: os.Getpid(), BootID: "another"}
	asked := func() Processes {
		t.Error("looked at all processes for a launch that cannot run")
		return nil
	}
	if got := (AgentLock{State: LockFree, Holder: h}).WithSurvivors("sleep", asked); got.State != LockFree {
		t.Errorf("got %+v", got)
	}
	if got := (AgentLock{State: LockHeld, Holder: h, HolderAlive: true}).WithSurvivors("sleep", asked); got.State != LockHeld {
		t.Errorf("got %+v", got)
	}
}
