package session

import (
	"syscall"
	"testing"
)

func TestMembersFindsEveryProcessOfATerminalSession(t *testing.T) {
	// A job-control shell puts each job into a process group of its own.
	cmd := sleeper(t, "set -m; sleep 1000 & sleep 1000 & wait")
	waitFor(t, "the shell and both jobs", func() bool { return len(Members(cmd.Process.Pid)) == 3 })
	for _, pid := range Members(cmd.Process.Pid) {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Error(err)
		}
	}
	_ = cmd.Wait()
	waitFor(t, "all are gone", func() bool { return len(Members(cmd.Process.Pid)) == 0 })
}
