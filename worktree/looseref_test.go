package worktree

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestRefsWithoutGitWhereAllIsOrdinary says for each case whether the ref is made here, and checks that otherwise nothing
// has changed.
func TestRefsWithoutGitWhereAllIsOrdinary(t *testing.T) {
	const ref = "refs/paw/s_a/turn/1"
	for name, c := range map[string]struct {
		ref     string
		arrange func(w *world)
		made    bool
	}{
		"nothing there":              {ref, func(*world) {}, true},
		"a tag":                      {"refs/tags/afk-s_a-1", func(*world) {}, true},
		"others are packed":          {ref, func(w *world) { w.git("tag", "x"); w.git("pack-refs", "--all") }, true},
		"the commit is packed":       {ref, func(w *world) { w.git("repack", "-q", "-a", "-d") }, true},
		"there and loose":            {ref, func(w *world) { w.git("update-ref", ref, w.base) }, false},
		"there and packed":           {ref, func(w *world) { w.git("update-ref", ref, w.base); w.git("pack-refs", "--all") }, false},
		"a folder of its name":       {ref, func(w *world) { w.git("update-ref", ref+"/x", w.base) }, false},
		"a packed folder":            {ref, func(w *world) { w.git("update-ref", ref+"/x", w.base); w.git("pack-refs", "--all") }, false},
		"a ref in place of a folder": {ref, func(w *world) { w.git("update-ref", "refs/paw/s_a", w.base) }, false},
		"a packed one":               {ref, func(w *world) { w.git("update-ref", "refs/paw/s_a", w.base); w.git("pack-refs", "--all") }, false},
		"somebody holds it":          {ref, func(w *world) { writeFile(w.t, filepath.Join(w.Dir, ".git", ref+".lock"), "") }, false},
		"the commit is not there":    {ref, func(w *world) { w.m.Repository.CommonDir = w.empty() }, false},
		"its store is elsewhere":     {ref, func(w *world) { w.shareObjects() }, false},
		"a log of every ref":         {ref, func(w *world) { w.git("config", "core.logAllRefUpdates", "always") }, false},
		"modes for a group":          {ref, func(w *world) { w.git("config", "core.sharedRepository", "group") }, false},
		"refs synced to disk":        {ref, func(w *world) { w.git("config", "core.fsync", "reference") }, false},
		"settings of another file":   {ref, func(w *world) { w.git("config", "include.path", "other") }, false},
		"a branch":                   {"refs/heads/x", func(*world) {}, false},
		"of one worktree":            {"refs/worktree/x", func(*world) {}, false},
		"a name with a dot":          {"refs/paw/a.lock", func(*world) {}, false},
		"a name with an empty part":  {"refs/paw//a", func(*world) {}, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			c.arrange(w)
			before := w.git("for-each-ref")
			if made := w.m.createLoose(t.Context(), c.ref, w.base); made != c.made {
				t.Fatalf("made: %v", made)
			}
			after := w.git("for-each-ref")
			if !c.made && after != before {
				t.Errorf("the refs were\n%s\nand are\n%s", before, after)
			}
			if c.made && (w.git("rev-parse", "--verify", c.ref) != w.base || w.git("fsck") != "") {
				t.Errorf("git sees\n%s", after)
			}
			if left, _ := filepath.Glob(filepath.Join(w.m.Repository.CommonDir, "paw", "ref-*")); len(left) > 0 {
				t.Errorf("left: %q", left)
			}
		})
	}
}

// empty is the git directory of a repository without objects.
func (w *world) empty() string {
	w.t.Helper()
	dir := realTemp(w.t)
	gitIn(w.t, dir, "init", "-q")
	return filepath.Join(dir, ".git")
}

// shareObjects makes the repository one that borrows all objects from another.
func (w *world) shareObjects() {
	w.t.Helper()
	dir := filepath.Join(realTemp(w.t), "borrower")
	w.git("clone", "-q", "--shared", w.Dir, dir)
	w.Dir = dir
	w.open()
}

// TestRefIsAsReadableAsGits compares the mode of a ref with that of one that git made.
func TestRefIsAsReadableAsGits(t *testing.T) {
	w := newWorld(t)
	w.git("update-ref", "refs/paw/s_a/turn/1", w.base)
	if !w.m.createLoose(t.Context(), "refs/paw/s_a/turn/2", w.base) {
		t.Fatal("not made")
	}
	var seen []string
	for _, n := range []string{"1", "2"} {
		info, err := os.Lstat(filepath.Join(w.Dir, ".git/refs/paw/s_a/turn", n))
		if err != nil {
			t.Fatal(err)
		}
		seen = append(seen, info.Mode().String())
	}
	if seen[0] != seen[1] {
		t.Errorf("the modes are %q", seen)
	}
}

// TestGitAndPawMakeOneRef lets both make the same ref at the same time: one wins, and the ref is its.
func TestGitAndPawMakeOneRef(t *testing.T) {
	w := newWorld(t)
	first, second := w.base, w.commit("second")
	const rounds = 60
	ours := 0
	for round := range rounds {
		ref := fmt.Sprintf("refs/paw/s_a/claim/%d", round)
		var all sync.WaitGroup
		var won, theirs bool
		all.Go(func() {
			theirs = w.m.home().Run(t.Context(), quietly("update-ref", ref, second, "")...) == nil
		})
		all.Go(func() {
			time.Sleep(time.Duration(round%20) * 200 * time.Microsecond) // about as long as git takes to come to it
			won = w.m.createLoose(t.Context(), ref, first)
		})
		all.Wait()
		at := w.git("rev-parse", "--verify", ref)
		if won == theirs || won && at != first || theirs && at != second {
			t.Fatalf("round %d: paw has won: %v, git has won: %v, the ref is %s", round, won, theirs, at)
		}
		if won {
			ours++
		}
	}
	t.Logf("of %d refs paw has made %d first", rounds, ours)
}

// TestRefsAreMadeWhileGitPacksThem makes each ref twice and packs all the while.
func TestRefsAreMadeWhileGitPacksThem(t *testing.T) {
	w := newWorld(t)
	stop := packing(t, w)
	const count = 150
	for n := range count {
		ref := fmt.Sprintf("refs/paw/s_a/claim/%d", n)
		for try := range 2 {
			won, err := w.m.CreateRef(t.Context(), ref, w.base)
			if err != nil {
				t.Error(err)
			}
			if try == 1 && won {
				t.Errorf("%s was made twice", ref)
			}
		}
	}
	stop()
	if got := strings.Count(w.git("for-each-ref", "--format=%(refname)", "refs/paw")+"\n", "\n"); got != count {
		t.Errorf("%d refs, want %d", got, count)
	}
}

// TestGitThatHasLookedBeforeWins plays a git that has found no ref, and puts its own in the place after paw has made it.
func TestGitThatHasLookedBeforeWins(t *testing.T) {
	w := newWorld(t)
	first, second := w.base, w.commit("second")
	const ref = "refs/paw/s_a/claim/1"
	common := w.m.Repository.CommonDir
	finished, err := newRefFile(filepath.Join(common, "paw"), first)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(common, ref)
	writeFile(t, file+".lock", second+"\n")
	if err := os.Link(finished, file); err != nil || !stays(common, ref, finished) {
		t.Fatalf("it is not ours: %v", err)
	}
	w.git("pack-refs", "--all", "--no-prune")
	if !stays(common, ref, finished) {
		t.Error("it is not ours any more when it was packed")
	}
	if err := os.Rename(file+".lock", file); err != nil || stays(common, ref, finished) {
		t.Errorf("it is still ours: %v", err)
	}
	if err := os.Remove(file); err != nil || !stays(common, ref, finished) {
		t.Errorf("it is not ours when it is packed alone: %v", err)
	}
}

func TestLitterOfKilledPawIsSwept(t *testing.T) {
	w := newWorld(t)
	dir := filepath.Join(w.Dir, ".git/paw")
	for name, age := range map[string]time.Duration{"ref-1-a": 2 * scratchAge, "ref-2-b": 0} {
		writeFile(t, filepath.Join(dir, name), w.base+"\n")
		then := time.Now().Add(-age)
		if err := os.Chtimes(filepath.Join(dir, name), then, then); err != nil {
			t.Fatal(err)
		}
	}
	if !w.m.createLoose(t.Context(), "refs/paw/s_a/turn/1", w.base) {
		t.Fatal("not made")
	}
	if exists(filepath.Join(dir, "ref-1-a")) || !exists(filepath.Join(dir, "ref-2-b")) {
		t.Error("not the old one alone was deleted")
	}
}
