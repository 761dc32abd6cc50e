package worktree

import (
	"crypto/sha1"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestIndexIsReadAsByGit(t *testing.T) {
	for _, version := range []string{"2", "4"} {
		t.Run(version, func(t *testing.T) {
			w := newWorld(t)
			for i := range 300 {
				w.write(fmt.Sprintf("d%d/%s%d", i%7, strings.Repeat("long", i%60), i), "x")
			}
			w.write("ü ö", "x")
			w.commit("many")
			w.git("update-index", "--add", "--cacheinfo", "160000,"+w.base+",sub")
			w.git("update-index", "--assume-unchanged", "a.txt", "ü ö")
			w.git("update-index", "--skip-worktree", "dir/b.txt") // makes version 2 version 3
			w.git("update-index", "--index-version", version)
			got, err := readIndex(filepath.Join(w.Dir, ".git/index"), sha1.Size)
			if err != nil {
				t.Fatal(err)
			}
			var lines []string
			for _, e := range got.entries {
				lines = append(lines, listed(e))
			}
			want := nulSeparated(w.git("ls-files", "--stage", "-v", "-z"))
			if diff := cmp.Diff(want, lines); len(want) != 304 || diff != "" {
				t.Errorf("%d entries differ from git's %d:\n%s", len(lines), len(want), diff)
			}
			if head := w.git("rev-parse", "HEAD^{tree}"); got.tree != "" && got.tree != head {
				t.Errorf("the tree is %s", got.tree)
			}
			w.git("read-tree", "HEAD")
			if got, err := readIndex(filepath.Join(w.Dir, ".git/index"), sha1.Size); err != nil || got.tree != w.git("rev-parse", "HEAD^{tree}") {
				t.Errorf("the tree is %q, %v", got.tree, err)
			}
		})
	}
}

// listed is the line that `git ls-files --stage -v` has for an entry: a small letter for assume-unchanged, S for
// skip-worktree.
func listed(e indexEntry) string {
	tag := "H"
	if e.skipped() {
		tag = "S"
	}
	if e.assumed() {
		tag = strings.ToLower(tag)
	}
	return fmt.Sprintf("%s %06o %s %d\t%s", tag, e.mode(), e.id(), e.stage(), e.name)
}

func TestIndexThatIsNotAllThereIsNotUnderstood(t *testing.T) {
	w := newWorld(t)
	index := filepath.Join(w.Dir, ".git/index")
	whole := readFile(t, index)
	all, err := readIndex(index, sha1.Size)
	if err != nil || len(all.entries) != 2 || all.hash != indexHash(index, sha1.Size) || all.hash == "" {
		t.Fatalf("got %+v, %v", all, err)
	}
	for n := range len(whole) - 1 {
		cut := filepath.Join(w.Dir, ".git/cut")
		writeFile(t, cut, whole[:n])
		if x, err := readIndex(cut, sha1.Size); err == nil && len(x.entries) != 2 {
			t.Fatalf("cut at %d: %d entries", n, len(x.entries))
		}
	}
	w.git("update-index", "--split-index")
	if _, err := readIndex(index, sha1.Size); !errors.Is(err, errForeignIndex) {
		t.Errorf("split: %v", err)
	}
}
