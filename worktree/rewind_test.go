package worktree

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"paw/config/disk"
	"paw/worktree/git"
	"paw/worktree/gitdir"
	"paw/worktree/gittest"
	"paw/worktree/refs"
	"paw/worktree/snapshot"

	"github.com/google/go-cmp/cmp"
)

// hashes are the files below a worktree as git sees them: kind, executable or
// not, content.
func (w *turns) hashes() map[string]string {
	w.t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(w.p.Path, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == ".git" {
			return err
		}
		name, _ := filepath.Rel(w.p.Path, path)
		info, err := d.Info()
		if err != nil {
			return err
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			target, err := os.Readlink(path)
			found[name] = "link to " + target
			return err
		}
		content, err := os.ReadFile(path)
		found[name] = fmt.Sprintf("%v %x", info.Mode()&0o100 != 0, sha256.Sum256(content))
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return found
}

func (w *turns) wantFiles(what string, want map[string]string) {
	w.t.Helper()
	if diff := cmp.Diff(want, w.hashes()); diff != "" {
		w.t.Errorf("%s:\n%s", what, diff)
	}
}

func (w *turns) rewind(target, rescue string) Rescued {
	w.t.Helper()
	r, err := w.m.Moves().Rewind(w.t.Context(), w.p.Path, target, RewindOptions{Rescue: rescue})
	if err != nil {
		w.t.Fatal(err)
	}
	want := r.Commit
	if r.Ref == "" && r.Changed == 0 && r.Head == r.HeadBefore {
		want = ""
	} else if r.Ref != rescue {
		w.t.Errorf("got %+v", r)
	}
	if got := w.git("for-each-ref", "--format=%(objectname)", rescue); got != want {
		w.t.Errorf("%s is %q, not %q", rescue, got, want)
	}
	if head := gittest.At(w.t, w.p.Path, "HEAD"); head != r.Head {
		w.t.Errorf("HEAD is %s, not %s", head, r.Head)
	}
	if got := gitdir.Line(filepath.Join(gittest.GitDir(w.t, w.p.Path), "HEAD")); got != "ref: refs/heads/agent" {
		w.t.Errorf("HEAD is on %s", got)
	}
	if got := w.in("diff", "--cached", "--name-only", "HEAD"); got != "" {
		w.t.Errorf("the index is not as HEAD: %s", got)
	}
	w.in("fsck", "--no-progress")
	return r
}

func (w *turns) put(name, content string, mode fs.FileMode) {
	w.t.Helper()
	os.Remove(w.path(name))
	writeFile(w.t, w.path(name), content)
	if err := os.Chmod(w.path(name), mode); err != nil {
		w.t.Fatal(err)
	}
}

func (w *turns) link(name, target string) {
	w.t.Helper()
	os.RemoveAll(w.path(name))
	if err := os.Symlink(target, w.path(name)); err != nil {
		w.t.Fatal(err)
	}
}

// mixed is a worktree with every kind of change against HEAD, some staged.
func (w *turns) mixed() {
	for i := range 12 {
		w.put(fmt.Sprintf("t/%d.txt", i), fmt.Sprintf("tracked %d\n", i), 0o644)
	}
	w.put("bin", "\x00\x01\xff", 0o755)
	w.put("crlf", "a\r\nb\r\nno end", 0o644)
	w.link("ln", "t/0.txt")
	w.in("add", "-A")
	w.in("commit", "-qm", "agent")
	os.Remove(w.path("t/0.txt"))
	os.Rename(w.path("t/1.txt"), w.path("moved.txt"))
	w.in("mv", "t/2.txt", "staged-move.txt")
	os.Chmod(w.path("t/3.txt"), 0o755)
	w.link("t/4.txt", "5.txt")
	w.put("ln", "a file now", 0o644)
	os.Remove(w.path("t/6.txt"))
	w.put("t/6.txt/deep/file", "folder for a file\n", 0o644)
	w.put("untracked/ü x", "untracked\n", 0o755)
	w.put("t/7.txt", "staged\n", 0o644)
	w.in("add", "t/7.txt")
	w.put("x.log", "ignored\n", 0o600)
	w.put("out/y.log", "ignored below\n", 0o644)
}

func TestRewindAndUndoAreExact(t *testing.T) {
	w := newTurns(t, "*.log\n")
	w.mixed()
	first := w.hashes()
	one := w.take()
	headOne := w.in("rev-parse", "HEAD")
	// The next turn commits some of it, undoes some, and goes on.
	w.in("add", "-A", "t")
	w.in("commit", "-qm", "second")
	headTwo := w.in("rev-parse", "HEAD")
	w.put("t/0.txt", "back\n", 0o644)
	os.RemoveAll(w.path("t/6.txt"))
	w.put("t/6.txt", "file for a folder\n", 0o644)
	os.Rename(w.path("moved.txt"), w.path("moved again.txt"))
	os.RemoveAll(w.path("untracked"))
	w.put("untracked", "file for a folder\n", 0o644)
	w.put("dir/more/new", "new\n", 0o644)
	os.Chmod(w.path("bin"), 0o644)
	w.put("crlf", "a\nb\nno end\n", 0o644)
	w.put("x.log", "ignored, changed\n", 0o600)
	w.put("later.log", "ignored, new\n", 0o600)
	w.put("t/8.txt", "only staged\n", 0o644)
	w.in("add", "t/8.txt")
	w.put("t/8.txt", "and edited\n", 0o644)
	second := w.hashes()

	r := w.rewind(one.Commit, "refs/paw/s_agent/rescue/1")
	if r.Head != headOne || r.HeadBefore != headTwo || r.Changed == 0 {
		t.Errorf("got %+v", r)
	}
	want := map[string]string{}
	for name, hash := range first {
		want[name] = hash
	}
	for _, name := range []string{"x.log", "later.log"} { // ignored ones stay as they are
		want[name] = second[name]
	}
	w.wantFiles("rewind", want)
	if got := w.git("cat-file", "blob", r.Commit+"^2:t/8.txt"); got != "only staged" {
		t.Errorf("the staged content is %q", got)
	}
	if got := w.in("reflog", "-1", "--format=%H %gs", "agent"); got != headOne+" paw: rewind to "+one.Commit {
		t.Errorf("the reflog says %q", got)
	}

	undo := w.rewind(r.Commit, "refs/paw/s_agent/rescue/2")
	if undo.Head != headTwo {
		t.Errorf("HEAD is %s, not %s", undo.Head, headTwo)
	}
	w.wantFiles("undo", second)
	w.rewind(undo.Commit, "refs/paw/s_agent/rescue/3")
	w.wantFiles("redo", want)
	if r := w.rewind(one.Commit, "refs/paw/s_agent/rescue/4"); r.Ref != "" {
		t.Errorf("nothing was to do, and %s is kept", r.Ref)
	}
	w.wantFiles("nothing to do", want)
	w.git("reflog", "expire", "--expire=now", "--all")
	w.git("gc", "--quiet", "--prune=now")
	w.rewind(r.Commit, "refs/paw/s_agent/rescue/5")
	w.wantFiles("undo after gc", second)
}

func TestRewindToCleanTurnIsThatCommit(t *testing.T) {
	w := newTurns(t, "")
	first := w.hashes()
	clean := w.take()
	w.put("new", "x\n", 0o644)
	w.in("add", "-A")
	w.in("commit", "-qm", "second")
	second := w.hashes()
	r := w.rewind(clean.Commit, "refs/paw/s_agent/rescue/1")
	w.wantFiles("rewind", first)
	if r.Head != w.base || w.in("status", "--porcelain") != "" {
		t.Errorf("got %+v, status %q", r, w.in("status", "--porcelain"))
	}
	w.rewind("refs/paw/s_agent/rescue/1", "refs/paw/s_agent/rescue/2")
	w.wantFiles("undo", second)
	if got := w.in("status", "--porcelain"); got != "" {
		t.Errorf("status is %q", got)
	}
}

func TestRewindOverFilesWrittenAgainAsTheyWere(t *testing.T) {
	w := newTurns(t, "")
	w.put("a.txt", "first\n", 0o644)
	first := w.hashes()
	one := w.take()
	for _, name := range []string{"a.txt", "dir/b.txt"} {
		w.put(name, w.git("cat-file", "blob", "HEAD:"+name)+"\n", 0o644)
		then := time.Now().Add(-time.Hour)
		if err := os.Chtimes(w.path(name), then, then); err != nil {
			t.Fatal(err)
		}
	}
	w.rewind(one.Commit, "refs/paw/s_agent/rescue/1")
	w.wantFiles("rewind", first)
}

func TestRewindWhereALinkIsInThePlaceOfAFolder(t *testing.T) {
	w := newTurns(t, "")
	w.put("below/both", "inside\n", 0o644)
	w.put("below/here", "inside\n", 0o644)
	w.put("below/deep/here", "inside\n", 0o644)
	w.in("add", "-A")
	w.in("commit", "-qm", "a folder")
	folder, one := w.hashes(), w.take()
	outside := filepath.Join(realTemp(t), "outside")
	writeFile(t, filepath.Join(outside, "both"), "outside\n")
	if err := os.RemoveAll(w.path("below")); err != nil {
		t.Fatal(err)
	}
	w.link("below", outside)
	linked, two := w.hashes(), w.take()
	if len(two.NotSaved) > 0 {
		t.Errorf("not saved are %q", two.NotSaved)
	}
	for i, back := range []struct {
		to   snapshot.Snapshot
		want map[string]string
	}{{one, folder}, {two, linked}, {one, folder}} {
		w.rewind(back.to.Commit, fmt.Sprintf("refs/paw/s_agent/rescue/%d", i))
		w.wantFiles("rewind", back.want)
	}
	if got := tree(t, outside); len(got) != 2 || readFile(t, filepath.Join(outside, "both")) != "outside\n" {
		t.Errorf("outside is %q", got)
	}
}

func TestRewindWithDetachedHead(t *testing.T) {
	w := newTurns(t, "")
	clean := w.take()
	w.in("checkout", "-q", "--detach")
	w.put("new", "x\n", 0o644)
	w.in("add", "-A")
	w.in("commit", "-qm", "detached")
	lost := w.in("rev-parse", "HEAD")
	r, err := w.m.Moves().Rewind(t.Context(), w.p.Path, clean.Commit, RewindOptions{Rescue: "refs/paw/s_agent/rescue/1"})
	if err != nil || r.Commit != lost || w.in("rev-parse", "HEAD") != w.base || w.git("rev-parse", "agent") != w.base {
		t.Errorf("got %+v, %v", r, err)
	}
}

func TestRewindIsRefused(t *testing.T) {
	for _, c := range []struct {
		what, says string
		prepare    func(w *turns)
	}{
		{"merge", "merge is not finished", func(w *turns) {
			w.in("checkout", "-q", "-b", "side", w.base)
			w.put("a.txt", "side\n", 0o644)
			w.in("commit", "-qam", "side")
			w.in("checkout", "-q", "agent")
			w.put("a.txt", "agent\n", 0o644)
			w.in("commit", "-qam", "agent")
			if git.In(w.p.Path).Run(w.t.Context(), "merge", "-q", "side") == nil {
				w.t.Fatal("no conflict")
			}
		}},
		{"conflict of a stash", "conflict is not resolved", func(w *turns) {
			w.put("a.txt", "stashed\n", 0o644)
			w.in("stash", "-q")
			w.put("a.txt", "agent\n", 0o644)
			w.in("commit", "-qam", "agent")
			if git.In(w.p.Path).Run(w.t.Context(), "stash", "pop", "-q") == nil {
				w.t.Fatal("no conflict")
			}
		}},
		{"locked index", "the index is locked", func(w *turns) {
			writeFile(w.t, filepath.Join(w.in("rev-parse", "--absolute-git-dir"), "index.lock"), "")
		}},
		{"ignored file", "keep is ignored", func(w *turns) {
			w.put(".gitignore", "keep\n", 0o644)
			w.put("keep", "precious\n", 0o644)
		}},
		{"ignored folder", "is ignored", func(w *turns) {
			os.Remove(w.path("keep"))
			w.put(".gitignore", "precious\n", 0o644)
			w.put("keep/precious", "x\n", 0o644)
		}},
		{"ignored file for a folder", "below is ignored", func(w *turns) {
			os.RemoveAll(w.path("below"))
			w.put(".gitignore", "below\n", 0o644)
			w.put("below", "precious\n", 0o644)
		}},
		{"ignored link for a folder", "below is ignored", func(w *turns) {
			os.RemoveAll(w.path("below"))
			w.put(".gitignore", "below\n", 0o644)
			w.link("below", w.scratch)
		}},
		{"embedded repository", "below is a repository of its own, and in the way", func(w *turns) {
			os.RemoveAll(w.path("below"))
			w.in("init", "-q", "below")
			writeFile(w.t, w.path("below/other"), "x\n")
		}},
		{"filter", "x.bad cannot be saved: git update-index: fatal: x.bad: clean filter 'bad' failed", func(w *turns) {
			w.git("config", "filter.bad.clean", "exit 1")
			w.git("config", "filter.bad.required", "true")
			w.put(".gitattributes", "*.bad filter=bad\n", 0o644)
			w.put("x.bad", "x\n", 0o644)
		}},
		{"submodule", "submodule sub is at another commit", func(w *turns) {
			sub := newWorld(w.t)
			w.in("-c", "protocol.file.allow=always", "submodule", "add", "-q", sub.Dir, "sub")
		}},
		{"submodule with changes", "submodule sub has changes", func(w *turns) {
			sub := newWorld(w.t)
			w.in("-c", "protocol.file.allow=always", "submodule", "add", "-q", sub.Dir, "sub")
			w.in("commit", "-qm", "sub")
			w.put("sub/new", "x\n", 0o644)
		}},
	} {
		t.Run(c.what, func(t *testing.T) {
			w := newTurns(t, "")
			w.put("keep", "at the turn\n", 0o644)
			w.put("below/file", "at the turn\n", 0o644)
			one := w.take()
			c.prepare(w)
			before := w.everything()
			_, err := w.m.Moves().Rewind(t.Context(), w.p.Path, one.Commit, RewindOptions{Rescue: "refs/paw/s_agent/rescue/1"})
			var refused *git.ConflictError
			var locked *IndexLockedError
			var notSaved *snapshot.NotSavedError
			if !errors.As(err, &refused) && !errors.As(err, &locked) && !errors.As(err, &notSaved) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want %q", err, c.says)
			}
			if diff := cmp.Diff(before, w.everything()); diff != "" {
				t.Errorf("it has changed\n%s", diff)
			}
			if got := w.git("for-each-ref", "refs/paw/s_agent/rescue"); got != "" {
				t.Errorf("there is %s", got)
			}
		})
	}
}

func TestRewindLeavesIgnoredFileThatIsTheSame(t *testing.T) {
	w := newTurns(t, "")
	w.put("keep", "same\n", 0o644)
	one := w.take()
	w.put(".gitignore", "keep\n", 0o644)
	w.rewind(one.Commit, "refs/paw/s_agent/rescue/1")
	if got := readFile(t, w.path("keep")); got != "same\n" || w.in("status", "--porcelain") != "?? keep" {
		t.Errorf("keep is %q, status %q", got, w.in("status", "--porcelain"))
	}
}

// TestUndoTracksIgnoredFilesAgain rewinds an agent that has added a file in spite of .gitignore: after
// the undo the file is the agent's work as before.
func TestUndoTracksIgnoredFilesAgain(t *testing.T) {
	w := newTurns(t, "")
	w.put(".gitignore", "forced\nother\n", 0o644)
	one := w.take()
	w.put("forced", "work\n", 0o644)
	w.put("other", "ignored\n", 0o644)
	w.in("add", "--force", "forced")
	two := w.take()
	r := w.rewind(one.Commit, "refs/paw/s_agent/rescue/1")
	if _, err := w.m.Moves().Rewind(t.Context(), w.p.Path, r.Commit, RewindOptions{Rescue: "refs/paw/s_agent/rescue/2"}); err != nil {
		t.Fatal(err)
	}
	if got := w.in("ls-files", "--cached", "--", "forced", "other"); got != "forced" {
		t.Errorf("the index has %q", got)
	}
	if again := w.take(); w.git("rev-parse", again.Commit+"^{tree}") != w.git("rev-parse", two.Commit+"^{tree}") {
		t.Errorf("the snapshot has %s", w.git("ls-tree", "-r", "--name-only", again.Commit))
	}
}

func TestRewindKeepsEmbeddedRepositoryAndNamesIt(t *testing.T) {
	w := newTurns(t, "")
	one := w.take()
	w.in("init", "-q", "inner")
	w.put("inner/f", "precious\n", 0o644)
	w.put("new", "x\n", 0o644)
	r := w.rewind(one.Commit, "refs/paw/s_agent/rescue/1")
	if !slices.Equal(r.NotSaved, []string{"inner"}) || readFile(t, w.path("inner/f")) != "precious\n" || disk.Exists(w.path("new")) {
		t.Errorf("got %+v", r)
	}
}

func TestRewindShowsHiddenEditsAndSavesThem(t *testing.T) {
	w := newTurns(t, "")
	one := w.take()
	w.in("update-index", "--assume-unchanged", "a.txt")
	w.in("update-index", "--skip-worktree", "dir/b.txt")
	w.put("a.txt", "hidden\n", 0o644)
	w.put("dir/b.txt", "hidden\n", 0o644)
	second := w.hashes()
	r := w.rewind(one.Commit, "refs/paw/s_agent/rescue/1")
	if readFile(t, w.path("a.txt")) != "one\n" || readFile(t, w.path("dir/b.txt")) != "two\n" {
		t.Errorf("files are %v", w.hashes())
	}
	w.rewind(r.Commit, "refs/paw/s_agent/rescue/2")
	w.wantFiles("undo", second)
}

func TestRewindDoesNotReplaceRescue(t *testing.T) {
	w := newTurns(t, "")
	one := w.take()
	w.git("update-ref", "refs/paw/s_agent/rescue/1", w.base)
	w.put("a.txt", "x\n", 0o644)
	before := w.everything()
	if _, err := w.m.Moves().Rewind(t.Context(), w.p.Path, one.Commit, RewindOptions{Rescue: "refs/paw/s_agent/rescue/1"}); !errors.Is(err, refs.ErrTaken) {
		t.Errorf("got %v", err)
	}
	if _, err := w.m.Moves().Rewind(t.Context(), w.p.Path, "nothing", RewindOptions{Rescue: "refs/paw/s_agent/rescue/2"}); err == nil {
		t.Error("a target that is not there was accepted")
	}
	if diff := cmp.Diff(before, w.everything()); diff != "" {
		t.Errorf("it has changed\n%s", diff)
	}
}
