package worktree

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"paw/config/disk"
)

// hiding is a moving world in which each file of t but t/5.txt is hidden from git in another way.
func newHiding(t *testing.T) *moving {
	t.Helper()
	w := newMoving(t)
	w.git("update-index", "--assume-unchanged", "t/0.txt", "keep.txt")
	w.git("update-index", "--skip-worktree", "t/1.txt", "t/3.txt", "dir/b.txt")
	os.Remove(filepath.Join(w.Dir, "t/3.txt"))
	w.write("keep.txt", "a setting of the user's\n")
	w.write("dir/b.txt", "another one\n")
	w.write("t/0.txt", "tracked 0\n") // as it was, with another time
	w.write("t/1.txt", "tracked 1\n")
	return w
}

// bits are how git lists what is hidden: a small letter for assume-unchanged, S for skip-worktree.
func (w *moving) bits() string {
	var hidden []string
	for line := range strings.Lines(w.git("ls-files", "-v") + "\n") {
		if !strings.HasPrefix(line, "H ") {
			hidden = append(hidden, strings.TrimSpace(line))
		}
	}
	return strings.Join(hidden, ", ")
}

// own is what the files are that the user has hidden.
func (w *moving) own() string {
	return readFile(w.t, filepath.Join(w.Dir, "keep.txt")) + readFile(w.t, filepath.Join(w.Dir, "dir/b.txt"))
}

// TestHiddenFilesStayHidden: a move, one that fails when files were written, and one that was cut short leave the bits of
// entries and the files behind them alone.
func TestHiddenFilesStayHidden(t *testing.T) {
	w := newHiding(t)
	before, own := w.bits(), w.own()
	v := w.move()
	if err := w.advance(v); err != nil {
		t.Fatal(err)
	}
	if got := w.bits(); got != "S dir/b.txt, h keep.txt, h t/0.txt, S t/3.txt" || w.own() != own || disk.Exists(filepath.Join(w.Dir, "t/3.txt")) {
		t.Errorf("hidden are %s, and the user's files are %q", got, w.own())
	}
	w.wantAt("there", w.to, "")
	v.From, v.To = v.To, v.From
	if err := w.advance(v); err != nil {
		t.Fatal(err)
	}
	if got := w.bits(); got != strings.Replace(before, "S t/1.txt, ", "", 1) || w.own() != own {
		t.Errorf("back, hidden are %s instead of %s", got, before)
	}

	for _, how := range []string{"fails", "cut short", "cut short with its files", "cut short, landed"} {
		w := newHiding(t)
		v := w.move()
		switch how {
		case "fails":
			w.write(".git/info/attributes", "moved.txt filter=broken\n")
			w.git("config", "filter.broken.smudge", "exit 1")
			w.git("config", "filter.broken.required", "true")
			if err := w.advance(v); err == nil {
				t.Fatal("it did not fail")
			}
		case "cut short":
			w.cut(StepLocked, v)
		case "cut short with its files":
			w.cut(StepFiles, v)
		case "cut short, landed":
			w.cut(StepBranch, v)
		}
		w.finish(v)
		want, tip := before, w.from
		if how == "cut short, landed" {
			want, tip = "S dir/b.txt, h keep.txt, h t/0.txt, S t/3.txt", w.to
		}
		if got := w.bits(); got != want || w.own() != own || disk.Exists(filepath.Join(w.Dir, "t/3.txt")) {
			t.Errorf("%s: hidden are %s instead of %s", how, got, want)
		}
		w.wantAt(how, tip, "")
	}
}

// TestSparseCheckoutStaysSparse: neither a move that fails nor one that was cut short writes files that lie outside.
func TestSparseCheckoutStaysSparse(t *testing.T) {
	for _, how := range []string{"done", "fails", "cut short", "cut short with its files", "cut short, landed"} {
		w := newMoving(t)
		w.git("sparse-checkout", "set", "--cone", "dir")
		v := w.move()
		tip, sparse := w.from, w.bits()
		switch how {
		case "done":
			if err := w.advance(v); err != nil {
				t.Fatal(err)
			}
			tip, sparse = w.to, w.bits()
		case "fails":
			w.write(".git/info/attributes", "moved.txt filter=broken\n")
			w.git("config", "filter.broken.smudge", "exit 1")
			w.git("config", "filter.broken.required", "true")
			if err := w.advance(v); err == nil {
				t.Fatal("it did not fail")
			}
		case "cut short":
			w.cut(StepLocked, v)
		case "cut short with its files":
			w.cut(StepFiles, v)
		case "cut short, landed":
			w.cut(StepBranch, v)
			tip = w.to
		}
		w.finish(v)
		if got := w.bits(); how != "cut short, landed" && got != sparse {
			t.Errorf("%s: outside are %s instead of %s", how, got, sparse)
		}
		for _, name := range []string{"t", "new"} {
			if disk.Exists(filepath.Join(w.Dir, name)) {
				t.Errorf("%s: %s was written", how, name)
			}
		}
		w.wantAt(how, tip, "")
	}
}
