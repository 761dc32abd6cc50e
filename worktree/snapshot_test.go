package worktree

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"paw/config/disk"
	"paw/worktree/git"
	"paw/worktree/gitdir"
	"paw/worktree/snapshot"
)

const shotRef = "refs/paw/s_agent/turn/1"

// shot takes a snapshot and checks that nothing else changed: files, times,
// index, HEAD, what status says, and other refs.
func (w *world) shot(p Plan) snapshot.Snapshot {
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
	s, err := w.m.Snapshots().Take(w.t.Context(), p.Path, shotRef, "turn 1\n")
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
	var names, objects []string
	for _, item := range git.NulSeparated(w.git("ls-tree", "-r", "-z", commit)) {
		entry, name, _ := strings.Cut(item, "\t")
		names, objects = append(names, name), append(objects, strings.Fields(entry)[2])
	}
	content, err := git.Repo{Dir: w.Dir}.Input(w.t.Context(), []byte(strings.Join(objects, "\n")+"\n"), "cat-file", "--batch=%(objectsize)")
	if err != nil {
		w.t.Fatal(err)
	}
	for _, name := range names {
		line, rest, _ := strings.Cut(content, "\n")
		if strings.HasSuffix(line, " missing") { // the commit of a submodule
			found[name], content = "", rest
			continue
		}
		size, err := strconv.Atoi(line)
		if err != nil || size >= len(rest) {
			w.t.Fatalf("%s: %q", name, line)
		}
		found[name], content = rest[:size], rest[size+1:]
	}
	return found
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

func TestSnapshotRunsNoHook(t *testing.T) {
	w := newWorld(t)
	p := w.made("agent")
	for _, name := range []string{"post-index-change", "reference-transaction", "pre-commit"} {
		w.hook(name, "echo "+name+" >>"+filepath.Join(w.Dir, "..", "hooks.log")+"; exit 1")
	}
	writeFile(t, filepath.Join(p.Path, "new"), "x\n")
	if _, err := w.m.Snapshots().Take(t.Context(), p.Path, shotRef, "m"); err != nil {
		t.Fatal(err)
	}
	if disk.Exists(filepath.Join(w.Dir, "..", "hooks.log")) {
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
	s, err := w.m.Snapshots().Take(t.Context(), p.Path, shotRef, "m")
	if err != nil {
		t.Fatal(err)
	}
	if files := w.files(s.Commit); files["new"] != "x\n" || files["a.txt"] != "one\n" {
		t.Errorf("files are %q", files)
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
		var mismatch *gitdir.MismatchError
		if _, err := w.m.Snapshots().Take(t.Context(), path, shotRef, "m"); !errors.As(err, &mismatch) {
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
	shimmed(t, `case "$*" in *write-tree*) if mkdir "`+once+`" 2>/dev/null; then
		"$real" "$@"; : >"`+common+`/gc.pid"; rm -f "`+object+`"; exit 0; fi;; esac`)
	s, err := w.m.Snapshots().Take(t.Context(), p.Path, shotRef, "m")
	if err != nil {
		t.Fatal(err)
	}
	if !disk.Exists(once) || !disk.Exists(object) || w.files(s.Commit)["new"] != "precious\n" {
		t.Error("the file is gone")
	}
}
