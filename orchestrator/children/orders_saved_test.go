package children

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"paw/session"
)

// savedFamily is a family right after its beginning: its files, and what is known of its CLIs.
type savedFamily struct {
	dir   string // in which its files have paths
	files map[string]savedFile
	clock time.Time
	clis  map[string]playedCLI
}

type savedFile struct {
	mode    fs.FileMode
	content []byte
}

// savedFamilies are by the names of the children.
var savedFamilies = struct {
	sync.Mutex
	of map[string]*savedFamily
}{of: map[string]*savedFamily{}}

// saveFamily keeps what f has on disk but the locks of agents, which name who holds them.
func saveFamily(f *family) *savedFamily {
	f.tb.Helper()
	saved := &savedFamily{dir: f.p.Paths.StateDir, files: map[string]savedFile{}, clock: f.clock, clis: map[string]playedCLI{}}
	f.must(filepath.WalkDir(saved.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || strings.HasPrefix(d.Name(), "agent-") && filepath.Dir(path) == f.p.Locks.Dir {
			return err
		}
		name, _ := filepath.Rel(saved.dir, path)
		info, err := d.Info()
		one := savedFile{mode: info.Mode()}
		if err == nil && !d.IsDir() {
			one.content, err = os.ReadFile(path)
		}
		saved.files[name] = one
		return err
	}))
	for name, cli := range f.clis {
		saved.clis[name] = *cli
	}
	return saved
}

// restore makes f a family that has begun: with the same files, and with CLIs that run.
func (saved *savedFamily) restore(f *family) {
	f.tb.Helper()
	dir := f.p.Paths.StateDir
	for _, name := range slices.Sorted(maps.Keys(saved.files)) {
		one, path := saved.files[name], filepath.Join(dir, name)
		if one.mode.IsDir() {
			f.must(os.MkdirAll(path, one.mode.Perm()))
		} else {
			f.must(os.WriteFile(path, bytes.ReplaceAll(one.content, []byte(saved.dir), []byte(dir)), one.mode.Perm()))
		}
	}
	f.clock = saved.clock
	for name, cli := range saved.clis {
		holder, err := session.ThisProcess()
		f.must(err)
		holder.Generation, holder.At = cli.generation, cli.launched
		cli.lock, err = f.p.Locks.HoldAgent(familySession, name, holder)
		f.must(err)
		f.clis[name] = &cli
	}
}

// TestASavedFamilyIsLikeOneMadeAnew compares all files but those that name times of the machine or ids that are random.
func TestASavedFamilyIsLikeOneMadeAnew(t *testing.T) {
	newFamily(t, "c")
	again, anew := newFamily(t, "c"), playedFamily(t, []string{"c"})
	anew.makeAnew()
	mine, its := filesOf(anew), filesOf(again)
	for _, name := range slices.Sorted(maps.Keys(mine)) {
		if got, there := its[name]; !there || got != mine[name] {
			t.Errorf("%s: there: %t\n%q, made anew\n%q", name, there, got, mine[name])
		}
		delete(its, name)
	}
	if len(its) > 0 {
		t.Errorf("more files: %q", slices.Sorted(maps.Keys(its)))
	}
	state := func(f *family) string { return fmt.Sprintf("%s: %+v", f.clock, f.facts().State()) }
	if got, want := state(again), state(anew); got != want {
		t.Errorf("%s\nmade anew\n%s", got, want)
	}
}

var varies = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f-]{27}`)

// filesOf are all files of a family, as they would be in another folder.
func filesOf(f *family) map[string]string {
	f.tb.Helper()
	found := map[string]string{}
	saved := saveFamily(f)
	for name, one := range saved.files {
		content := strings.ReplaceAll(string(one.content), saved.dir, "DIR")
		found[name] = one.mode.String() + varies.ReplaceAllString(content, "ID")
	}
	return found
}

// shortestDir is a folder on a file system where a sync costs nothing, if there is one.
func shortestDir(tb testing.TB) string {
	dir, err := os.MkdirTemp("/dev/shm", "paw")
	if err != nil {
		return tb.TempDir()
	}
	tb.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// templateRepository is a repository with one empty commit and one worktree.
var templateRepository = sync.OnceValue(func() (dir string) {
	dir, err := os.MkdirTemp("", "paw")
	if err != nil {
		panic(err)
	}
	for _, args := range [][]string{
		{"init", "-q", "--template=", "r"}, {"-C", "r", "commit", "-q", "--allow-empty", "-m", "first"}, {"-C", "r", "worktree", "add", "-q", "../w"},
	} {
		git := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@localhost"}, args...)...)
		git.Dir = dir
		if out, err := git.CombinedOutput(); err != nil {
			panic(fmt.Sprintf("git %q: %v: %s", args, err, out))
		}
	}
	return dir
})

// smallRepository makes a repository below dir, with a worktree that all agents share: they do nothing there.
func smallRepository(tb testing.TB, dir string) (repository, shared string) {
	tb.Helper()
	if err := os.CopyFS(dir, os.DirFS(templateRepository())); err != nil {
		tb.Fatal(err)
	}
	repository, shared = filepath.Join(dir, "r"), filepath.Join(dir, "w")
	admin := filepath.Join(repository, ".git/worktrees/w")
	for path, text := range map[string]string{filepath.Join(shared, ".git"): "gitdir: " + admin, filepath.Join(admin, "gitdir"): shared + "/.git"} {
		if err := os.WriteFile(path, []byte(text+"\n"), 0o600); err != nil {
			tb.Fatal(err)
		}
	}
	return repository, shared
}
