package orchestrator

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"paw/orchestrator/errs"
	"paw/orchestrator/landing"
	"paw/session/turn"
)

// withoutWorld is a random history of turns that have landed. Every line of a file is there once and begins with the turn that wrote it.
type withoutWorld struct {
	*landModel
	r       *rand.Rand
	n       int
	removed map[string][]string // lines that a turn has removed, by turn
	merged  map[string]bool     // turns that have merged main
}

func newWithoutWorld(t *testing.T, seed uint64) *withoutWorld {
	w := &withoutWorld{newLandModel(t, t.TempDir()), rand.New(rand.NewPCG(seed, 7)), 0, map[string][]string{}, map[string]bool{}}
	for _, file := range []string{"f", "g"} {
		var lines []string
		for i := range 24 {
			lines = append(lines, fmt.Sprintf("base %s%d", file, i))
		}
		w.put(w.repo, file, strings.Join(lines, "\n")+"\n")
	}
	w.commit(w.repo, "lines")
	for _, name := range []string{"a", "b"} {
		w.git(w.worktree(name), "merge", "-q", "main")
	}
	return w
}

// edit changes some lines of a file in a directory, in the name of a turn: lines in place of others, new ones, none.
func (w *withoutWorld) edit(dir, turn string) {
	file := []string{"f", "g", "h"}[w.r.IntN(3)]
	lines := strings.Split(strings.TrimSuffix(w.readFiles(dir)[file], "\n"), "\n")
	at := w.r.IntN(len(lines))
	end := min(at+w.r.IntN(3), len(lines))
	for _, line := range lines[at:end] {
		if !strings.HasPrefix(line, turn+" ") && line != "" {
			w.removed[turn] = append(w.removed[turn], line)
		}
	}
	var fresh []string
	for range w.r.IntN(3) {
		w.n++
		fresh = append(fresh, fmt.Sprintf("%s line%d", turn, w.n))
	}
	lines = slices.DeleteFunc(slices.Replace(lines, at, end, fresh...), func(line string) bool { return line == "" })
	w.put(dir, file, strings.Join(append(lines, ""), "\n"))
}

// turn has an agent do a turn, which may commit and may merge main, and returns its name.
func (w *withoutWorld) turn(agent string) string {
	a := w.agents[agent]
	name := fmt.Sprintf("%s@%d", agent, len(a.turns))
	w.landModel.turn(a, func() {
		dir := w.worktree(agent)
		w.edit(dir, name)
		if w.r.IntN(3) == 0 {
			w.commit(dir, name)
			if w.r.IntN(2) == 0 {
				if _, err := w.tryGit(dir, "merge", "-q", "--no-edit", "main"); err != nil {
					_, _ = w.tryGit(dir, "merge", "--abort")
				} else {
					w.merged[name] = true
				}
			}
		}
		if w.r.IntN(2) == 0 {
			w.edit(dir, name)
		}
	})
	return name
}

func (w *withoutWorld) land(agent string, o landing.Options) error {
	o.NoCheck = true
	_, err := landing.Land(w.t.Context(), w.h, w.load(), agent, o)
	w.load()
	return err
}

// lines returns how often main has each line.
func (w *withoutWorld) lines() map[string]int {
	all := map[string]int{}
	for file, text := range w.readFiles(w.repo) {
		for line := range strings.Lines(text) {
			all[file+": "+strings.TrimSpace(line)]++
		}
	}
	return all
}

// byGit returns what plain git makes of main without a turn: the tree, or the files that conflict.
func (w *withoutWorld) byGit(agent string, number int) (tree string, conflicts []string) {
	end := turn.TurnRef("s_"+agent, number)
	ours := w.git(w.repo, "commit-tree", "main^{tree}", "-p", end, "-m", "ours")
	back := w.git(w.repo, "commit-tree", turn.BeforeRef("s_"+agent, number)+"^{tree}", "-p", end, "-m", "back")
	out, err := w.tryGit(w.repo, "merge-tree", "--write-tree", "--name-only", "--no-messages", ours, back)
	lines := strings.Split(out, "\n")
	if err == nil {
		return lines[0], nil
	}
	return "", lines[1:]
}

// TestWithoutRandomly: what paw land --without makes of random histories is main without exactly that turn, or a conflict in the files in
// which git has one. The turn stays out of the next landing, and the undo brings all of it back.
func TestWithoutRandomly(t *testing.T) {
	worlds := uint64(5)
	if testing.Short() {
		worlds = 2
	}
	clean, conflicted := 0, 0
	for seed := range worlds {
		w := newWithoutWorld(t, seed)
		done := map[string]int{} // newest turn that has landed
		for range 9 {
			agent := []string{"a", "b"}[w.r.IntN(2)]
			w.turn(agent)
			switch as := landing.Forms[w.r.IntN(3)]; w.r.IntN(4) {
			case 0, 1:
				if w.land(agent, landing.Options{As: as}) == nil {
					done[agent] = len(w.agents[agent].turns) - 1
				}
			case 2:
				w.edit(w.repo, fmt.Sprintf("user%d", w.n))
				w.commit(w.repo, "user")
			}
		}
		for _, agent := range slices.Sorted(maps.Keys(done)) {
			for number := 1; number <= done[agent]; number++ {
				if w.without(seed, agent, number) {
					clean++
				} else {
					conflicted++
				}
			}
		}
	}
	if t.Logf("%d turns came out, %d were built on", clean, conflicted); clean == 0 || conflicted == 0 {
		t.Error("the worlds are too alike")
	}
}

// without takes one turn out, holds it against what it has to be, and leaves main as it was.
func (w *withoutWorld) without(seed uint64, agent string, number int) (clean bool) {
	name, tip, before := fmt.Sprintf("%s@%d", agent, number), w.tip(), w.lines()
	fail := func(format string, args ...any) {
		w.t.Errorf("seed %d, %s: %s", seed, name, fmt.Sprintf(format, args...))
	}
	tree, conflicts := w.byGit(agent, number)
	err := w.land(agent, landing.Options{Turn: fmt.Sprint(number), Without: true})
	if err != nil {
		var e *errs.Error
		var named []string
		for _, one := range landing.CollisionsOf(err) {
			named = append(named, one.Path)
		}
		if !errors.As(err, &e) || e.Kind != errs.Conflict || w.tip() != tip {
			fail("%v", err)
		} else if slices.Sort(named); !w.merged[name] && !slices.Equal(named, conflicts) {
			fail("conflicts in %q, git has them in %q", named, conflicts)
		}
		return false
	}
	if now := w.git(w.repo, "rev-parse", "main^{tree}"); !w.merged[name] && now != tree {
		fail("main is %s, git makes %s, conflicts in %q", now, tree, conflicts)
	}
	for line := range w.lines() {
		_, text, _ := strings.Cut(line, ": ")
		if before[line] == 0 && !slices.Contains(w.removed[name], text) {
			fail("main has got %q", line)
		}
	}
	for line := range before {
		if _, text, _ := strings.Cut(line, ": "); w.lines()[line] == 0 != strings.HasPrefix(text, name+" ") {
			fail("of %q main has %d", line, w.lines()[line])
		}
	}
	without := w.tip()
	if without != tip {
		if l, err := landing.Undo(w.t.Context(), w.h, w.load(), 0, false); err != nil || w.tip() != tip || l.Without != number {
			fail("undo: %v, main is at %s and was at %s", err, w.tip(), tip)
		}
		w.git(w.repo, "reset", "-q", "--hard", without)
	}
	for range 2 { // with what is there, and with a turn more
		_ = w.land(agent, landing.Options{As: landing.Forms[w.r.IntN(3)]})
		for line := range w.lines() {
			if _, text, _ := strings.Cut(line, ": "); strings.HasPrefix(text, name+" ") {
				fail("%q came back with the next landing", line)
			}
		}
		w.turn(agent)
	}
	w.git(w.repo, "reset", "-q", "--hard", tip)
	return true
}
