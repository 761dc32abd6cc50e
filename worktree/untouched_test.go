package worktree

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"paw/worktree/gittest"
)

// TestFileThatNoCheckoutHasCleanIsNotChanged has files that git lists as changed in every fresh
// checkout, since the attributes came after the files.
func TestFileThatNoCheckoutHasCleanIsNotChanged(t *testing.T) {
	for name, the := range map[string]struct{ file, content, attributesIn, attributes, clean, edited, saved string }{
		"large file": {"a.bin", "binary\n", ".", "*.bin filter=f\n", "cat >/dev/null; echo pointer", "more\n", "pointer\n"},
		"notebook":   {"a.ipynb", "out: 1\ncode\n", ".", "*.ipynb filter=f\n", "sed /^out/d", "out: 2\nmore\n", "more\n"},
		"line ends":  {"a.txt", "one\r\ntwo\r\n", ".", "*.txt text\n", "cat", "one\r\n", "one\n"},
		"mixed ends": {"a b.bat", "one\r\ntwo\n", ".", "*.bat text eol=crlf\n", "cat", "one\r\n", "one\n"},
		"keyword":    {"dir/a", "$Id: abc $\n", "dir", "a ident\n", "cat", "$Id: abc $ x\n", "$Id$ x\n"},
		"both ways":  {"dir/x/a", "one\n", "dir", "a filter=f\n", "tr a-z A-Z", "two\n", "TWO\n"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newTurns(t, "")
			writeFile(t, w.path(the.file), the.content)
			w.in("add", the.file)
			w.in("commit", "-q", "-m", "file")
			w.git("config", "filter.f.clean", the.clean)
			w.git("config", "filter.f.smudge", "sed s/one/1/")
			writeFile(t, w.path(the.attributesIn+"/.gitattributes"), the.attributes)
			w.in("add", "--", the.attributesIn+"/.gitattributes")
			w.in("commit", "-q", "-m", "attributes")
			os.Remove(w.path(the.file))
			w.in("checkout", "-q", "--", the.file)
			then := time.Now().Add(-time.Hour)
			os.Chtimes(w.path(the.file), then, then)
			head := gittest.At(t, w.p.Path, "HEAD")
			if w.in("status", "--porcelain") == "" {
				t.Fatal("git lists nothing")
			}
			if got := w.take(); got.Commit != head {
				t.Errorf("the snapshot differs from HEAD:\n%s", w.git("diff-tree", "-r", "-p", head, got.Commit))
			}
			if dirt := w.dirt(w.p); !dirt.Clean() {
				t.Errorf("would be lost: %s", dirt.Summary())
			}
			writeFile(t, w.path(the.file), the.edited)
			got := w.take()
			if saved := w.files(got.Commit)[the.file]; saved != the.saved {
				t.Errorf("saved is %q", saved)
			}
			if dirt := w.dirt(w.p); !slices.Equal(dirt.Uncommitted, []string{the.file}) {
				t.Errorf("would be lost: %s", dirt.Summary())
			}
		})
	}
}

// TestSubmoduleNotUpdatedIsNotChanged moves HEAD to a commit with another commit of a submodule.
func TestSubmoduleNotUpdatedIsNotChanged(t *testing.T) {
	w, p, sub := withSubmodule(t)
	was := gitIn(t, sub, "rev-parse", "HEAD")
	gitIn(t, sub, "commit", "-q", "--allow-empty", "-m", "newer")
	newer := gitIn(t, sub, "rev-parse", "HEAD")
	gitIn(t, p.Path, "update-index", "--cacheinfo", "160000,"+newer+",sub")
	gitIn(t, p.Path, "commit", "-q", "-m", "newer")
	shot := func(ref string) (got, link string, behind []string) {
		t.Helper()
		s, err := w.m.Snapshots().Take(t.Context(), p.Path, "refs/paw/s_a/"+ref, "m")
		if err != nil {
			t.Fatal(err)
		}
		return s.Commit, gitIn(t, p.Path, "rev-parse", s.Commit+":sub"), s.Behind
	}
	gitIn(t, sub, "checkout", "-q", "--detach", was)
	if commit, _, behind := shot("1"); commit != gitIn(t, p.Path, "rev-parse", "HEAD") || !slices.Equal(behind, []string{"sub"}) {
		t.Errorf("behind is taken for a change: %s, behind %q", commit, behind)
	}
	writeFile(t, filepath.Join(p.Path, "new"), "x\n")
	if _, link, _ := shot("2"); link != newer {
		t.Errorf("beside a change the submodule is at %s", link)
	}
	gitIn(t, sub, "commit", "-q", "--allow-empty", "-m", "of its own")
	if _, link, behind := shot("3"); link != gitIn(t, sub, "rev-parse", "HEAD") || len(behind) > 0 {
		t.Errorf("a commit that no HEAD had is %s, behind %q", link, behind)
	}
	gitIn(t, sub, "checkout", "-q", "--detach", was)
	gitIn(t, p.Path, "add", "sub")
	if _, link, behind := shot("4"); link != was || len(behind) > 0 {
		t.Errorf("a staged move back is %s, behind %q", link, behind)
	}
}
