package worktree

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"paw/worktree/git"
)

const shotRef = "refs/paw/s_agent/turn/1"

// shot takes a snapshot and checks that nothing else changed: files, times,
// index, HEAD, what status says, and other refs.
func (w *world) shot(p Plan) Snapshot {
	w.t.Helper()
	admin := gitIn(w.t, p.Path, "rev-parse", "--absolute-git-dir")
	world := func() map[string]string {
		all := tree(w.t, p.Path)
		for name, content := range tree(w.t, admin) {
			all["admin/"+name] = content
		}
		all["refs"] = w.git("for-each-ref", "refs/heads", "refs/tags")
		all["status"] = gitIn(w.t, p.Path, "status", "--porcelain=v2")
		return all
	}
	before := world()
	s, err := w.m.Snapshot(w.t.Context(), p.Path, shotRef, "turn 1\n")
	if err != nil {
		w.t.Fatal(err)
	}
	if diff := cmp.Diff(before, world()); diff != "" {
		w.t.Errorf("the snapshot changed\n%s", diff)
	}
	if got := w.git("rev-parse", shotRef); got != s.Commit {
		w.t.Errorf("%s is %s, not %s", shotRef, got, s.Commit)
	}
	return s
}

// files are the paths and contents of a commit.
func (w *world) files(commit string) map[string]string {
	w.t.Helper()
	found := map[string]string{}
	for _, name := range nulSeparated(w.git("ls-tree", "-r", "-z", "--name-only", commit)) {
		found[name], _ = git.Repo{Dir: w.Dir}.Output(w.t.Context(), "show", commit+":"+name)
	}
	return found
}

func TestSnapshotOfCleanWorktreeIsHead(t *testing.T) {
	w := newWorld(t)
	p := w.made("agent")
	if got := w.shot(p); got.Commit != w.base || len(got.NotSaved) != 0 {
		t.Errorf("got %+v", got)
	}
}

func TestSnapshotHoldsEverythingButIgnoredFiles(t *testing.T) {
	w, p := prepared(t, "*.log\n")
	writeFile(t, filepath.Join(p.Path, "a.txt"), "unstaged\n")
	writeFile(t, filepath.Join(p.Path, "staged"), "staged\n")
	gitIn(t, p.Path, "add", "staged")
	writeFile(t, filepath.Join(p.Path, "new dir/ü"), "untracked\n")
	writeFile(t, filepath.Join(p.Path, "x.log"), "ignored\n")
	os.Remove(filepath.Join(p.Path, "dir/b.txt"))
	os.Symlink("nowhere", filepath.Join(p.Path, "link"))
	os.Chmod(filepath.Join(p.Path, "staged"), 0o755)
	got := w.shot(p)
	want := map[string]string{".gitignore": "*.log\n", "a.txt": "unstaged\n", "staged": "staged\n", "new dir/ü": "untracked\n", "link": "nowhere"}
	if diff := cmp.Diff(want, w.files(got.Commit)); diff != "" {
		t.Error(diff)
	}
	if modes := w.git("ls-tree", got.Commit, "staged", "link"); !strings.Contains(modes, "100755") || !strings.Contains(modes, "120000") {
		t.Errorf("modes are %q", modes)
	}
	if parent := w.git("rev-parse", got.Commit+"^"); parent != w.base {
		t.Errorf("parent is %s", parent)
	}
	if message := w.git("log", "-1", "--format=%an %s", got.Commit); message != "paw turn 1" {
		t.Errorf("message is %q", message)
	}
}

func TestSnapshotSurvivesGarbageCollection(t *testing.T) {
	w := newWorld(t)
	p := w.made("agent")
	writeFile(t, filepath.Join(p.Path, "new"), "precious\n")
	got := w.shot(p)
	w.git("gc", "--quiet", "--prune=now")
	if w.files(got.Commit)["new"] != "precious\n" {
		t.Error("the file is gone")
	}
}

func TestSnapshotDuringConflict(t *testing.T) {
	w := newWorld(t)
	p := w.made("agent")
	w.write("a.txt", "main\n")
	w.commit("main")
	writeFile(t, filepath.Join(p.Path, "a.txt"), "agent\n")
	gitIn(t, p.Path, "commit", "-qam", "agent")
	if in(p.Path).Run(t.Context(), "merge", "-q", "main") == nil {
		t.Fatal("no conflict")
	}
	if got := w.files(w.shot(p).Commit)["a.txt"]; !strings.Contains(got, "<<<<<<<") {
		t.Errorf("a.txt is %q", got)
	}
}

func TestSnapshotWhileTheIndexIsLocked(t *testing.T) {
	w := newWorld(t)
	p := w.made("agent")
	writeFile(t, filepath.Join(w.m.Repository.CommonDir, "worktrees/agent/index.lock"), "half")
	writeFile(t, filepath.Join(p.Path, "new"), "x\n")
	if w.files(w.shot(p).Commit)["new"] != "x\n" {
		t.Error("the file is not in it")
	}
}

func TestSnapshotSeesEditOfSameSizeInTheSameInstant(t *testing.T) {
	w := newWorld(t)
	w.git("config", "core.trustctime", "false")
	p := w.made("agent")
	then := time.Now().Add(-time.Hour).Truncate(time.Second)
	file := filepath.Join(p.Path, "a.txt")
	index := filepath.Join(w.m.Repository.CommonDir, "worktrees/agent/index")
	os.Chtimes(file, then, then)
	gitIn(t, p.Path, "update-index", "--refresh")
	os.Chtimes(index, then, then)
	writeFile(t, file, "ONE\n")
	os.Chtimes(file, then, then)
	if got := w.files(w.shot(p).Commit)["a.txt"]; got != "ONE\n" {
		t.Errorf("a.txt is %q", got)
	}
}

func TestSnapshotSeesHiddenEdits(t *testing.T) {
	w := newWorld(t)
	p := w.made("agent")
	gitIn(t, p.Path, "update-index", "--assume-unchanged", "a.txt")
	gitIn(t, p.Path, "update-index", "--skip-worktree", "dir/b.txt")
	writeFile(t, filepath.Join(p.Path, "a.txt"), "hidden\n")
	writeFile(t, filepath.Join(p.Path, "dir/b.txt"), "hidden\n")
	got := w.files(w.shot(p).Commit)
	if got["a.txt"] != "hidden\n" || got["dir/b.txt"] != "hidden\n" {
		t.Errorf("got %q", got)
	}
}

func TestSnapshotOfSparseCheckoutKeepsWhatIsLeftOut(t *testing.T) {
	w := newWorld(t)
	p := w.made("agent")
	gitIn(t, p.Path, "sparse-checkout", "set", "--cone", "nothing")
	if exists(filepath.Join(p.Path, "dir/b.txt")) {
		t.Fatal("it is not sparse")
	}
	writeFile(t, filepath.Join(p.Path, "new"), "x\n")
	writeFile(t, filepath.Join(p.Path, "other/new"), "y\n")
	got := w.files(w.shot(p).Commit)
	if got["dir/b.txt"] != "two\n" || got["new"] != "x\n" || got["other/new"] != "y\n" {
		t.Errorf("got %q", got)
	}
}

func TestSnapshotNamesEmbeddedRepositories(t *testing.T) {
	w := newWorld(t)
	p := w.made("agent")
	for _, name := range []string{"inner", "unborn"} {
		gitIn(t, p.Path, "init", "-q", name)
		writeFile(t, filepath.Join(p.Path, name, "f"), "x\n")
	}
	gitIn(t, filepath.Join(p.Path, "inner"), "add", "f")
	gitIn(t, filepath.Join(p.Path, "inner"), "commit", "-qm", "inner")
	writeFile(t, filepath.Join(p.Path, "new"), "x\n")
	got := w.shot(p)
	if want := []string{"inner", "unborn"}; !slices.Equal(got.NotSaved, want) {
		t.Errorf("not saved: %q", got.NotSaved)
	}
	if files := w.files(got.Commit); files["new"] != "x\n" || len(files) != 3 {
		t.Errorf("files are %q", slices.Collect(maps.Keys(files)))
	}
}

func TestSnapshotNamesDirtySubmodule(t *testing.T) {
	w, sub := newWorld(t), newWorld(t)
	w.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", sub.Dir, "sub")
	w.commit("submodule")
	p := w.made("agent")
	gitIn(t, p.Path, "-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init")
	if got := w.shot(p); got.Commit != w.base || len(got.NotSaved) != 0 {
		t.Errorf("clean: %+v", got)
	}
	w.git("update-ref", "-d", shotRef)
	writeFile(t, filepath.Join(p.Path, "sub/new"), "x\n")
	if got := w.shot(p); !slices.Equal(got.NotSaved, []string{"sub"}) {
		t.Errorf("dirty: %+v", got)
	}
}

func TestSnapshotNamesFileWhoseFilterFails(t *testing.T) {
	w := newWorld(t)
	p := w.made("agent")
	w.git("config", "filter.bad.clean", "exit 1")
	w.git("config", "filter.bad.required", "true")
	writeFile(t, filepath.Join(p.Path, ".gitattributes"), "*.bad filter=bad\n")
	writeFile(t, filepath.Join(p.Path, "x.bad"), "x\n")
	writeFile(t, filepath.Join(p.Path, "z"), "z\n")
	got := w.shot(p)
	if !slices.Equal(got.NotSaved, []string{"x.bad"}) || w.files(got.Commit)["z"] != "z\n" {
		t.Errorf("got %+v", got)
	}
}

func TestSnapshotRunsNoHook(t *testing.T) {
	w := newWorld(t)
	p := w.made("agent")
	for _, name := range []string{"post-index-change", "reference-transaction", "pre-commit"} {
		w.hook(name, "echo "+name+" >>"+filepath.Join(w.Dir, "..", "hooks.log")+"; exit 1")
	}
	writeFile(t, filepath.Join(p.Path, "new"), "x\n")
	if _, err := w.m.Snapshot(t.Context(), p.Path, shotRef, "m"); err != nil {
		t.Fatal(err)
	}
	if exists(filepath.Join(w.Dir, "..", "hooks.log")) {
		t.Error(readFile(t, filepath.Join(w.Dir, "..", "hooks.log")))
	}
}

func TestSnapshotWithoutUserIdentity(t *testing.T) {
	w := newWorld(t)
	p := w.made("agent")
	for _, name := range []string{"GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"} {
		t.Setenv(name, "")
		os.Unsetenv(name)
	}
	w.git("config", "user.useConfigOnly", "true")
	writeFile(t, filepath.Join(p.Path, "new"), "x\n")
	w.shot(p)
}

func TestSnapshotOfBranchThatIsGone(t *testing.T) {
	w := newWorld(t)
	p := w.made("agent")
	w.git("update-ref", "-d", "refs/heads/agent")
	writeFile(t, filepath.Join(p.Path, "new"), "x\n")
	s, err := w.m.Snapshot(t.Context(), p.Path, shotRef, "m")
	if err != nil {
		t.Fatal(err)
	}
	if files := w.files(s.Commit); files["new"] != "x\n" || files["a.txt"] != "one\n" {
		t.Errorf("files are %q", files)
	}
}

func TestSnapshotDoesNotReplaceRef(t *testing.T) {
	w := newWorld(t)
	p := w.made("agent")
	w.shot(p)
	writeFile(t, filepath.Join(p.Path, "new"), "x\n")
	if _, err := w.m.Snapshot(t.Context(), p.Path, shotRef, "m"); !errors.Is(err, ErrRefTaken) {
		t.Errorf("got %v", err)
	}
	if got := w.git("rev-parse", shotRef); got != w.base {
		t.Errorf("%s moved to %s", shotRef, got)
	}
}

// prunings are the moments of a snapshot at which somebody prunes all that no ref keeps yet. Where refs are to be synced to
// disk git itself makes the commit and the ref.
var prunings = []struct{ name, at, prune, fsync string }{
	{"before the tree", "write-tree", `"$real" gc --quiet --prune=now`, ""},
	{"after the tree", "write-tree", `"$real" "$@"; "$real" gc --quiet --prune=now; exit 0`, ""},
	{"before git makes the commit", "commit-tree", `"$real" gc --quiet --prune=now`, "reference"},
	{"before git makes the ref", "update-ref", `"$real" gc --quiet --prune=now`, "reference"},
}

func TestSnapshotIsTakenAgainAfterPrune(t *testing.T) {
	w := newWorld(t)
	p := w.made("agent")
	writeFile(t, filepath.Join(p.Path, "new"), "precious\n")
	once := filepath.Join(realTemp(t), "once")
	for _, c := range prunings {
		os.Remove(once)
		if c.fsync != "" {
			w.git("config", "core.fsync", c.fsync)
		}
		env := shim(t, fmt.Sprintf(`case "$*" in *%s*) if mkdir "%s" 2>/dev/null; then %s; fi;; esac`, c.at, once, c.prune))
		path := os.Getenv("PATH")
		os.Setenv("PATH", strings.TrimPrefix(env[0], "PATH="))
		ref := "refs/paw/s_agent/turn/" + c.at
		s, err := w.m.Snapshot(t.Context(), p.Path, ref, "m "+c.name)
		os.Setenv("PATH", path)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if !exists(once) {
			t.Fatalf("%s: nothing was pruned", c.name)
		}
		if w.files(s.Commit)["new"] != "precious\n" {
			t.Errorf("%s: the file is gone", c.name)
		}
		w.git("update-ref", "-d", ref)
		w.git("prune", "--expire=now")
	}
}

func TestSnapshotRefusesMainWorktreeAndLostGitFile(t *testing.T) {
	w := newWorld(t)
	inner := w.plan("inner")
	w.git("worktree", "add", "-q", "-b", "inner", filepath.Join(w.Dir, "inner"))
	inner.Path = filepath.Join(w.Dir, "inner")
	os.Remove(filepath.Join(inner.Path, ".git"))
	before := tree(t, w.Dir)
	for _, path := range []string{w.Dir, inner.Path} {
		var mismatch *MismatchError
		if _, err := w.m.Snapshot(t.Context(), path, shotRef, "m"); !errors.As(err, &mismatch) {
			t.Errorf("%s: got %v", path, err)
		}
	}
	if diff := cmp.Diff(before, tree(t, w.Dir)); diff != "" {
		t.Error(diff)
	}
}

func TestSnapshotIgnoresPipes(t *testing.T) {
	w := newWorld(t)
	p := w.made("agent")
	if err := unix.Mkfifo(filepath.Join(p.Path, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := w.shot(p); got.Commit != w.base {
		t.Errorf("got %+v", got)
	}
}

func TestSnapshotIsTakenAgainWhenRunningGcTookItsObjects(t *testing.T) {
	w := newWorld(t)
	p := w.made("agent")
	writeFile(t, filepath.Join(p.Path, "new"), "precious\n")
	blob := gitIn(t, p.Path, "hash-object", "new")
	common := w.m.Repository.CommonDir
	object := filepath.Join(common, "objects", blob[:2], blob[2:])
	once := filepath.Join(realTemp(t), "once")
	env := shim(t, `case "$*" in *write-tree*) if mkdir "`+once+`" 2>/dev/null; then
		"$real" "$@"; : >"`+common+`/gc.pid"; rm -f "`+object+`"; exit 0; fi;; esac`)
	t.Setenv("PATH", strings.TrimPrefix(env[0], "PATH="))
	s, err := w.m.Snapshot(t.Context(), p.Path, shotRef, "m")
	if err != nil {
		t.Fatal(err)
	}
	if !exists(once) || !exists(object) || w.files(s.Commit)["new"] != "precious\n" {
		t.Error("the file is gone")
	}
}
