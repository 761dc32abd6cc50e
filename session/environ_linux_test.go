package session

import (
	"os"
	"os/exec"
	"slices"
	"testing"
)

func TestEnviron(t *testing.T) {
	want := []string{"A=1", "EMPTY=", "LINES=one\ntwo", "EQUALS=a=b"}
	cmd := exec.Command("sleep", "1000")
	cmd.Env = want
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	got, err := Environ(cmd.Process.Pid)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := Environ(os.Getpid() + 1<<22); err == nil {
		t.Error("no error for a process that there is not")
	}
}
