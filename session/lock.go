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

// Locks is the folder of lock files. A lock is an flock on a file of its own, never on data that a save would replace.
// The kernel frees it when the holder dies; the files are never deleted, since a deleted one could be locked twice.
// Where ctx ends before a lock is had, the error is a *LockedError that names the holder.
type Locks struct {
	Dir string
}

// Repository waits for the lock of the repository with that common git directory, which guards its list of worktrees.
// It is meant to be held for milliseconds.
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

// Session waits for the lock of the record of that name. It is not reentrant: Store's methods that change a record
// take it themselves.
func (l Locks) Session(ctx context.Context, name string) (unlock func(), err error) {
	if err := validateRecordName(name); err != nil {
		return nil, err
	}
	return l.wait(ctx, "session "+name, "session-"+name+".lock")
}

// Check waits for the lock of the worktree in which the checks of a session run. It is held as long as they take.
func (l Locks) Check(ctx context.Context, session string) (unlock func(), err error) {
	if err := validateRecordName(session); err != nil {
		return nil, err
	}
	return l.wait(ctx, "checks of "+session, "check-"+session+".lock")
}

// Ports waits for the lock under which agents are given ports that nobody else has. It is held until the record has them.
func (l Locks) Ports(ctx context.Context) (unlock func(), err error) {
	return l.wait(ctx, "ports", "ports.lock")
}

// The locks of one agent, by the words that their files begin with.
const (
	turnLock     = "turn"
	promptLock   = "prompt"
	deliveryLock = "delivery"
	waitLock     = "wait"
	removalLock  = "removal"
)

// Turn waits for the lock under which the turns of one agent change: hooks of one
// CLI may run at the same time. It is held for the time of a snapshot at most.
func (l Locks) Turn(ctx context.Context, session, agent string) (unlock func(), err error) {
	return l.ofAgent(ctx, "turns of ", turnLock, session, agent)
}

// Prompt waits for the lock under which one prompt is typed into the pane of an agent: the text and the Enter of two
// senders must not mix. It is held until the prompt has arrived, a minute at most.
func (l Locks) Prompt(ctx context.Context, session, agent string) (unlock func(), err error) {
	return l.ofAgent(ctx, "sending to ", promptLock, session, agent)
}

// Delivery waits for the lock under which somebody tells an agent how its children ended. It is taken before Prompt, and
// held until it is known whether that has arrived.
func (l Locks) Delivery(ctx context.Context, session, agent string) (unlock func(), err error) {
	return l.ofAgent(ctx, "delivery to ", deliveryLock, session, agent)
}

// Removal waits for the lock under which one agent is ended and its worktree taken away. It is held until that is done, so
// that nobody who does the same meets a half of it.
func (l Locks) Removal(ctx context.Context, session, agent string) (unlock func(), err error) {
	return l.ofAgent(ctx, "removal of ", removalLock, session, agent)
}

func (l Locks) ofAgent(ctx context.Context, what, kind, session, agent string) (unlock func(), err error) {
	if err := ValidTurnSession(session, agent); err != nil {
		return nil, err
	}
	return l.wait(ctx, what+session+"/"+agent, lockFile(kind, session, agent))
}

// lockFile names a lock of an agent; "-" cannot be part of either name, so no two agents share one.
func lockFile(kind, session, agent string) string {
	return kind + "-" + session + "-" + agent + ".lock"
}

// Awaiting notes, until release is called or the process ends, that an agent waits for others in a command of its own. Of two
// such commands the first is noted.
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

// Awaits are the agents that an agent waits for in a command that it runs now.
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

// DeliveryHeld tells whether somebody holds the Delivery lock of an agent, without ever waiting for it.
func (l Locks) DeliveryHeld(session, agent string) bool {
	return l.held(lockFile(deliveryLock, session, agent))
}

// TurnHeld tells since when somebody holds the Turn lock of an agent, without ever waiting for it: zero for nobody.
func (l Locks) TurnHeld(session, agent string) time.Time {
	file := lockFile(turnLock, session, agent)
	info, err := os.Stat(filepath.Join(l.Dir, file)) // the holder writes its pid there
	if err != nil || !l.held(file) {
		return time.Time{}
	}
	return info.ModTime()
}

func (l Locks) held(file string) bool {
	f, err := openLock(filepath.Join(l.Dir, file), os.O_RDONLY)
	if err != nil {
		return false
	}
	defer release(f)
	return errors.Is(disk.Lock(f.Fd(), unix.LOCK_SH|unix.LOCK_NB), unix.EWOULDBLOCK)
}

// wait takes the lock file for this process alone and writes its pid into it.
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

// holdShort notes the holder in its lock file and returns what gives the lock back. The note only helps whoever waits,
// so a full disk does not matter.
func holdShort(f *os.File) (unlock func()) {
	_, _ = f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	return sync.OnceFunc(func() {
		_ = f.Truncate(0)
		release(f)
	})
}

// try opens a lock file and takes it exclusively; the error is EWOULDBLOCK when it is held. The file has CLOEXEC set.
func (l Locks) try(file string) (*os.File, error) {
	if l.Dir == "" {
		return nil, errors.New("no folder for locks")
	}
	if err := disk.MakeDir(l.Dir); err != nil {
		return nil, err
	}
	path := filepath.Join(l.Dir, file)
	f, err := openLock(path, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, err
	}
	err = disk.Lock(f.Fd(), unix.LOCK_EX|unix.LOCK_NB)
	if err == nil && !stillAt(f, path) {
		err = unix.EWOULDBLOCK // somebody cleaned the folder in between: the next try opens the new file
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// openLock opens a lock file without waiting for the other end of a FIFO that somebody put in its place.
func openLock(path string, flags int) (*os.File, error) {
	f, err := os.OpenFile(path, flags|unix.O_NONBLOCK, 0o600)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		f.Close()
		return nil, &os.PathError{Op: "lock", Path: path, Err: errNotRegular}
	}
	return f, nil
}

// release gives the lock back at once, even if a child that is just being forked still has the descriptor.
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

// recordedPID reads the pid that the holder of a short lock wrote, 0 when there is none.
func recordedPID(path string) int {
	f, err := openLock(path, os.O_RDONLY)
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

var errNotRegular = errors.New("not a regular file")

// readRegular reads a file without blocking on a fifo that someone put in its place.
func readRegular(path string) ([]byte, error) { return readRegularInto(path, nil) }

// readRegularInto is readRegular in the space of buffer, where the content fits.
func readRegularInto(path string, buffer []byte) ([]byte, error) {
	fd, err := disk.OpenRaw(path, unix.O_NONBLOCK)
	if err != nil {
		return nil, err
	}
	var info unix.Stat_t
	if err := unix.Fstat(fd, &info); err != nil {
		return nil, errors.Join(&os.PathError{Op: "stat", Path: path, Err: err}, unix.Close(fd))
	}
	if info.Mode&unix.S_IFMT != unix.S_IFREG {
		return nil, errors.Join(errNotRegular, unix.Close(fd))
	}
	if int64(cap(buffer)) <= info.Size {
		buffer = make([]byte, 0, info.Size+512)
	}
	return disk.ReadRaw(fd, path, buffer)
}

// rawFile reads an open file that does not block.
type rawFile int

// ReadAt is that of io.ReaderAt, but for the path in an error.
func (fd rawFile) ReadAt(p []byte, at int64) (int, error) {
	for {
		n, err := unix.Pread(int(fd), p, at)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return 0, err
		case n < len(p):
			return n, io.EOF
		default:
			return n, nil
		}
	}
}
