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

// holdPatience limits how long HoldAgent retries: a probe holds the lock for an instant only.
const holdPatience = time.Second

// maxHolder is an upper bound for the JSON of a Holder, in bytes.
const maxHolder = 1 << 10

// LockState says whether a lock is held. An agent's lock is held while its last launch runs.
type LockState string

// States of a lock.
const (
	LockFree    LockState = "free"
	LockHeld    LockState = "held"
	LockUnknown LockState = "unknown"
)

// AgentLock is what a probe of an agent's lock found: whether the last launch runs, and as which
// process.
type AgentLock struct {
	// State is LockHeld while the launch runs. The flock is the first evidence; but a CLI may close
	// the descriptor that it inherits, or mark it close-on-exec as node does. Then the launch runs
	// as long as the process that became the CLI, or a process that WithSurvivors found.
	State LockState
	// Holder is the last process that took the lock. With LockFree, Holder tells a reboot from a
	// crash.
	Holder Holder
	// HolderAlive says whether Holder still runs; PeekAgent leaves it false. If it is false with
	// LockHeld, the launch runs as the processes in Holders.
	HolderAlive bool
	// Holders lists the processes that the launch runs as. Only looked up on Linux, when Holder is
	// dead.
	Holders []int
}

// PID returns the process that the launch runs as; 0 when it does not run or the process is
// unknown.
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

// HoldAgent takes the lock of an agent for the life of this process and of the program that it
// executes: the returned file survives exec, and every child inherits it, so the caller must exec
// next, and keep a reference to the file until then. The file's content becomes h, with both names
// filled in. If the lock stays held for holdPatience, the error is a *LockedError.
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
	if err := PassOn(f); err != nil {
		release(f)
		return nil, fmt.Errorf("%s: %w", object, err)
	}
	return f, nil
}

// PassOn has the children of this process, and the program that it executes, inherit a lock that
// HoldAgent has taken.
func PassOn(lock *os.File) error {
	_, err := unix.FcntlInt(lock.Fd(), unix.F_SETFD, 0)
	return err
}

// KeepBack ends what PassOn began, until PassOn is called again: the commands of a set-up, and what
// they leave running, do not hold the lock.
func KeepBack(lock *os.File) { unix.CloseOnExec(int(lock.Fd())) }

// NoteSetUp writes into a lock taken by HoldAgent that the set-up is over, and the CLI is launched
// now.
func NoteSetUp(lock *os.File, now time.Time) error {
	h, err := readHolder(int(lock.Fd()))
	if err != nil {
		return err
	}
	h.SetUp, h.At = "", now
	return writeHolder(lock, h)
}

// ProbeAgent reports whether an agent's lock is held, without waiting for it. A missing lock file
// means free.
func (l Locks) ProbeAgent(session, agent string) (AgentLock, error) {
	return l.probe(session, agent, false)
}

// PeekAgent is ProbeAgent for a caller who is about to list tmux's panes: for a held lock of a
// launch in a pane it does not check whether the holder lives, which takes half of a probe's time.
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
	fd, err := disk.OpenRegular(path)
	if errors.Is(err, os.ErrNotExist) {
		return AgentLock{State: LockFree}, nil
	}
	if err != nil {
		return unknown, fmt.Errorf("agent %s/%s: %w", session, agent, err)
	}
	defer unix.Close(fd)
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
	// The holder may have died since the first look.
	if found.State, err = lockState(fd); err != nil {
		return unknown, fmt.Errorf("agent %s/%s: %w", session, agent, err)
	}
	return found, nil
}

// letGo reports whether the lock is free although the CLI runs, because the CLI has closed the
// descriptor. A paw that runs a headless turn keeps the lock itself until its CLI has ended, unless
// it is killed.
func (a AgentLock) letGo() bool {
	if a.State != LockFree || a.Holder.Headless && a.HolderAlive {
		return false
	}
	return a.Holder.cli().Alive()
}

// besides returns the CLI of a headless turn; nil where the holder itself became the CLI.
func (h Holder) besides() []int {
	if !h.Headless {
		return nil
	}
	return []int{h.CLI}
}

// WithSurvivors returns the probe with LockHeld when the lock is free, the holder is dead, and
// processes of its launch still run: the child of a CLI that is a wrapper, after the wrapper alone
// was killed. program is the name of the CLI's program; processes is called only if needed.
func (a AgentLock) WithSurvivors(program string, processes func() Processes) AgentLock {
	if a.State != LockFree || a.Holder.PID <= 0 || a.Holder.Headless || a.Holder.BootID != BootID() {
		return a
	}
	if left := a.Holder.Survivors(processes(), program); len(left) > 0 {
		a.State, a.Holders = LockHeld, left
	}
	return a
}

// lockState reports whether a lock file is locked, by taking a shared lock for an instant.
func lockState(fd int) (LockState, error) {
	err := disk.Lock(uintptr(fd), unix.LOCK_SH|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return LockHeld, nil
	}
	if err != nil {
		return LockUnknown, err
	}
	_ = disk.Lock(uintptr(fd), unix.LOCK_UN) // A launcher may be waiting for the lock.
	return LockFree, nil
}

// tryFor retries tryAgent until patience has passed.
func (l Locks) tryFor(patience time.Duration, file string) (f *os.File, err error) {
	poll.Until(context.Background(), poll.Tick, patience, func() bool {
		f, err = l.tryAgent(file)
		return !errors.Is(err, unix.EWOULDBLOCK)
	})
	return f, err
}

// tryAgent takes the lock of an agent. The error is EWOULDBLOCK when the lock is held, or its last
// holder's CLI runs on without the lock.
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

// agentLockFile names the lock file of an agent's launch.
func agentLockFile(session, agent string) (string, error) {
	err := ValidateName("session", session)
	if err == nil {
		err = ValidateName("agent", agent)
	}
	return lockFile("agent", session, agent), err
}

// writeHolder replaces the content of a lock file. The file is truncated after the write: a reader
// in between sees the new holder followed by a rest of the old one, which readHolder ignores.
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

// readHolder parses the first line of a lock file; a line that is not understood gives an empty
// Holder.
func readHolder(fd int) (Holder, error) {
	var content [maxHolder]byte
	n, err := disk.ReadAt(fd, content[:], 0)
	line, _, _ := bytes.Cut(content[:n], []byte("\n"))
	var h Holder
	if err != nil || json.Unmarshal(bytes.Clone(line), &h) != nil {
		return Holder{}, err
	}
	return h, nil
}

// LostLock returns the state of a lock whose file was deleted while its launch runs as the process
// pid. The process's PAW_LAUNCH proves which launch it belongs to. ok is false for a process of
// another launch, and always on macOS.
func LostLock(session, agent string, generation, pid int) (AgentLock, bool) {
	h := Holder{PID: pid, BootID: BootID(), Generation: generation, Session: session, Agent: agent}
	facts, err := inspectProcess(pid)
	if err != nil || facts.dead || !carries(pid, h.mark()) {
		return AgentLock{}, false
	}
	h.StartTime, h.At = facts.started, startedAt(facts.started)
	return AgentLock{State: LockHeld, Holder: h, HolderAlive: true}, true
}

// Restore writes the lock file of a running launch whose file was deleted. The flock stays on the
// deleted file; the process named in the new file counts as holder while it lives. An existing lock
// file is left alone.
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

// OnTerminalOf reports whether a process belongs to the terminal session of leader, such as the
// process of a pane. The result is true for a process that has ended.
func OnTerminalOf(leader, pid int) bool {
	of, err := unix.Getsid(pid)
	return pid == leader || err != nil || of == leader
}

// HoldForTurn is HoldAgent for a process that does not exec and runs the CLI as its child: only
// children that are passed the file inherit the lock. If the caller is killed, the lock lives as
// long as the CLI. giveBack unlocks at once, even if others still have the file. If the lock is
// held, the error is a *LockedError.
func (l Locks) HoldForTurn(session, agent string, h Holder) (f *os.File, giveBack func(), err error) {
	h.Headless = true
	f, err = l.HoldAgent(session, agent, h)
	if err != nil {
		return nil, nil, err
	}
	unix.CloseOnExec(int(f.Fd()))
	return f, sync.OnceFunc(func() { release(f) }), nil
}

// NoteCLI writes the CLI's process into a lock taken by HoldForTurn. If the caller is killed, that
// identifies a CLI that has closed the lock.
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
