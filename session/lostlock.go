package session

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// LostLock returns what a lock file would say that is gone although its launch runs as the process pid: the environment of
// a process proves of which launch it is. There is none where the process is not of that launch, and on macOS.
func LostLock(session, agent string, generation, pid int) (AgentLock, bool) {
	h := Holder{PID: pid, BootID: BootID(), Generation: generation, Session: session, Agent: agent}
	facts, err := inspectProcess(pid)
	if err != nil || facts.dead || !carries(pid, h.mark()) {
		return AgentLock{}, false
	}
	h.StartTime, h.At = facts.started, startedAt(facts.started)
	return AgentLock{State: LockHeld, Holder: h, HolderAlive: true}, true
}

// Restore writes the lock file of a launch that runs and whose lock file is gone. The lock itself stays with the file that
// is gone; the process that the new file names counts as its holder while it lives. A lock file that is there again stays.
func (l Locks) Restore(h Holder) error {
	file, err := agentLockFile(h.Session, h.Agent)
	if err != nil {
		return err
	}
	if _, err := os.Lstat(filepath.Join(l.Dir, file)); err == nil {
		return nil
	}
	f, err := l.try(file)
	if err != nil {
		return fmt.Errorf("agent %s/%s: %w", h.Session, h.Agent, err)
	}
	defer release(f)
	if there, err := readHolder(int(f.Fd())); err != nil || there.PID != 0 {
		return err
	}
	return writeHolder(f, h)
}

// OnTerminalOf reports whether a process belongs to the terminal session of another one, such as the process of a pane. One
// that has just ended may have.
func OnTerminalOf(leader, pid int) bool {
	of, err := unix.Getsid(pid)
	return pid == leader || err != nil || of == leader
}
