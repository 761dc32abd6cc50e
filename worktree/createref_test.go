package worktree

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"paw/worktree/git"
)

// TestCreateRefWhateverIsThere says for each case whether the ref is made, and checks that otherwise nothing has changed.
func TestCreateRefWhateverIsThere(t *testing.T) {
	const ref = "refs/paw/s_a/turn/1"
	for name, c := range map[string]struct {
		ref     string
		arrange func(w *world)
		made    bool
		err     string // "" for none: it was there before
	}{
		"nothing there":              {ref: ref, arrange: func(*world) {}, made: true},
		"a tag":                      {ref: "refs/tags/afk-s_a-1", arrange: func(*world) {}, made: true},
		"others are packed":          {ref: ref, arrange: func(w *world) { w.git("tag", "x"); w.git("pack-refs", "--all") }, made: true},
		"the commit is packed":       {ref: ref, arrange: func(w *world) { w.git("repack", "-q", "-a", "-d") }, made: true},
		"its store is elsewhere":     {ref: ref, arrange: func(w *world) { w.shareObjects() }, made: true},
		"a log of every ref":         {ref: ref, arrange: func(w *world) { w.git("config", "core.logAllRefUpdates", "always") }, made: true},
		"modes for a group":          {ref: ref, arrange: func(w *world) { w.git("config", "core.sharedRepository", "group") }, made: true},
		"refs synced to disk":        {ref: ref, arrange: func(w *world) { w.git("config", "core.fsync", "reference") }, made: true},
		"settings of another file":   {ref: ref, arrange: func(w *world) { w.git("config", "include.path", "other") }, made: true},
		"there and loose":            {ref: ref, arrange: func(w *world) { w.git("update-ref", ref, w.base) }},
		"there and packed":           {ref: ref, arrange: func(w *world) { w.git("update-ref", ref, w.base); w.git("pack-refs", "--all") }},
		"a folder of its name":       {ref: ref, arrange: func(w *world) { w.git("update-ref", ref+"/x", w.base) }, err: "cannot"},
		"a packed folder":            {ref: ref, arrange: func(w *world) { w.git("update-ref", ref+"/x", w.base); w.git("pack-refs", "--all") }, err: "cannot"},
		"a ref in place of a folder": {ref: ref, arrange: func(w *world) { w.git("update-ref", "refs/paw/s_a", w.base) }, err: "cannot"},
		"a packed one":               {ref: ref, arrange: func(w *world) { w.git("update-ref", "refs/paw/s_a", w.base); w.git("pack-refs", "--all") }, err: "cannot"},
		"somebody holds it":          {ref: ref, arrange: func(w *world) { writeFile(w.t, filepath.Join(w.Dir, ".git", ref+".lock"), "") }, err: "locked by"},
		"the commit is not there":    {ref: ref, arrange: func(w *world) { w.m.Repository.CommonDir, w.m.Repository.Path = w.empty(), "" }, err: "nonexistent object"},
		"a name with a dot":          {ref: "refs/paw/a.lock", arrange: func(*world) {}, err: "refs/paw/a.lock"},
		"a name with an empty part":  {ref: "refs/paw//a", arrange: func(*world) {}, err: "refs/paw//a"},
	} {
		create := func(t *testing.T, writing bool) {
			w := newWorld(t)
			c.arrange(w)
			before := w.git("for-each-ref")
			if writing {
				var done func()
				w.m, done = w.m.Writing()
				defer done()
			}
			made, err := w.m.Refs().Create(t.Context(), c.ref, w.base)
			if made != c.made || (err != nil) != (c.err != "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Fatalf("made: %v, %v", made, err)
			}
			after := w.git("for-each-ref")
			if !c.made && after != before {
				t.Errorf("the refs were\n%s\nand are\n%s", before, after)
			}
			if c.made && (w.git("rev-parse", "--verify", c.ref) != w.base || w.git("fsck") != "") {
				t.Errorf("git sees\n%s", after)
			}
		}
		t.Run(name, func(t *testing.T) { create(t, false) })
		t.Run(name+", by a git that goes on", func(t *testing.T) { create(t, true) })
	}
}

// TestOneGitMakesRefsWhateverHappensBetween has others change the refs while a git waits for the next one to make.
func TestOneGitMakesRefsWhateverHappensBetween(t *testing.T) {
	w := newWorld(t)
	m, done := w.m.Writing()
	defer done()
	n := 0
	ref := func() string { n++; return fmt.Sprintf("refs/paw/s_a/turn/%d", n) }
	create := func(what, ref, oid string, made, fails bool) {
		t.Helper()
		got, err := m.Refs().Create(t.Context(), ref, oid)
		if got != made || (err != nil) != fails {
			t.Errorf("%s: made %t, %v", what, got, err)
		}
		if made && w.git("rev-parse", "--verify", ref) != oid {
			t.Errorf("%s: not there when the call returns", what)
		}
	}
	create("first", ref(), w.base, true, false)
	w.git("pack-refs", "--all", "--prune")
	create("packed", "refs/paw/s_a/turn/1", w.base, false, false)
	create("after one that was there", ref(), w.base, true, false)
	second := w.commit("second")
	create("a new commit", ref(), second, true, false)
	w.git("repack", "-q", "-a", "-d")
	create("the commit was packed", ref(), second, true, false)
	theirs := ref()
	w.git("update-ref", theirs, w.base)
	create("made by another", theirs, second, false, false)
	create("after that", ref(), second, true, false)
	w.git("update-ref", "refs/paw/s_a/x/y", second)
	create("a folder of its name", "refs/paw/s_a/x", second, false, true)
	w.git("update-ref", "-d", "refs/paw/s_a/x/y")
	create("no folder any more", "refs/paw/s_a/x", second, true, false)
}

func TestOneGitMakesAllRefsOfATurn(t *testing.T) {
	w := newWorld(t)
	do := counted(t)
	m, done := w.m.Writing()
	do("three refs", 1, func() (err error) {
		for n := range 3 {
			if _, err = m.Refs().Create(t.Context(), fmt.Sprintf("refs/paw/s_a/turn/%d", n), w.base); err != nil {
				return err
			}
		}
		return nil
	})
	if gits := gitsAt(filepath.Dir(w.Dir)); gits != 1 {
		t.Errorf("%d git processes wait for the next ref", gits)
	}
	if done(); gitsAt(filepath.Dir(w.Dir)) != 0 {
		t.Error("git has not ended")
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
			theirs = w.m.Objects().Home().Run(t.Context(), git.Quietly("update-ref", ref, second, "")...) == nil
		})
		all.Go(func() {
			time.Sleep(time.Duration(round%20) * 200 * time.Microsecond) // about as long as git takes to come to it
			won, _ = w.m.Refs().Create(t.Context(), ref, first)
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
			won, err := w.m.Refs().Create(t.Context(), ref, w.base)
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
