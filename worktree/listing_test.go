package worktree

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestIndexIsListedWithWhatItHides lists indexes of each version, and one that is in two files.
func TestIndexIsListedWithWhatItHides(t *testing.T) {
	for _, version := range []string{"2", "4", "split"} {
		t.Run(version, func(t *testing.T) {
			w := newWorld(t)
			for i := range 300 {
				w.write(fmt.Sprintf("d%d/%s%d", i%7, strings.Repeat("long", i%60), i), "x")
			}
			w.write("ü\tö\n", "x")
			w.commit("many")
			w.git("update-index", "--add", "--cacheinfo", "160000,"+w.base+",sub")
			w.git("update-index", "--assume-unchanged", "a.txt", "ü\tö\n")
			w.git("update-index", "--skip-worktree", "dir/b.txt")
			if version == "split" {
				w.git("update-index", "--split-index")
			} else {
				w.git("update-index", "--index-version", version)
			}
			x, err := copyOfIndex(t.Context(), w.Dir, filepath.Join(w.Dir, ".git"), realTemp(t))
			if err != nil {
				t.Fatal(err)
			}
			defer x.drop()
			if len(x.listed) != 304 || !slices.IsSortedFunc(x.listed, func(a, b indexEntry) int { return strings.Compare(a.name, b.name) }) {
				t.Errorf("%d entries", len(x.listed))
			}
			if got := fmt.Sprintf("%q %q %q", x.Assumed, x.Skipped, x.Submodules); got != `["a.txt" "ü\tö\n"] ["dir/b.txt"] ["sub"]` {
				t.Error(got)
			}
			if e := findEntry(x.listed, "a.txt"); e.cacheinfo() != "100644,"+w.git("rev-parse", "HEAD:a.txt") || e.stage != "0" {
				t.Errorf("%+v", e)
			}
			if left := w.git("diff-index", "--cached", "--name-only", "HEAD"); left != "sub" {
				t.Errorf("the index has changed: %s", left)
			}
		})
	}
}

func TestIndexThatIsCutIsNotUnderstood(t *testing.T) {
	w := newWorld(t)
	index := filepath.Join(w.Dir, ".git/index")
	whole := readFile(t, index)
	for n := 1; n < len(whole); n += 7 {
		writeFile(t, index, whole[:n])
		if x, err := copyOfIndex(t.Context(), w.Dir, filepath.Join(w.Dir, ".git"), realTemp(t)); err == nil && len(x.listed) != 2 {
			t.Fatalf("cut at %d: %+v", n, x.listed)
		}
	}
}

// findEntry returns the entry of a path, that of no path when there is none.
func findEntry(all []indexEntry, name string) indexEntry {
	i, found := slices.BinarySearchFunc(all, name, func(e indexEntry, name string) int { return strings.Compare(e.name, name) })
	if !found {
		return indexEntry{}
	}
	return all[i]
}
