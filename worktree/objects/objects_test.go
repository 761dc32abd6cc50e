package objects

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"paw/config/disk"
	"paw/worktree/gittest"
)

func TestMain(m *testing.M) { os.Exit(gittest.RunIsolated(m)) }

func TestObjectsInPacksAreFound(t *testing.T) {
	w := gittest.New(t)
	for n := range 40 {
		w.Write(fmt.Sprintf("f%d", n), fmt.Sprint(n))
		w.Commit(fmt.Sprint(n))
	}
	all := strings.Fields(w.Git("rev-list", "--objects", "--no-object-names", "--all"))
	w.Git("repack", "-q", "-a", "-d")
	w.Git("prune-packed")
	for _, oid := range all {
		if disk.Exists(looseObject(w.Repository.CommonDir, oid)) {
			t.Fatalf("%s is not packed", oid)
		}
		if !Stored(w.Repository.CommonDir, oid) {
			t.Errorf("%s is not found", oid)
		}
		for _, other := range []string{oid[1:] + "0", "f" + oid[:39], oid[:39]} {
			if !strings.Contains(strings.Join(all, " "), other) && Stored(w.Repository.CommonDir, other) {
				t.Errorf("%s is found", other)
			}
		}
	}
}

func TestTreeWithSomePathsOfAnotherCommit(t *testing.T) {
	w := gittest.New(t)
	w.Write("same", "1")
	w.Write("other", "1")
	first := w.Commit("first")
	var many []string
	for n := range 2 * mostArguments {
		many = append(many, fmt.Sprintf("%s%d", strings.Repeat("long/", 40), n))
		w.Write(many[n], "1")
	}
	w.Write("other", "2")
	second := w.Commit("second")
	o := New(w.Repository)
	for _, test := range []struct {
		commit, from string
		paths        []string
		same         string // the commit whose tree it is
	}{
		{second, first, nil, second},
		{second, first, append([]string{"other"}, many...), first},
		{first, second, append([]string{"other"}, many...), second},
	} {
		tree, err := o.TreeWith(t.Context(), test.commit, test.from, test.paths)
		if err != nil || tree != w.Git("rev-parse", test.same+"^{tree}") {
			t.Errorf("%d paths: %s, %v", len(test.paths), tree, err)
		}
	}
	tree, err := o.TreeWith(t.Context(), first, second, []string{"other", "not there"})
	if got := w.Git("ls-tree", "-r", "--name-only", tree); err != nil || got != "a.txt\ndir/b.txt\nother\nsame" {
		t.Errorf("%q, %v", got, err)
	}
}
