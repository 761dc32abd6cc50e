//go:build linux

package session

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// A wrapper is killed and the program it ran lives on: it is found by its
// terminal session and launch, and the agent's other children are not.
func TestDescendantsOfAKilledWrapper(t *testing.T) {
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(sleep)
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "nativecli")
	if err := os.WriteFile(program, data, 0o755); err != nil {
		t.Fatal(err)
	}
	wrapper := exec.Command("sh", "-c", program+` 1000 & echo $!; sleep 1000 & echo $!; wait`)
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
	for range 2 {
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
	if err := wrapper.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = wrapper.Wait()
	h := Holder{PID: wrapper.Process.Pid, BootID: BootID(), Session: "s", Agent: "a", Generation: 7}
	waitFor(t, "the child alone to be found, once it has become the program", func() bool {
		return slices.Equal(h.Descendants(ListProcesses(), "nativecli"), children[:1])
	})
	h.Generation = 8
	if got := h.Descendants(ListProcesses(), "nativecli"); len(got) != 0 {
		t.Errorf("descendants of another launch: %v", got)
	}
}
