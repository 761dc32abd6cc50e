package worktree

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"paw/config/disk"
)

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

// TestHiddenFilesStayHidden: a move leaves files that are hidden from git, and that it does not change, alone. One that it would
// change is in the way until the user shows it.
func TestHiddenFilesStayHidden(t *testing.T) {
	w := newMoving(t)
	w.git("update-index", "--assume-unchanged", "t/0.txt", "keep.txt")
	w.git("update-index", "--skip-worktree", "dir/b.txt")
	w.write("keep.txt", "a setting of the user's\n")
	w.write("dir/b.txt", "another one\n")
	v := w.move()
	if err := w.advance(v); !errors.As(err, new(*ObstacleError)) || w.bits() != "S dir/b.txt, h keep.txt, h t/0.txt" {
		t.Errorf("%v, hidden are %s", err, w.bits())
	}
	w.wantAt("refused", w.from, "")
	w.git("update-index", "--no-assume-unchanged", "t/0.txt")
	if err := w.advance(v); err != nil {
		t.Fatal(err)
	}
	if own := readFile(t, filepath.Join(w.Dir, "keep.txt")) + readFile(t, filepath.Join(w.Dir, "dir/b.txt")); w.bits() != "S dir/b.txt, h keep.txt" || own != "a setting of the user's\nanother one\n" {
		t.Errorf("hidden are %s, and the user's files are %q", w.bits(), own)
	}
	w.wantAt("there", w.to, "")
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
