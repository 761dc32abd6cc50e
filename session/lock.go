package session

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"paw/config/disk"
	"paw/config/poll"
)

// Locks is the folder of the lock files. A lock is an flock on a file of its own, never on data
// that a save would replace. The kernel unlocks when the holder dies. Only Forget deletes lock files.
// If ctx ends before a lock is taken, the error is a *LockedError that names the holder.
// CONTRIBUTING.md has the order in which locks are taken.
type Locks struct {
	Dir string
}

// Repository waits for the lock that guards the worktree list of the repository with that common
// git directory. The lock should be held for milliseconds only.
func (l Locks) Repository(ctx context.Context, gitCommonDir string) (unlock func(), err error) {
	dir, err := filepath.Abs(gitCommonDir)
	if err != nil {
		return nil, err
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	sum := sha256.Sum256([]byte(dir))
	return l.wait(ctx, "repository "+dir, "repository-"+hex.EncodeToString(sum[:16])+".lock")
}

// Session waits for the lock of a session's record. The lock is not reentrant: the methods of Store
// that change a record take it themselves.
func (l Locks) Session(ctx context.Context, name string) (unlock func(), err error) {
	return l.ofSession(ctx, "session ", "session", name)
}

// Check waits for the lock of the worktree in which a session's checks run. The lock is held while
// they run.
func (l Locks) Check(ctx context.Context, session string) (unlock func(), err error) {
	return l.ofSession(ctx, "checks of ", "check", session)
}

// CheckHeld reports whether a session's Check lock is held, without waiting.
func (l Locks) CheckHeld(session string) bool { return l.held("check-" + session + ".lock") }

func (l Locks) ofSession(ctx context.Context, what, kind, name string) (unlock func(), err error) {
	if err := validateRecordName(name); err != nil {
		return nil, err
	}
	return l.wait(ctx, what+name, kind+"-"+name+".lock")
}

// Ports waits for the lock under which ports are assigned to agents. The lock is held until the
// ports are in the record.
func (l Locks) Ports(ctx context.Context) (unlock func(), err error) {
	return l.wait(ctx, "ports", "ports.lock")
}

// Kinds of an agent's locks that are looked at without waiting; the first word of the file names.
const (
	turnLock     = "turn"
	deliveryLock = "delivery"
	waitLock     = "wait"
	creatingLock = "creating"
)

// Turn waits for the lock under which an agent's turns change, since a CLI may run several hooks at
// once. The lock is held for a snapshot at most.
func (l Locks) Turn(ctx context.Context, session, agent string) (unlock func(), err error) {
	return l.ofAgent(ctx, "turns of ", turnLock, session, agent)
}

// Prompt waits for the lock under which a prompt is typed into an agent's pane: text and Enter of
// two senders must not mix. The lock is held until the prompt has arrived, at most a minute.
func (l Locks) Prompt(ctx context.Context, session, agent string) (unlock func(), err error) {
	return l.ofAgent(ctx, "sending to ", "prompt", session, agent)
}

// Delivery waits for the lock under which an agent is told how its children ended. The lock is
// taken before Prompt, and held until the arrival of the prompt is known.
func (l Locks) Delivery(ctx context.Context, session, agent string) (unlock func(), err error) {
	return l.ofAgent(ctx, "delivery to ", deliveryLock, session, agent)
}

// Removal waits for the lock under which an agent is ended and its worktree removed. The lock is
// held until both are done, so that nobody finds a half-removed agent.
func (l Locks) Removal(ctx context.Context, session, agent string) (unlock func(), err error) {
	return l.ofAgent(ctx, "removal of ", "removal", session, agent)
}

// Pull waits for the lock under which an agent's branch is pushed and its pull request is asked for: of two that ask, the
// second finds the request of the first. The lock is held until the server has answered. Also what the server says of it is
// sent under this lock, until the prompt has arrived.
func (l Locks) Pull(ctx context.Context, session, agent string) (unlock func(), err error) {
	return l.ofAgent(ctx, "the pull request of ", "pull", session, agent)
}

// Creating takes, without waiting, the lock under which the worktree of a new agent is made. The
// lock is taken before the record names the agent, and held until the agent's pane is recorded.
func (l Locks) Creating(session, agent string) (unlock func(), err error) {
	if err := ValidTurnSession(session, agent); err != nil {
		return nil, err
	}
	file := lockFile(creatingLock, session, agent)
	f, err := l.try(file)
	if errors.Is(err, unix.EWOULDBLOCK) {
		path := filepath.Join(l.Dir, file)
		return nil, &LockedError{Object: session + "/" + agent + ", which is being made", PID: recordedPID(path), Path: path, Err: err}
	}
	if err != nil {
		return nil, fmt.Errorf("making of %s/%s: %w", session, agent, err)
	}
	return holdShort(f), nil
}

// CreatedBy returns the process that makes an agent's worktree now, 0 if it is not known, and whether
// there is one, without waiting.
func (l Locks) CreatedBy(session, agent string) (pid int, held bool) {
	file := lockFile(creatingLock, session, agent)
	if !l.held(file) {
		return 0, false
	}
	return recordedPID(filepath.Join(l.Dir, file)), true
}

func (l Locks) ofAgent(ctx context.Context, what, kind, session, agent string) (unlock func(), err error) {
	if err := ValidTurnSession(session, agent); err != nil {
		return nil, err
	}
	return l.wait(ctx, what+session+"/"+agent, lockFile(kind, session, agent))
}

// lockFile names a lock file of an agent. Names of sessions and agents hold no "-", so no two
// agents share a file.
func lockFile(kind, session, agent string) string {
	return kind + "-" + session + "-" + agent + ".lock"
}

// Awaiting records, until unlock is called or the process ends, that an agent waits for others in a
// running command. If two such commands run, the first one's agents are recorded.
func (l Locks) Awaiting(session, agent string, others []string) (unlock func(), err error) {
	f, err := l.try(lockFile(waitLock, session, agent))
	if err != nil {
		return func() {}, err
	}
	unlock = sync.OnceFunc(func() {
		_ = f.Truncate(0)
		release(f)
	})
	_, err = f.WriteAt([]byte(strings.Join(others, "\n")), 0)
	return unlock, err
}

// Awaits returns the agents that an agent waits for in a command that is running now.
func (l Locks) Awaits(session, agent string) []string {
	file := lockFile(waitLock, session, agent)
	if !l.held(file) {
		return nil
	}
	text, err := disk.ReadFile(filepath.Join(l.Dir, file))
	if err != nil {
		return nil
	}
	return strings.Fields(string(text))
}

// DeliveryHeld reports whether an agent's Delivery lock is held, without waiting.
func (l Locks) DeliveryHeld(session, agent string) bool {
	return l.held(lockFile(deliveryLock, session, agent))
}

// TurnHeld returns since when an agent's Turn lock has been held, zero if it is free, without
// waiting.
func (l Locks) TurnHeld(session, agent string) time.Time {
	file := lockFile(turnLock, session, agent)
	info, err := os.Stat(filepath.Join(l.Dir, file)) // The holder has written its PID into the file.
	if err != nil || !l.held(file) {
		return time.Time{}
	}
	return info.ModTime()
}

func (l Locks) held(file string) bool {
	f, err := openRegular(filepath.Join(l.Dir, file), os.O_RDONLY)
	if err != nil {
		return false
	}
	defer release(f)
	return errors.Is(disk.Lock(f.Fd(), unix.LOCK_SH|unix.LOCK_NB), unix.EWOULDBLOCK)
}

// wait takes a lock file exclusively and writes paw's PID into it.
func (l Locks) wait(ctx context.Context, object, file string) (unlock func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", object, err)
	}
	tick := time.NewTicker(poll.Tick)
	defer tick.Stop()
	for {
		f, err := l.try(file)
		if err == nil {
			return holdShort(f), nil
		}
		if !errors.Is(err, unix.EWOULDBLOCK) {
			return nil, fmt.Errorf("%s: %w", object, err)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			path := filepath.Join(l.Dir, file)
			return nil, &LockedError{Object: object, PID: recordedPID(path), Path: path, Err: ctx.Err()}
		}
	}
}

// holdShort writes the PID into a locked file and returns the unlock function. The PID is only
// information for those who wait, so a full disk does not matter.
func holdShort(f *os.File) (unlock func()) {
	_, _ = f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	return sync.OnceFunc(func() {
		_ = f.Truncate(0)
		release(f)
	})
}

// try opens a lock file and locks it exclusively; the error is EWOULDBLOCK when it is held. The
// file is close-on-exec.
func (l Locks) try(file string) (*os.File, error) {
	if l.Dir == "" {
		return nil, errors.New("no folder for locks")
	}
	if err := disk.MakeDir(l.Dir); err != nil {
		return nil, err
	}
	path := filepath.Join(l.Dir, file)
	f, err := openRegular(path, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, err
	}
	err = disk.Lock(f.Fd(), unix.LOCK_EX|unix.LOCK_NB)
	if err == nil && !stillAt(f, path) {
		err = unix.EWOULDBLOCK // Somebody has deleted the file meanwhile; the next try opens the new one.
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Forget deletes the lock files of a session that is not there any more. One that is held stays; who has waited for one
// that is deleted finds that it is gone, and takes a new one.
func (l Locks) Forget(name string) {
	entries, _ := os.ReadDir(l.Dir)
	for _, entry := range entries {
		file := entry.Name()
		kind, rest, _ := strings.Cut(file, "-"+name)
		whole := rest == ".lock" || strings.HasPrefix(rest, "-") && strings.HasSuffix(rest, ".lock")
		if kind == "repository" || !whole || strings.Contains(kind, "-") && kind != "queue-checks" { // else the name is an agent's
			continue
		}
		if f, err := l.try(file); err == nil {
			_ = os.Remove(f.Name())
			release(f)
		}
	}
}

// openRegular opens a file, and does not block on a FIFO in the file's place.
func openRegular(path string, flags int) (*os.File, error) {
	f, err := os.OpenFile(path, flags|unix.O_NONBLOCK, 0o600)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		f.Close()
		return nil, &os.PathError{Op: "open", Path: path, Err: disk.ErrNotRegular}
	}
	return f, nil
}

// release unlocks at once, even if a child that is just being forked still has the descriptor.
func release(f *os.File) {
	_ = disk.Lock(f.Fd(), unix.LOCK_UN)
	f.Close()
}

func stillAt(f *os.File, path string) bool {
	mine, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(path)
	return err == nil && os.SameFile(mine, there)
}

// recordedPID reads the PID that holdShort wrote, 0 if there is none.
func recordedPID(path string) int {
	f, err := openRegular(path, os.O_RDONLY)
	if err != nil {
		return 0
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, 32))
	if err != nil {
		return 0
	}
	line, _, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(line)
	if err != nil {
		return 0
	}
	return pid
}

// LockedError says that another process holds a lock, and unwraps to the reason why waiting ended,
// such as context.DeadlineExceeded or context.Canceled.
type LockedError struct {
	Object string // the locked object, such as "session demo"
	PID    int    // PID of the holder, 0 if unknown
	Path   string // lock file
	Err    error
}

func (e *LockedError) Error() string {
	if e.PID == 0 {
		return e.Object + ": locked by another process"
	}
	return fmt.Sprintf("%s: locked by process %d", e.Object, e.PID)
}

func (e *LockedError) Unwrap() error { return e.Err }
