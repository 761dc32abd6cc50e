package worktree

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
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
			got, err := readIndex(filepath.Join(w.Dir, ".git/index"))
			if err != nil {
				t.Fatal(err)
			}
			want := parseIndexList(w.git("ls-files", "--stage", "-v", "-z"))
			if len(got) != 304 || !slices.Equal(got, want) {
				t.Errorf("%d entries differ from git's %d", len(got), len(want))
			}
		})
	}
}

func TestIndexThatIsNotAllThereIsNotUnderstood(t *testing.T) {
	w := newWorld(t)
	index := filepath.Join(w.Dir, ".git/index")
	whole := readFile(t, index)
	all, err := readIndex(index)
	if err != nil || len(all) != 2 {
		t.Fatalf("got %+v, %v", all, err)
	}
	for n := range len(whole) - 1 {
		cut := filepath.Join(w.Dir, ".git/cut")
		writeFile(t, cut, whole[:n])
		if entries, err := readIndex(cut); err == nil && !slices.Equal(entries, all) {
			t.Fatalf("cut at %d: %d entries", n, len(entries))
		}
	}
	w.git("update-index", "--split-index")
	if _, err := readIndex(index); !errors.Is(err, errForeignIndex) {
		t.Errorf("split: %v", err)
	}
}

func TestSnapshotWithSplitIndex(t *testing.T) {
	w := newWorld(t)
	p := w.made("agent")
	gitIn(t, p.Path, "update-index", "--split-index")
	writeFile(t, filepath.Join(p.Path, "staged"), "x\n")
	gitIn(t, p.Path, "add", "staged")
	writeFile(t, filepath.Join(p.Path, "new"), "y\n")
	s, err := w.m.Snapshot(t.Context(), p.Path, shotRef, "m") // git itself renews the time of the shared part
	if err != nil {
		t.Fatal(err)
	}
	got := w.files(s.Commit)
	if got["staged"] != "x\n" || got["new"] != "y\n" || got["a.txt"] != "one\n" {
		t.Errorf("got %q", got)
	}
}
