package worktree

import (
	"crypto/sha1"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"paw/config/disk"
	"paw/worktree/git"
	"paw/worktree/gittest"
	"paw/worktree/journal"
	"paw/worktree/refs"
	"paw/worktree/snapshot"

	"github.com/google/go-cmp/cmp"
)

// turns takes snapshots of one worktree with a scratch index that is kept, and
// checks each time that nothing else changes.
type turns struct {
	*world
	p       Plan
	scratch string
	n       int
}

func newTurns(t *testing.T, ignore string) *turns {
	t.Helper()
	w, p := prepared(t, ignore)
	return &turns{world: w, p: p, scratch: filepath.Join(realTemp(t), "scratch")}
}

func (w *turns) path(name string) string { return filepath.Join(w.p.Path, name) }

func (w *turns) in(args ...string) string { w.t.Helper(); return gitIn(w.t, w.p.Path, args...) }

// everything is what a snapshot must not change.
func (w *turns) everything() map[string]string {
	w.t.Helper()
	all := tree(w.t, w.p.Path)
	for name, content := range tree(w.t, gittest.GitDir(w.t, w.p.Path)) {
		if !strings.HasPrefix(name, "sharedindex.") && name != journal.LockFile { // every git that reads the first touches it
			all["admin/"+name] = content
		}
	}
	for _, part := range []string{"refs/heads", "refs/tags", "packed-refs"} {
		if path := filepath.Join(w.m.Repository.CommonDir, part); disk.Exists(path) {
			for name, content := range tree(w.t, path) {
				all[part+"/"+name] = content
			}
		}
	}
	all["status"] = w.in("status", "--porcelain=v2")
	return all
}

func (w *turns) take() snapshot.Snapshot {
	w.t.Helper()
	before := w.everything()
	w.n++
	ref := fmt.Sprintf("refs/paw/s_agent/turn/%d", w.n)
	s, err := w.m.Snapshots().TakeWithin(w.t.Context(), w.p.Path, ref, "turn\n", w.scratch, snapshot.Budget{})
	if err != nil {
		w.t.Fatal(err)
	}
	if diff := cmp.Diff(before, w.everything()); diff != "" {
		w.t.Errorf("the snapshot changed\n%s", diff)
	}
	if got := gittest.At(w.t, w.Dir, ref); got != s.Commit || s.Ref != ref {
		w.t.Errorf("%s is %s, not %s", ref, got, s.Commit)
	}
	w.wantOnlyKept()
	return s
}

// wantOnlyKept checks that nothing is in the scratch folder but what the next snapshot begins with.
func (w *turns) wantOnlyKept() {
	w.t.Helper()
	left, _ := os.ReadDir(w.scratch)
	copies := map[string]int{}
	for _, file := range left {
		switch name := file.Name(); {
		case strings.HasPrefix(name, "kept-"):
			copies["kept-"]++
		case name != "last":
			w.t.Errorf("left in the scratch folder: %s", name)
		}
	}
	if copies["kept-"] > 1 {
		w.t.Errorf("left of the index: %v", copies)
	}
}

// wantTree checks that a snapshot is what a plain `git add --all` records.
func (w *turns) wantTree(what string, s snapshot.Snapshot) {
	w.t.Helper()
	other, err := w.m.Snapshots().Take(w.t.Context(), w.p.Path, fmt.Sprintf("refs/paw/s_agent/other/%d", w.n), "other")
	if err != nil {
		w.t.Fatal(err)
	}
	if a, b := w.git("rev-parse", s.Commit+"^{tree}"), w.git("rev-parse", other.Commit+"^{tree}"); a != b {
		w.t.Errorf("%s: differs from git's own way of adding:\n%s", what, w.git("diff-tree", "-r", b, a))
	}
	if !slices.Equal(s.NotSaved, other.NotSaved) {
		w.t.Errorf("%s: not saved %q, want %q", what, s.NotSaved, other.NotSaved)
	}
}

func TestWithinCleanWorktreeIsHead(t *testing.T) {
	w := newTurns(t, "*.log\n")
	writeFile(t, w.path("x.log"), "ignored\n")
	if got := w.take(); got.Commit != w.base || len(got.NotSaved) != 0 {
		t.Errorf("got %+v", got)
	}
	writeFile(t, w.path("a.txt"), "changed\n")
	w.in("add", "a.txt")
	writeFile(t, w.path("a.txt"), "one\n")
	if got := w.take(); got.Commit != w.base {
		t.Errorf("a change that was taken back: %+v", got)
	}
}

// age makes the next snapshot believe all that the last one recorded, as if that
// were long ago.
func (w *turns) age() {
	w.t.Helper()
	w.began(time.Now().Add(90 * time.Millisecond)) // more than a tick of the clock of files
}

// ageSettings makes the settings of a repository that was just made older than what its snapshots record.
func (w *turns) ageSettings() {
	w.t.Helper()
	then := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(w.m.Repository.CommonDir, "config"), then, then); err != nil {
		w.t.Fatal(err)
	}
}

// TestWithinIsWhatGitWouldAdd changes one thing after the other in a worktree;
// what was recorded before must never show where it does not hold any more.
func TestWithinIsWhatGitWouldAdd(t *testing.T) {
	w := newTurns(t, "*.log\n")
	for _, step := range []struct {
		what string
		do   func()
	}{
		{"unstaged", func() { writeFile(t, w.path("a.txt"), "unstaged\n") }},
		{"untracked", func() { writeFile(t, w.path("new dir/ü"), "untracked\n"); writeFile(t, w.path("empty"), "") }},
		{"ignored", func() { writeFile(t, w.path("x.log"), "ignored\n") }},
		{"nothing", func() {}},
		{"staged", func() { writeFile(t, w.path("staged"), "staged\n"); w.in("add", "staged") }},
		{"mode", func() { os.Chmod(w.path("staged"), 0o755) }},
		{"link", func() { os.Symlink("nowhere", w.path("link")) }},
		{"deleted", func() { os.Remove(w.path("dir/b.txt")) }},
		{"link for a file", func() { os.Remove(w.path("a.txt")); os.Symlink("b", w.path("a.txt")) }},
		{"file for a folder", func() { os.Remove(w.path("dir")); writeFile(t, w.path("dir"), "file\n") }},
		{"folder for a file", func() { os.Remove(w.path("staged")); writeFile(t, w.path("staged/deep/x"), "x\n") }},
		{"renamed", func() { os.Rename(w.path("empty"), w.path("moved")) }},
		{"now ignored", func() { writeFile(t, w.path(".gitignore"), "*.log\nmoved\n") }},
		{"to be ignored", func() { writeFile(t, w.path("out/x"), "x\n") }},
		{"ignored by a file that ignores itself", func() { writeFile(t, w.path("out/.gitignore"), "*\n") }},
		{"ignored and added", func() { writeFile(t, w.path("y.log"), "y\n"); w.in("add", "-f", "y.log") }},
		{"taken out of the index", func() { w.in("rm", "-q", "--cached", "y.log") }},
		{"committed", func() { w.in("add", "-A"); w.in("commit", "-qm", "agent") }},
		{"mode of the index", func() { w.in("update-index", "--chmod=+x", ".gitignore"); writeFile(t, w.path("z"), "z\n") }},
		{"attributes", func() { writeFile(t, w.path("crlf"), "a\r\nb\r\n") }},
		{"attributes changed", func() { writeFile(t, w.path(".gitattributes"), "crlf text\n") }},
		{"attributes gone", func() { os.Remove(w.path(".gitattributes")) }},
		{"setting changed", func() { w.git("config", "core.autocrlf", "input") }},
		{"committed with CR", func() {
			w.git("config", "core.autocrlf", "false")
			writeFile(t, w.path("ends"), "a\r\nb\r\n")
			w.in("add", "ends")
			w.in("commit", "-qm", "ends")
			w.git("config", "core.autocrlf", "input")
			w.ageSettings()
		}},
		{"without CR", func() { writeFile(t, w.path("ends"), "a\n") }},
		{"with CR again", func() { writeFile(t, w.path("ends"), "c\r\nd\r\n") }},
		{"intended", func() { writeFile(t, w.path("n"), "n\n"); w.in("add", "-N", "n") }},
		{"intended and gone", func() { os.Remove(w.path("n")) }},
		{"without modes", func() { w.git("config", "core.fileMode", "false"); os.Chmod(w.path("z"), 0o755) }},
		{"reset", func() { w.in("reset", "-q", "--hard", w.base) }},
		{"stash", func() { writeFile(t, w.path("a.txt"), "s\n"); w.in("stash", "-q") }},
		{"edited and committed at once", func() {
			writeFile(t, w.path("dir/b.txt"), "b2\n")
			w.in("commit", "-qam", "b2")
			writeFile(t, w.path("untracked"), "u\n")
		}},
		{"branch", func() { w.in("checkout", "-qb", "other"); writeFile(t, w.path("a.txt"), "o\n") }},
		{"index gone", func() { os.Remove(w.in("rev-parse", "--git-path", "index")) }},
		{"branch gone", func() { w.git("update-ref", "-d", "refs/heads/other") }},
	} {
		step.do()
		for _, again := range []string{"", ", again"} {
			w.wantTree(step.what+again, w.take())
			w.age()
		}
	}
}

func TestWithinSeesEditOfSameSizeInTheSameSecond(t *testing.T) {
	w := newTurns(t, "")
	w.git("config", "core.trustctime", "false")
	files := []string{"a.txt", "untracked", "staged"}
	writeFile(t, w.path("staged"), "x")
	w.in("add", "staged")
	var objects, want strings.Builder // as git is asked for all of them, once
	ctx := t.Context()
	for round := range 200 {
		for _, name := range files {
			writeFile(t, w.path(name), fmt.Sprintf("%04d\n", round))
		}
		if round%3 == 1 { // git itself believes what it has just seen
			w.in("add", "a.txt")
		}
		for k := range 2 {
			s, err := w.m.Snapshots().TakeWithin(ctx, w.p.Path, "", "m", w.scratch, snapshot.Budget{})
			if err != nil {
				t.Fatal(err)
			}
			content := fmt.Sprintf("%04d\n", round)
			if k == 1 {
				content = fmt.Sprintf("%04x\n", round+0x1000)
			}
			for _, name := range files {
				fmt.Fprintf(&objects, "%s:%s round %d.%d, %s\n", s.Commit, name, round, k, name)
				fmt.Fprintf(&want, "%x round %d.%d, %s\n", sha1.Sum([]byte("blob 5\x00"+content)), round, k, name)
			}
			for _, name := range files {
				writeFile(t, w.path(name), fmt.Sprintf("%04x\n", round+0x1000))
			}
		}
	}
	got, err := git.Repo{Dir: w.Dir}.Input(ctx, []byte(objects.String()), "cat-file", "--batch-check=%(objectname) %(rest)")
	if diff := cmp.Diff(strings.Split(want.String(), "\n"), strings.Split(got, "\n")); err != nil || diff != "" {
		t.Errorf("%v, files as of another time:\n%s", err, diff)
	}
}

// began changes what the last snapshot has handed on as the time of its start, if it has.
func (w *turns) began(at time.Time) {
	w.t.Helper()
	file := filepath.Join(w.scratch, "last")
	content, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return
	}
	var kept map[string]any
	if err == nil {
		err = json.Unmarshal(content, &kept)
	}
	if _, there := kept["began"]; err != nil || !there {
		w.t.Fatalf("%s: %v", content, err)
	}
	kept["began"] = at
	if content, err = json.Marshal(kept); err != nil {
		w.t.Fatal(err)
	}
	writeFile(w.t, file, string(content))
}

// TestWithinWhenMuchIsResetAtOnce has a link in the place of a folder with many files.
func TestWithinWhenMuchIsResetAtOnce(t *testing.T) {
	w := newTurns(t, "")
	w.ageSettings()
	for i := range 600 {
		writeFile(t, w.path(fmt.Sprintf("many/%d/a file with a long name %d", i%7, i)), fmt.Sprintf("%d\n", i))
	}
	w.in("add", "-A")
	w.in("commit", "-qm", "many")
	there := filepath.Join(realTemp(t), "many")
	if err := errors.Join(os.Rename(w.path("many"), there), os.Symlink(there, w.path("many"))); err != nil {
		t.Fatal(err)
	}
	count := counting(t)
	s := w.take()
	if ran := strings.Join(count(), "\n"); !strings.Contains(ran, "--force-remove -z") {
		t.Errorf("ran\n%s", ran)
	}
	w.wantTree("a link", s)
}

// TestWithinMakesNoSecondCommitOfTheSameState has a turn begin where the last one ended.
func TestWithinMakesNoSecondCommitOfTheSameState(t *testing.T) {
	w := newTurns(t, "")
	w.ageSettings()
	writeFile(t, w.path("new"), "x\n")
	end := w.take()
	if begin := w.take(); begin.Commit != end.Commit {
		t.Errorf("%s, and then %s", end.Commit, begin.Commit)
	}
	w.in("commit", "-q", "--allow-empty", "-m", "another parent")
	if s := w.take(); w.git("rev-parse", s.Commit+"^") != w.in("rev-parse", "HEAD") {
		t.Errorf("the parent of %s is not HEAD", s.Commit)
	}
	writeFile(t, w.path("new"), "y\n")
	w.wantTree("changed", w.take())
}

func TestWithinSeesHiddenEditsAndKeepsWhatIsLeftOut(t *testing.T) {
	for _, version := range []string{"2", "4"} {
		w := newTurns(t, "")
		w.in("update-index", "--index-version", version)
		w.in("update-index", "--assume-unchanged", "a.txt")
		w.in("update-index", "--skip-worktree", "dir/b.txt", ".gitignore")
		os.Remove(w.path(".gitignore"))
		writeFile(t, w.path("a.txt"), "hidden\n")
		writeFile(t, w.path("dir/b.txt"), "hidden\n")
		for range 2 {
			got := w.files(w.take().Commit)
			if want := map[string]string{"a.txt": "hidden\n", "dir/b.txt": "hidden\n", ".gitignore": ""}; !maps.Equal(got, want) {
				t.Errorf("got %q", got)
			}
		}
		w.wantTree("hidden", w.take())
		w.ageSettings()
		w.take()
		os.Remove(w.path("dir/b.txt"))
		if got := w.files(w.take().Commit)["dir/b.txt"]; got != "two\n" {
			t.Errorf("a file that is left out again is %q", got)
		}
	}
}

func TestWithinSparseAndSplitIndex(t *testing.T) {
	for _, kind := range []string{"sparse", "split", "sparse index"} {
		t.Run(kind, func(t *testing.T) {
			w := newTurns(t, "")
			switch kind {
			case "sparse":
				w.in("sparse-checkout", "set", "--cone", "nothing")
			case "sparse index":
				w.in("sparse-checkout", "set", "--cone", "--sparse-index", "nothing")
			case "split":
				w.in("update-index", "--split-index")
				writeFile(t, w.path("one"), "x\n")
				w.in("add", "one")
			}
			w.wantTree("clean", w.take())
			writeFile(t, w.path("new"), "x\n")
			writeFile(t, w.path("other/new"), "y\n")
			for range 2 {
				s := w.take()
				w.wantTree("dirty", s)
				if got := w.files(s.Commit); got["dir/b.txt"] != "two\n" || got["other/new"] != "y\n" {
					t.Errorf("got %q", got)
				}
			}
		})
	}
}

func TestWithinDuringConflictAndWithLockedIndex(t *testing.T) {
	w := newTurns(t, "")
	w.write("a.txt", "main\n")
	w.commit("main")
	writeFile(t, w.path("a.txt"), "agent\n")
	w.in("commit", "-qam", "agent")
	if git.In(w.p.Path).Run(t.Context(), "merge", "-q", "main") == nil {
		t.Fatal("no conflict")
	}
	writeFile(t, filepath.Join(w.in("rev-parse", "--absolute-git-dir"), "index.lock"), "half")
	for range 2 {
		s := w.take()
		if got := w.files(s.Commit)["a.txt"]; !strings.Contains(got, "<<<<<<<") {
			t.Errorf("a.txt is %q", got)
		}
		w.wantTree("conflict", s)
	}
}

func TestWithinNamesWhatItDoesNotSave(t *testing.T) {
	w, sub := newTurns(t, ""), newWorld(t)
	w.in("-c", "protocol.file.allow=always", "submodule", "add", "-q", sub.Dir, "sub")
	w.in("commit", "-qm", "submodule")
	w.base = w.in("rev-parse", "HEAD")
	if got := w.take(); got.Commit != w.base || len(got.NotSaved) != 0 {
		t.Errorf("clean: %+v", got)
	}
	for _, name := range []string{"inner", "unborn"} {
		w.in("init", "-q", name)
		writeFile(t, w.path(name+"/f"), "x\n")
	}
	gitIn(t, w.path("inner"), "add", "f")
	gitIn(t, w.path("inner"), "commit", "-qm", "inner")
	writeFile(t, w.path("sub/new"), "x\n")
	if got := w.take(); got.Commit != w.base || !slices.Equal(got.NotSaved, []string{"inner", "sub", "unborn"}) {
		t.Errorf("only what cannot be saved: %+v", got)
	}
	writeFile(t, w.path("new"), "x\n")
	w.wantTree("dirty", w.take())
	w.git("config", "filter.bad.clean", "exit 1")
	w.git("config", "filter.bad.required", "true")
	writeFile(t, w.path(".gitattributes"), "*.bad filter=bad\n")
	writeFile(t, w.path("x.bad"), "x\n")
	s := w.take()
	if want := []string{"inner", "sub", "unborn", "x.bad"}; !slices.Equal(s.NotSaved, want) {
		t.Errorf("not saved: %q", s.NotSaved)
	}
	w.wantTree("filter", s)
	gitIn(t, w.path("sub"), "add", "-A")
	gitIn(t, w.path("sub"), "commit", "-qm", "sub")
	w.wantTree("commit in the submodule", w.take())
}

func TestWithinDoesNotReplaceRefAndMakesNoneWithout(t *testing.T) {
	w := newTurns(t, "")
	w.take()
	writeFile(t, w.path("new"), "x\n")
	if _, err := w.m.Snapshots().TakeWithin(t.Context(), w.p.Path, "refs/paw/s_agent/turn/1", "m", w.scratch, snapshot.Budget{}); !errors.Is(err, refs.ErrTaken) {
		t.Errorf("got %v", err)
	}
	if got := w.git("rev-parse", "refs/paw/s_agent/turn/1"); got != w.base {
		t.Errorf("it moved to %s", got)
	}
	refs := w.git("for-each-ref")
	s, err := w.m.Snapshots().TakeWithin(t.Context(), w.p.Path, "", "m", w.scratch, snapshot.Budget{})
	if err != nil || s.Ref != "" || w.files(s.Commit)["new"] != "x\n" {
		t.Errorf("got %+v, %v", s, err)
	}
	if got := w.git("for-each-ref"); got != refs {
		t.Errorf("refs are\n%s", got)
	}
}

// TestWithinSeesWhatIsWrittenWhereABitHidAFileThatWasGone: what was kept meanwhile has the bit, and git would take such a path out.
func TestWithinSeesWhatIsWrittenWhereABitHidAFileThatWasGone(t *testing.T) {
	w := newTurns(t, "")
	w.ageSettings()
	w.in("update-index", "--skip-worktree", "dir/b.txt")
	os.Remove(w.path("dir/b.txt"))
	writeFile(t, w.path("new"), "x\n")
	w.wantTree("gone", w.take())
	writeFile(t, w.path("dir/b.txt"), "written\n")
	w.wantTree("written", w.take())
}
