package session

import (
	"fmt"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// HoldForTurn takes the lock of an agent like HoldAgent, but for a process that stays and runs the CLI as its child:
// only children that are given the file inherit the lock, so that it outlives a killed caller exactly as long as the
// CLI. giveBack frees it at once, whoever else still has the file. When the lock is held, the error is a
// *LockedError.
func (l Locks) HoldForTurn(session, agent string, h Holder) (f *os.File, giveBack func(), err error) {
	h.Headless = true
	f, err = l.HoldAgent(session, agent, h)
	if err != nil {
		return nil, nil, err
	}
	unix.CloseOnExec(int(f.Fd()))
	return f, sync.OnceFunc(func() { release(f) }), nil
}

// NoteCLI writes into a lock that HoldForTurn has taken which process is the CLI: when the caller is killed, a CLI that
// has closed the lock is known by that.
func NoteCLI(lock *os.File, pid int) error {
	facts, err := inspectProcess(pid)
	if err != nil {
		return fmt.Errorf("process %d: %w", pid, err)
	}
	h, err := readHolder(int(lock.Fd()))
	if err != nil {
		return err
	}
	h.CLI, h.CLIStart = pid, facts.started
	return writeHolder(lock, h)
}
