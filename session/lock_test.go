package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// childLock holds the lock of a session until its input ends: LOCKS NAME.
func childLock(args []string) error {
	unlock, err := Locks{Dir: args[0]}.Session(context.Background(), args[1])
	if err != nil {
		return err
	}
	defer unlock()
	return goAhead()
}

// childUpdate updates a record many times: DIR LOCKS NAME AGENT COUNT.
func childUpdate(args []string) error {
	if err := goAhead(); err != nil {
		return err
	}
	st := Store{Dir: args[0], LocksDir: args[1]}
	for range number(args[4]) {
		ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
		_, err := st.Update(ctx, args[2], func(s *Session) error {
			s.Generation++
			s.Agent(args[3]).TurnHighWater++
			return nil
		})
		cancel()
		if err != nil {
			return err
		}
	}
	return nil
}

func TestTwentyProcessesLoseNoUpdate(t *testing.T) {
	const writers, each = 20, 10
	st := newStore(t)
	s := minimal("demo", "/r")
	for i := range writers {
		s.Agents = append(s.Agents, Agent{Name: fmt.Sprintf("agent_%d", i)})
	}
	mustSave(t, st, s)
	var running []*process
	for i := range writers {
		running = append(running, spawn(t, "update", st.Dir, st.LocksDir, "demo", fmt.Sprintf("agent_%d", i), fmt.Sprint(each)))
	}
	for _, p := range running {
		p.expect(t, "ready")
	}
	for _, p := range running {
		p.in.Close()
	}
	for _, p := range running {
		select {
		case <-p.done:
		case <-time.After(60 * time.Second):
			t.Fatal("a writer does not end")
		}
		if !p.ProcessState.Success() {
			t.Fatalf("%v: %s", p.ProcessState, p.stderr)
		}
	}
	got := mustLoad(t, st, "demo")
	if got.Generation != writers*each {
		t.Errorf("%d updates of %d arrived", got.Generation, writers*each)
	}
	for _, w := range got.Agents {
		if w.TurnHighWater != each {
			t.Errorf("%s: %d updates of %d arrived", w.Name, w.TurnHighWater, each)
		}
	}
}

func TestUpdatesWithinOneProcess(t *testing.T) {
	st := newStore(t)
	mustSave(t, st, minimal("demo", "/r"))
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if _, err := st.Update(within(t, deadline), "demo", func(s *Session) error { s.Generation++; return nil }); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if got := mustLoad(t, st, "demo"); got.Generation != 8 {
		t.Errorf("%d updates of 8 arrived", got.Generation)
	}
}

func TestAKilledHolderFreesTheLock(t *testing.T) {
	st := newStore(t)
	mustSave(t, st, minimal("demo", "/r"))
	p := spawn(t, "lock", st.LocksDir, "demo")
	p.expect(t, "ready")
	p.kill(t)
	mustSave(t, st, minimal("demo", "/new"))
	if leftovers := lockText(t, st, "demo"); leftovers != "" {
		t.Errorf("the lock file still names %q", leftovers)
	}
}

func TestAStoppedHolderIsNamed(t *testing.T) {
	st := newStore(t)
	mustSave(t, st, minimal("demo", "/r"))
	p := spawn(t, "lock", st.LocksDir, "demo")
	p.expect(t, "ready")
	p.signal(t, syscall.SIGSTOP)
	_, err := st.Update(&endsOnceAwaited{Context: context.Background(), err: context.DeadlineExceeded}, "demo", func(*Session) error { return nil })
	var locked *LockedError
	if !errors.As(err, &locked) {
		t.Fatalf("got %v", err)
	}
	if locked.PID != p.Process.Pid || locked.Path != filepath.Join(st.LocksDir, "session-demo.lock") ||
		!errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %+v, want process %d", locked, p.Process.Pid)
	}
	if want := fmt.Sprintf("session demo: locked by process %d", p.Process.Pid); err.Error() != want {
		t.Errorf("got %q, want %q", err, want)
	}
	mustLoad(t, st, "demo") // readers wait for nobody
	mustSave(t, st, minimal("other", "/r"))
	p.signal(t, syscall.SIGCONT)
	p.in.Close()
	mustSave(t, st, minimal("demo", "/new"))
}

// endsOnceAwaited is a context that ends when somebody waits for its end, and not before: by then he has found the lock held,
// however slow the machine is.
type endsOnceAwaited struct {
	context.Context
	err   error
	ended bool
}

func (c *endsOnceAwaited) Done() <-chan struct{} {
	c.ended = true
	done := make(chan struct{})
	close(done)
	return done
}

func (c *endsOnceAwaited) Err() error {
	if c.ended {
		return c.err
	}
	return nil
}

func TestWaitingEndsWithTheContext(t *testing.T) {
	locks := Locks{Dir: t.TempDir()}
	unlock, err := locks.Session(within(t, deadline), "demo")
	if err != nil {
		t.Fatal(err)
	}
	ctx := &endsOnceAwaited{Context: context.Background(), err: context.Canceled}
	_, err = locks.Session(ctx, "demo")
	var locked *LockedError
	if !errors.As(err, &locked) || locked.PID != os.Getpid() || !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	unlock()
	unlock() // again does nothing
	if _, err := locks.Session(ctx, "demo"); !errors.Is(err, context.Canceled) {
		t.Errorf("with an ended context: got %v", err)
	}
	again, err := locks.Session(within(t, deadline), "demo")
	if err != nil {
		t.Fatal(err)
	}
	unlock() // must not free the lock of the next one
	if _, err := locks.Session(&endsOnceAwaited{Context: context.Background(), err: context.Canceled}, "demo"); !errors.As(err, &locked) {
		t.Errorf("got %v", err)
	}
	again()
}

func TestAWaiterGetsTheLockWhenItIsFreed(t *testing.T) {
	locks := Locks{Dir: t.TempDir()}
	unlock, err := locks.Session(within(t, deadline), "demo")
	if err != nil {
		t.Fatal(err)
	}
	var freed atomic.Bool
	time.AfterFunc(50*time.Millisecond, func() {
		freed.Store(true)
		unlock()
	})
	again, err := locks.Session(within(t, deadline), "demo")
	if err != nil {
		t.Fatal(err)
	}
	again()
	if !freed.Load() {
		t.Error("two held the lock at once")
	}
}

func TestRepositoryLock(t *testing.T) {
	locks := Locks{Dir: filepath.Join(t.TempDir(), "locks")}
	one, two := mkdir(t, t.TempDir(), "app", ".git"), mkdir(t, t.TempDir(), "app", ".git")
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(filepath.Dir(one), link); err != nil {
		t.Fatal(err)
	}
	unlock, err := locks.Repository(within(t, deadline), one)
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	for _, same := range []string{one, one + "/", filepath.Join(link, ".git")} {
		_, err := locks.Repository(&endsOnceAwaited{Context: context.Background(), err: context.Canceled}, same)
		var locked *LockedError
		if !errors.As(err, &locked) || locked.PID != os.Getpid() || !strings.Contains(err.Error(), "repository "+evaluated(t, one)) {
			t.Errorf("%s: got %v", same, err)
		}
	}
	other, err := locks.Repository(within(t, deadline), two) // of the same name elsewhere
	if err != nil {
		t.Fatal(err)
	}
	other()
}

// A lock file cleaned away while it is held must not be locked by two for longer than it takes to look again.
func TestALockFileThatIsReplacedIsNotTrusted(t *testing.T) {
	locks := Locks{Dir: t.TempDir()}
	path := filepath.Join(locks.Dir, "session-demo.lock")
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if !stillAt(f, path) {
		t.Error("not recognised")
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if stillAt(f, path) {
		t.Error("a removed file is trusted")
	}
	unlock, err := locks.Session(within(t, deadline), "demo")
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	if stillAt(f, path) {
		t.Error("a replaced file is trusted")
	}
}

func TestLocksAreFilesOfTheirOwnAndStay(t *testing.T) {
	st := newStore(t)
	mustSave(t, st, minimal("demo", "/r"))
	if err := st.Delete(within(t, deadline), "demo", nil); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(st.LocksDir, "session-demo.lock"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got %v, %v", info, err)
	}
	if info, err := os.Stat(st.LocksDir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("got %v, %v", info, err)
	}
}

func TestLocksRefuseWhatTheyCannotDo(t *testing.T) {
	ctx := within(t, deadline)
	if _, err := (Locks{}).Session(ctx, "demo"); err == nil {
		t.Error("locked without a folder")
	}
	locks := Locks{Dir: t.TempDir()}
	var bad *NameError
	if _, err := locks.Session(ctx, "../demo"); !errors.As(err, &bad) {
		t.Errorf("got %v", err)
	}
	file := filepath.Join(locks.Dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := (Locks{Dir: filepath.Join(file, "locks")}).Session(ctx, "demo"); !errors.Is(err, syscall.ENOTDIR) {
		t.Errorf("got %v", err)
	}
}

func lockText(t *testing.T, st Store, name string) string {
	t.Helper()
	f, err := os.Open(filepath.Join(st.LocksDir, "session-"+name+".lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	text, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func evaluated(t *testing.T, path string) string {
	t.Helper()
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		t.Fatal(err)
	}
	return real
}

func TestDeliveryHeldOnlyLooks(t *testing.T) {
	l := Locks{Dir: t.TempDir()}
	if l.DeliveryHeld("shop", "one") {
		t.Error("held, and nobody ever took it")
	}
	unlock, err := l.Delivery(t.Context(), "shop", "one")
	if err != nil {
		t.Fatal(err)
	}
	if !l.DeliveryHeld("shop", "one") || l.DeliveryHeld("shop", "two") {
		t.Error("the lock of one is held, and no other")
	}
	if other, err := l.Prompt(t.Context(), "shop", "one"); err != nil {
		t.Errorf("typing is another lock: %v", err)
	} else {
		other()
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	var locked *LockedError
	if _, err := l.Delivery(ctx, "shop", "one"); !errors.As(err, &locked) || locked.PID != os.Getpid() {
		t.Errorf("got %v", err)
	}
	unlock()
	if l.DeliveryHeld("shop", "one") {
		t.Error("held, and it was given back")
	}
	if _, err := l.Delivery(t.Context(), "../shop", "one"); err == nil {
		t.Error("a name that is none")
	}
}

// TestTurnHeldSince: who takes the lock later has it since later.
func TestTurnHeldSince(t *testing.T) {
	l := Locks{Dir: t.TempDir()}
	if since := l.TurnHeld("shop", "one"); !since.IsZero() {
		t.Errorf("held by nobody since %v", since)
	}
	for range 2 {
		before := time.Now().Add(-time.Second) // file systems round
		unlock, err := l.Turn(t.Context(), "shop", "one")
		if err != nil {
			t.Fatal(err)
		}
		if since := l.TurnHeld("shop", "one"); since.Before(before) || since.After(time.Now().Add(time.Second)) {
			t.Errorf("held since %v, it was taken after %v", since, before)
		}
		unlock()
		if since := l.TurnHeld("shop", "one"); !since.IsZero() {
			t.Errorf("given back, held since %v", since)
		}
		old := time.Now().Add(-time.Hour)
		if err := os.Chtimes(filepath.Join(l.Dir, lockFile(turnLock, "shop", "one")), old, old); err != nil {
			t.Fatal(err)
		}
	}
}

// The lock files of a session that is gone go, but for one that is held; those of others stay, also where an agent has its name.
func TestForget(t *testing.T) {
	l := Locks{Dir: t.TempDir()}
	ctx := t.Context()
	taken := func(unlock func(), err error) func() {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return unlock
	}
	for _, agent := range []string{"a", "shop"} {
		for _, name := range []string{"shop", "shop_2", "other"} {
			taken(l.Turn(ctx, name, agent))()
			taken(l.Prompt(ctx, name, agent))()
			taken(l.Session(ctx, name))()
		}
	}
	taken(l.Repository(ctx, t.TempDir()))()
	taken(l.Ports(ctx))()
	count := func() int {
		entries, err := os.ReadDir(l.Dir)
		if err != nil {
			t.Fatal(err)
		}
		return len(entries)
	}
	all := count()
	unlock := taken(l.Turn(ctx, "shop", "a"))
	waited := make(chan func())
	go func() {
		unlock, err := l.Turn(ctx, "shop", "a")
		if err != nil {
			t.Error(err)
		}
		waited <- unlock
	}()
	l.Forget("shop")
	if left := count(); left != all-4 {
		t.Errorf("%d of %d files are left while one is held", left, all)
	}
	unlock()
	(<-waited)()
	l.Forget("shop")
	if left := count(); left != all-5 {
		t.Errorf("%d of %d files are left", left, all)
	}
}
