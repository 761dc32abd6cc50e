package session

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"paw/config/disk"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

func TestFilesArePrivate(t *testing.T) {
	st := newStore(t)
	for _, mode := range []os.FileMode{0, 0o644} { // new, and over one that others could read
		if mode != 0 {
			if err := os.Chmod(filepath.Join(st.Dir, "demo.json"), mode); err != nil {
				t.Fatal(err)
			}
		}
		mustSave(t, st, minimal("demo", "/r"))
		info, err := os.Stat(filepath.Join(st.Dir, "demo.json"))
		if err != nil || info.Mode() != 0o600 {
			t.Errorf("got %v, %v", info.Mode(), err)
		}
	}
	for _, dir := range []string{st.Dir, filepath.Dir(st.Dir), st.LocksDir} {
		if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s: got %v, %v", dir, info.Mode(), err)
		}
	}
}

// Some keep their files in a repository of dotfiles and link them.
func TestSaveWritesThroughSymlinks(t *testing.T) {
	for what, link := range map[string]string{
		"absolute": "{target}", "relative": "../dotfiles/demo.json", "chain": "hop", "dangling": "../dotfiles/new.json",
		"by a linked folder": "folder/../dotfiles/demo.json",
	} {
		st := newStore(t)
		dotfiles := mkdir(t, filepath.Dir(st.Dir), "dotfiles")
		mkdir(t, st.Dir)
		other := mkdir(t, filepath.Dir(st.Dir), "other")
		target := filepath.Join(dotfiles, "demo.json")
		symlink(t, "../dotfiles/demo.json", filepath.Join(st.Dir, "hop"))
		symlink(t, other, filepath.Join(st.Dir, "folder"))
		if what == "dangling" {
			target = filepath.Join(dotfiles, "new.json")
		} else if err := os.WriteFile(target, encoded(t, minimal("demo", "/old")), 0o644); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(st.Dir, "demo.json")
		symlink(t, strings.ReplaceAll(link, "{target}", target), path)
		litter := filepath.Join(dotfiles, "."+filepath.Base(target)+"123")
		writeAged(t, litter, time.Hour)

		mustSave(t, st, minimal("demo", "/new"))
		if info, err := os.Lstat(path); err != nil || info.Mode()&os.ModeSymlink == 0 {
			t.Errorf("%s: the link is gone: %v", what, err)
		}
		if got, err := os.ReadFile(target); err != nil || !strings.Contains(string(got), "/new") {
			t.Errorf("%s: got %q, %v", what, got, err)
		}
		if s := mustLoad(t, st, "demo"); s.RepoPath != "/new" {
			t.Errorf("%s: got %v", what, s)
		}
		if got := list(t, dotfiles); !slices.Equal(got, []string{filepath.Base(target)}) {
			t.Errorf("%s: beside the target: %v", what, got)
		}
		if err := st.Delete(within(t, deadline), "demo", nil); err != nil {
			t.Fatal(err)
		}
		if s, err := st.Load("demo"); s != nil || err != nil {
			t.Errorf("%s: got %v, %v", what, s, err)
		}
		if _, err := os.Stat(target); err != nil {
			t.Errorf("%s: the file behind the link is gone: %v", what, err)
		}
	}
}

func TestALoopOfLinksIsAnError(t *testing.T) {
	st := newStore(t)
	mkdir(t, st.Dir)
	symlink(t, "demo.json", filepath.Join(st.Dir, "demo.json"))
	if _, err := st.Load("demo"); !errors.Is(err, syscall.ELOOP) {
		t.Errorf("got %v", err)
	}
	if err := st.Save(within(t, deadline), minimal("demo", "/r")); !errors.Is(err, syscall.ELOOP) {
		t.Errorf("got %v", err)
	}
	if _, err := disk.FollowLinks(filepath.Join(st.Dir, "demo.json")); !errors.Is(err, syscall.ELOOP) {
		t.Errorf("got %v", err)
	}
}

func TestWhatIsNoFileIsCorruptAndNeverBlocks(t *testing.T) {
	st := newStore(t)
	mkdir(t, st.Dir, "folder.json")
	if err := unix.Mkfifo(filepath.Join(st.Dir, "fifo.json"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"folder", "fifo"} {
		var corrupt *CorruptError
		if _, err := st.Load(name); !errors.As(err, &corrupt) {
			t.Errorf("%s: got %v", name, err)
		}
		if err := st.Save(within(t, deadline), minimal(name, "/r")); !errors.As(err, &corrupt) {
			t.Errorf("%s: got %v", name, err)
		}
		if to, err := st.SetAsideCorrupt(name); to == "" || err != nil {
			t.Errorf("%s: got %q, %v", name, to, err)
		}
		mustSave(t, st, minimal(name, "/r"))
	}
}

func TestOnlyOldLitterOfTheSameFileIsSwept(t *testing.T) {
	st := newStore(t)
	mustSave(t, st, minimal("demo", "/r"))
	swept := map[string]time.Duration{".demo.json1": time.Hour, ".demo.json7234567890123456789": 61 * time.Second, ".demo.json3": -2 * time.Hour}
	kept := map[string]time.Duration{
		".demo.json4": 0, ".demo.json5": 50 * time.Second, ".demo.json": time.Hour, ".demo.json6x": time.Hour, ".demo.json-7": time.Hour,
		"demo.json8": time.Hour, ".demo_2.json9": time.Hour, ".xdemo.json10": time.Hour, "demo.json.corrupt-11": time.Hour,
	}
	for _, files := range []map[string]time.Duration{swept, kept} {
		for name, age := range files {
			writeAged(t, filepath.Join(st.Dir, name), age)
		}
	}
	mkdir(t, st.Dir, ".demo.json12")
	symlink(t, "demo.json", filepath.Join(st.Dir, ".demo.json13"))
	mustSave(t, st, minimal("demo", "/new"))
	want := []string{"demo.json", ".demo.json12", ".demo.json13"}
	for name := range kept {
		want = append(want, name)
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, list(t, st.Dir)); diff != "" {
		t.Error(diff)
	}
}

// updates are the ways in which a record is changed, by the word for them in the arguments of a child.
var updates = map[string]func(Store, context.Context, string, func(*Session) error) (*Session, error){
	"update": Store.Update, "soon": Store.UpdateSoon,
}

// childSaveLoop saves ever newer records until it is killed: DIR LOCKS, and one of updates.
func childSaveLoop(args []string) error {
	st := Store{Dir: args[0], LocksDir: args[1]}
	for {
		_, err := updates[args[2]](st, context.Background(), "demo", func(s *Session) error {
			fill(s, s.Generation+1)
			return nil
		})
		if err != nil {
			return err
		}
	}
}

// fill makes a record whose every part tells its generation, long enough for several pages.
func fill(s *Session, generation int) {
	s.Generation = generation
	s.Agents = nil
	for i := range 1 + generation%7 {
		mark := fmt.Sprint(generation)
		s.Agents = append(s.Agents, Agent{
			Name: fmt.Sprintf("agent_%d", i), TurnHighWater: generation, Command: []string{strings.Repeat(mark+" ", 400)},
		})
	}
}

func mustBeWhole(t *testing.T, st Store) int {
	t.Helper()
	s := mustLoad(t, st, "demo")
	want := minimal("demo", "/r")
	fill(want, s.Generation)
	want.Version = Version
	if diff := cmp.Diff(want, s); diff != "" {
		t.Fatal(diff)
	}
	return s.Generation
}

func TestKilledAnywhereInASaveTheRecordIsOldOrNew(t *testing.T) {
	for name := range updates {
		t.Run(name, func(t *testing.T) { killedInASave(t, name) })
	}
}

// killedInASave kills a process that changes a record again and again in one of updates.
func killedInASave(t *testing.T, how string) {
	st := newStore(t)
	first := minimal("demo", "/r")
	fill(first, 1)
	mustSave(t, st, first)
	last, littered := 1, 0
	for range 40 {
		p := spawn(t, "save-loop", st.Dir, st.LocksDir, how)
		waitFor(t, "the first save", func() bool { return mustBeWhole(t, st) > last })
		for range rand.IntN(40) {
			mustBeWhole(t, st)
		}
		before := mustBeWhole(t, st)
		p.kill(t)
		after := mustBeWhole(t, st)
		if after < before {
			t.Fatalf("generation %d after %d", after, before)
		}
		last = after
		littered += len(list(t, st.Dir)) - 1
		for _, name := range list(t, st.Dir) {
			if name != "demo.json" {
				age(t, filepath.Join(st.Dir, name), time.Hour)
			}
		}
		if _, err := st.Update(within(t, deadline), "demo", func(s *Session) error { fill(s, s.Generation+1); return nil }); err != nil {
			t.Fatal(err)
		}
		if got := list(t, st.Dir); !slices.Equal(got, []string{"demo.json"}) {
			t.Fatalf("not swept: %v", got)
		}
		last++
	}
	t.Logf("%d saves, %d of 40 kills in the middle of one", last, littered)
}

// childSave replaces a record: DIR LOCKS, and "save" or one of updates. It stays on one thread, since strace counts the
// calls of each by itself.
func childSave(args []string) error {
	runtime.LockOSThread()
	st := Store{Dir: args[0], LocksDir: args[1]}
	if args[2] == "save" {
		return st.Save(context.Background(), minimal("demo", "/new"))
	}
	_, err := updates[args[2]](st, context.Background(), "demo", func(s *Session) error {
		s.RepoPath = "/new"
		return nil
	})
	return err
}

// childSmallFiles saves where no file may grow beyond 64 bytes: DIR LOCKS.
func childSmallFiles(args []string) error {
	signal.Ignore(unix.SIGXFSZ)
	limit := unix.Rlimit{Cur: 64, Max: 64}
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	st := Store{Dir: args[0], LocksDir: args[1]}
	err := st.Save(context.Background(), minimal("demo", "/new"))
	if !errors.Is(err, syscall.EFBIG) {
		return fmt.Errorf("want EFBIG, got: %w", err)
	}
	fmt.Println("refused")
	return nil
}

func TestASaveThatDoesNotFitLeavesTheOldRecord(t *testing.T) {
	st := newStore(t)
	mustSave(t, st, minimal("demo", "/old"))
	p := spawn(t, "small-files", st.Dir, st.LocksDir)
	p.expect(t, "refused")
	p.wait(t)
	if s := mustLoad(t, st, "demo"); s.RepoPath != "/old" {
		t.Errorf("got %v", s)
	}
	if got := list(t, st.Dir); !slices.Equal(got, []string{"demo.json"}) {
		t.Errorf("left behind: %v", got)
	}
}

func list(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, entry := range entries {
		out = append(out, entry.Name())
	}
	slices.Sort(out)
	return out
}

func symlink(t *testing.T, to, path string) {
	t.Helper()
	if err := os.Symlink(to, path); err != nil {
		t.Fatal(err)
	}
}

func writeAged(t *testing.T, path string, old time.Duration) {
	t.Helper()
	if err := os.WriteFile(path, []byte("litter"), 0o600); err != nil {
		t.Fatal(err)
	}
	age(t, path, old)
}

func age(t *testing.T, path string, old time.Duration) {
	t.Helper()
	if err := os.Chtimes(path, time.Now(), time.Now().Add(-old)); err != nil {
		t.Fatal(err)
	}
}

func encoded(t *testing.T, s *Session) []byte {
	t.Helper()
	s.Version = Version
	data, err := encode(s)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
