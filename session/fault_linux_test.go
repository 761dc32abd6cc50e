package session

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// Every system call of a save fails once, and kills once.
func TestFaultAtEveryStepOfASave(t *testing.T) {
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("strace is not installed")
	}
	probe := exec.CommandContext(within(t, deadline), strace, "-o", os.DevNull, "true")
	probe.Dir, probe.Env, probe.WaitDelay = t.TempDir(), os.Environ(), deadline
	if out, err := probe.CombinedOutput(); err != nil {
		t.Skipf("tracing is not allowed here: %v: %s", err, out)
	}
	type step struct {
		call string
		nth  int
		want string // which record is there afterwards
		how  string // of the save
	}
	var tests []step
	for _, how := range []string{"save", "update", "soon"} {
		tests = append(tests,
			step{"write", 1, "/old", how}, // of the temporary file
			step{"fsync", 1, "/old", how}, // of the temporary file
			step{"renameat", 1, "/old", how})
		if how != "soon" {
			tests = append(tests, step{"fsync", 2, "/new", how}) // of the folder, after the rename
		}
	}
	for _, tt := range tests {
		for _, fault := range []string{"signal=KILL", "error=EIO", "error=ENOSPC"} {
			st := newStore(t)
			mustSave(t, st, minimal("demo", "/old"))
			inject := fmt.Sprintf("inject=%s:%s:when=%d", tt.call, fault, tt.nth)
			out, err := traced(t, strace, inject, "save", st.Dir, st.LocksDir, tt.how)
			if err == nil {
				t.Errorf("%s of %s: saved", inject, tt.how)
			}
			killed := fault == "signal=KILL"
			if reported := strings.Contains(out, "session demo: "); reported == killed {
				t.Errorf("%s of %s: got %v, %q", inject, tt.how, err, out)
			}
			want := tt.want
			if killed && tt.call == "renameat" {
				want = "" // the signal comes with the call: the rename may be done or not
			}
			if got := mustLoad(t, st, "demo").RepoPath; want != "" && got != want || got != "/old" && got != "/new" {
				t.Errorf("%s of %s: got the record of %s, want %s", inject, tt.how, got, want)
			}
			if left := list(t, st.Dir); !killed && !slices.Equal(left, []string{"demo.json"}) {
				t.Errorf("%s of %s: left behind: %v", inject, tt.how, left)
			}
			mustSave(t, st, minimal("demo", "/again"))
		}
	}
}

// traced runs a child under strace and returns what it wrote to standard error.
func traced(t *testing.T, strace, inject, mode string, args ...string) (string, error) {
	t.Helper()
	call, _, _ := strings.Cut(strings.TrimPrefix(inject, "inject="), ":")
	cmd := exec.CommandContext(within(t, 2*deadline), strace,
		append([]string{"-f", "-q", "-o", os.DevNull, "-e", "trace=" + call, "-e", inject, os.Args[0]}, args...)...)
	cmd.Dir, cmd.WaitDelay = t.TempDir(), deadline
	cmd.Env = append(os.Environ(), childMode+"="+mode)
	var out strings.Builder
	cmd.Stderr = &out
	err := cmd.Run()
	return out.String(), err
}

func TestAFullOrReadOnlyDiskLeavesTheOldRecord(t *testing.T) {
	st := newStore(t)
	mkdir(t, st.Dir)
	if err := unix.Mount("tmpfs", st.Dir, "tmpfs", 0, "size=64k"); err != nil {
		t.Skipf("mounting is not allowed here: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(st.Dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	mustSave(t, st, minimal("demo", "/old"))
	big := minimal("demo", "/new")
	big.Agents = []Agent{{Name: "a", Command: []string{strings.Repeat("x", 100<<10)}}}
	expect := func(what string, err, want error) {
		t.Helper()
		if !errors.Is(err, want) {
			t.Errorf("%s: got %v, want %v", what, err, want)
		}
		if s := mustLoad(t, st, "demo"); s.RepoPath != "/old" {
			t.Errorf("%s: got %v", what, s)
		}
		if got := list(t, st.Dir); !slices.Equal(got, []string{"demo.json"}) {
			t.Errorf("%s: left behind: %v", what, got)
		}
	}
	expect("full disk", st.Save(within(t, deadline), big), syscall.ENOSPC)
	if err := unix.Mount("", st.Dir, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	expect("read-only disk", st.Save(within(t, deadline), minimal("demo", "/new")), syscall.EROFS)
	expect("read-only disk", st.Delete(within(t, deadline), "demo", nil), syscall.EROFS)
}

// A thread of another user stands in for the owner of somebody else's folder: root passes every permission bit.
func TestForeignFoldersAreRefused(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can become another user")
	}
	st := newStore(t)
	mustSave(t, st, minimal("demo", "/old"))
	for dir := filepath.Dir(st.Dir); dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	chmod := func(path string, mode os.FileMode) {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	chmod(st.Dir, 0o555)
	ctx := within(t, deadline)
	asNobody(t, func() {
		if err := st.Save(ctx, minimal("demo", "/new")); !errors.Is(err, os.ErrPermission) {
			t.Errorf("locks of another: got %v", err)
		}
	})
	for dir := st.LocksDir; dir != filepath.Dir(filepath.Dir(st.Dir)); dir = filepath.Dir(dir) {
		chmod(dir, 0o777)
	}
	chmod(filepath.Join(st.LocksDir, "session-demo.lock"), 0o666)
	asNobody(t, func() {
		if err := st.Create(ctx, minimal("other", "/new"), nil); !errors.Is(err, os.ErrPermission) {
			t.Errorf("sessions of another: got %v", err)
		}
		if err := st.Save(ctx, minimal("demo", "/new")); !errors.Is(err, os.ErrPermission) {
			t.Errorf("record of another: got %v", err)
		}
		if s, err := st.Load("demo"); s != nil || !errors.Is(err, os.ErrPermission) || IsUnreadable(err) {
			t.Errorf("unreadable is not corrupt: got %v, %v", s, err)
		}
		if to, err := st.SetAsideCorrupt("demo"); to != "" || !errors.Is(err, os.ErrPermission) {
			t.Errorf("set aside: got %q, %v", to, err)
		}
	})
	if s := mustLoad(t, st, "demo"); s.RepoPath != "/old" {
		t.Errorf("got %v", s)
	}
}

// asNobody runs do in a thread that reaches files as user 65534, and that ends with it.
func asNobody(t *testing.T, do func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // and never unlocked: the thread must not serve anyone else
		if err := unix.Setfsuid(65534); err != nil {
			t.Error(err)
			return
		}
		do()
	}()
	<-done
}
