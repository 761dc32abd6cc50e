package snapshot

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"paw/worktree/gittest"
)

// TestIndexIsListedWithWhatItHides lists indexes of each version, and one that is in two files.
func TestIndexIsListedWithWhatItHides(t *testing.T) {
	for _, version := range []string{"2", "4", "split"} {
		t.Run(version, func(t *testing.T) {
			w := gittest.New(t)
			for i := range 300 {
				w.Write(fmt.Sprintf("d%d/%s%d", i%7, strings.Repeat("long", i%60), i), "x")
			}
			w.Write("ü\tö\n", "x")
			w.Commit("many")
			w.Git("update-index", "--add", "--cacheinfo", "160000,"+w.Base+",sub")
			w.Git("update-index", "--assume-unchanged", "a.txt", "ü\tö\n")
			w.Git("update-index", "--skip-worktree", "dir/b.txt")
			if version == "split" {
				w.Git("update-index", "--split-index")
			} else {
				w.Git("update-index", "--index-version", version)
			}
			x, err := copyOfIndex(t.Context(), w.Dir, filepath.Join(w.Dir, ".git"), gittest.RealTemp(t))
			if err != nil {
				t.Fatal(err)
			}
			defer x.drop()
			if len(x.Entries) != 304 || !slices.IsSortedFunc(x.Entries, func(a, b IndexEntry) int { return strings.Compare(a.Name, b.Name) }) {
				t.Errorf("%d entries", len(x.Entries))
			}
			if got := fmt.Sprintf("%q %q %q", x.Assumed, x.Skipped, x.Submodules); got != `["a.txt" "ü\tö\n"] ["dir/b.txt"] ["sub"]` {
				t.Error(got)
			}
			if e := findEntry(x.Entries, "a.txt"); e.Mode+" "+e.ID != "100644 "+w.Git("rev-parse", "HEAD:a.txt") || e.Stage != "0" {
				t.Errorf("%+v", e)
			}
			if left := w.Git("diff-index", "--cached", "--name-only", "HEAD"); left != "sub" {
				t.Errorf("the index has changed: %s", left)
			}
		})
	}
}

func TestIndexThatIsCutIsNotUnderstood(t *testing.T) {
	w := gittest.New(t)
	index := filepath.Join(w.Dir, ".git/index")
	whole := gittest.ReadFile(t, index)
	for n := 1; n < len(whole); n += 7 {
		gittest.WriteFile(t, index, whole[:n])
		if x, err := copyOfIndex(t.Context(), w.Dir, filepath.Join(w.Dir, ".git"), gittest.RealTemp(t)); err == nil && len(x.Entries) != 2 {
			t.Fatalf("cut at %d: %+v", n, x.Entries)
		}
	}
}

// findEntry returns the entry of a path, that of no path when there is none.
func findEntry(all []IndexEntry, name string) IndexEntry {
	i, found := slices.BinarySearchFunc(all, name, func(e IndexEntry, name string) int { return strings.Compare(e.Name, name) })
	if !found {
		return IndexEntry{}
	}
	return all[i]
}
