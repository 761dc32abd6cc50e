package session

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"paw/config/disk"
	"paw/config/poll"
)

// holdPatience is how long HoldAgent tries again, since a probe holds the lock for an instant.
const holdPatience = time.Second

// maxHolder is more than the description of a holder can have, in bytes.
const maxHolder = 1 << 10

// LockState says whether a lock is held. For the lock of an agent it says whether the agent's last launch runs.
type LockState string

// The states of a lock.
const (
	LockFree    LockState = "free"
	LockHeld    LockState = "held"
	LockUnknown LockState = "unknown"
)

// AgentLock is what a probe of an agent's lock found: whether the agent's last launch runs, and as which process.
type AgentLock struct {
	// State is LockHeld as long as the launch runs. The lock itself is the first proof. Programs close what they
	// inherited, or mark it to be closed by the program that replaces them (node does): then the launch runs as long as
	// the process that became the CLI, or as long as one that WithSurvivors found.
	State LockState
	// Holder is who took the lock last. When State is LockFree it is history, good for telling a reboot from a crash.
	Holder Holder
	// HolderAlive tells whether Holder still runs, unless it was only peeked at. When it does not and State is LockHeld, the launch runs as the
	// processes in Holders.
	HolderAlive bool
	// Holders are the processes that the launch runs as, looked up only when Holder is dead, and only on Linux.
	Holders []int
}

// PID returns the process that the launch runs as, 0 when it does not run or when the process is not known.
func (a AgentLock) PID() int {
	switch {
	case a.State != LockHeld:
		return 0
	case a.HolderAlive:
		return a.Holder.PID
	case len(a.Holders) > 0:
		return a.Holders[0]
	}
	return 0
}

// HoldAgent takes the lock of an agent for as long as this process and the program it goes on to execute live: the
// returned file survives exec, and every child inherits it too, so the next thing to do is to exec. It must stay
// referenced until then. The file's content becomes h with the two names filled in. When the lock stays held for about
// a second, which no probe does, the error is a *LockedError.
func (l Locks) HoldAgent(session, agent string, h Holder) (*os.File, error) {
	file, err := agentLockFile(session, agent)
	if err != nil {
		return nil, err
	}
	object := "agent " + session + "/" + agent
	f, err := l.tryFor(holdPatience, file)
	if errors.Is(err, unix.EWOULDBLOCK) {
		path := filepath.Join(l.Dir, file)
		held, _ := l.ProbeAgent(session, agent)
		return nil, &LockedError{Object: object, PID: held.PID(), Path: path, Err: err}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", object, err)
	}
	h.Session, h.Agent = session, agent
	if err := writeHolder(f, h); err != nil {
		release(f)
		return nil, fmt.Errorf("%s: %w", object, err)
	}
	if _, err := unix.FcntlInt(f.Fd(), unix.F_SETFD, 0); err != nil {
		release(f)
		return nil, fmt.Errorf("%s: %w", object, err)
	}
	return f, nil
}

// ProbeAgent looks whether an agent's lock is held, without ever waiting for it. No lock file means free.
func (l Locks) ProbeAgent(session, agent string) (AgentLock, error) {
	return l.probe(session, agent, false)
}

// PeekAgent is ProbeAgent for somebody who is about to hear from tmux which processes live in the panes: of a launch that
// holds the lock in its pane it does not say whether the process that took it lives, which is half of the work.
func (l Locks) PeekAgent(session, agent string) (AgentLock, error) {
	return l.probe(session, agent, true)
}

func (l Locks) probe(session, agent string, peek bool) (AgentLock, error) {
	unknown := AgentLock{State: LockUnknown}
	file, err := agentLockFile(session, agent)
	if err != nil {
		return unknown, err
	}
	path := filepath.Join(l.Dir, file)
	fd, err := disk.OpenRaw(path, unix.O_NONBLOCK) // nobody is at the other end of a FIFO
	if errors.Is(err, os.ErrNotExist) {
		return AgentLock{State: LockFree}, nil
	}
	if err != nil {
		return unknown, fmt.Errorf("agent %s/%s: %w", session, agent, err)
	}
	defer func() { _ = unix.Close(fd) }()
	state, err := lockState(fd)
	if err != nil {
		return unknown, fmt.Errorf("agent %s/%s: %w", session, agent, err)
	}
	holder, err := readHolder(fd)
	if err != nil {
		return unknown, fmt.Errorf("agent %s/%s: %s: %w", session, agent, path, err)
	}
	if peek && state == LockHeld && !holder.Headless {
		return AgentLock{State: state, Holder: holder}, nil
	}
	found := AgentLock{State: state, Holder: holder, HolderAlive: holder.Alive()}
	if found.letGo() {
		found.State, found.Holders = LockHeld, holder.besides()
	}
	if found.State == LockFree || found.HolderAlive || len(found.Holders) > 0 {
		return found, nil
	}
	if found.Holders = LockHolders(path); len(found.Holders) > 0 {
		return found, nil
	}
	// The holder may have died after the first look.
	if found.State, err = lockState(fd); err != nil {
		return unknown, fmt.Errorf("agent %s/%s: %w", session, agent, err)
	}
	return found, nil
}

// letGo tells whether the lock is free although the CLI runs, which has closed it. A paw that runs a turn without a
// terminal keeps the lock itself: it has seen the end of its CLI when it frees the lock, unless it was killed.
func (a AgentLock) letGo() bool {
	if a.State != LockFree || a.Holder.Headless && a.HolderAlive {
		return false
	}
	return a.Holder.cli().Alive()
}

// besides is the CLI of a headless turn, none where the holder itself became the CLI.
func (h Holder) besides() []int {
	if !h.Headless {
		return nil
	}
	return []int{h.CLI}
}

// WithSurvivors returns what the probe found, with LockHeld when the launch runs on as other processes than the one
// that took the lock, although none of them has it: the program of a wrapper that was killed alone. program is what the
// CLI is called; processes is asked only where that may be.
func (a AgentLock) WithSurvivors(program string, processes func() Processes) AgentLock {
	if a.State != LockFree || a.Holder.PID <= 0 || a.Holder.Headless || a.Holder.BootID != BootID() {
		return a
	}
	if left := a.Holder.Survivors(processes(), program); len(left) > 0 {
		a.State, a.Holders = LockHeld, left
	}
	return a
}

// lockState tells whether a lock file is locked by taking the lock for an instant.
func lockState(fd int) (LockState, error) {
	err := disk.Lock(uintptr(fd), unix.LOCK_SH|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return LockHeld, nil
	}
	if err != nil {
		return LockUnknown, err
	}
	_ = disk.Lock(uintptr(fd), unix.LOCK_UN) // a launcher may be waiting
	return LockFree, nil
}

// tryFor tries to take the lock of an agent for some time.
func (l Locks) tryFor(patience time.Duration, file string) (f *os.File, err error) {
	poll.Until(context.Background(), poll.Tick, patience, func() bool {
		f, err = l.tryAgent(file)
		return !errors.Is(err, unix.EWOULDBLOCK)
	})
	return f, err
}

// tryAgent takes the lock of an agent unless the process that took it last runs on without it.
func (l Locks) tryAgent(file string) (*os.File, error) {
	f, err := l.try(file)
	if err != nil {
		return nil, err
	}
	last, err := readHolder(int(f.Fd()))
	if err != nil {
		release(f)
		return nil, fmt.Errorf("%s: %w", f.Name(), err)
	}
	before := AgentLock{State: LockFree, Holder: last, HolderAlive: last.Alive()}
	if last.PID != os.Getpid() && before.letGo() {
		release(f)
		return nil, unix.EWOULDBLOCK
	}
	return f, nil
}

// agentLockFile names the lock file of a launch.
func agentLockFile(session, agent string) (string, error) {
	err := ValidateName("session", session)
	if err == nil {
		err = ValidateName("agent", agent)
	}
	return lockFile("agent", session, agent), err
}

// writeHolder replaces the content of a lock file. It is cut after the write, so that a reader in between finds the
// new holder followed by a rest of the old one, which readHolder ignores.
func writeHolder(f *os.File, h Holder) error {
	text, err := json.Marshal(h)
	if err != nil {
		return err
	}
	text = append(text, '\n')
	if _, err := f.WriteAt(text, 0); err != nil {
		return err
	}
	return f.Truncate(int64(len(text)))
}

// readHolder reads the first line of a lock file; anything else there is an unknown holder. What cannot be read at a place in it,
// such as a FIFO, is no lock file.
func readHolder(fd int) (Holder, error) {
	var content [maxHolder]byte
	n, err := rawFile(fd).ReadAt(content[:], 0)
	if errors.Is(err, unix.ESPIPE) {
		return Holder{}, errNotRegular
	}
	line, _, _ := bytes.Cut(bytes.Clone(content[:n]), []byte("\n")) // a copy, so that the buffer need not outlive this
	var h Holder
	if json.Unmarshal(line, &h) == nil {
		return h, nil
	}
	return Holder{}, nil
}

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
