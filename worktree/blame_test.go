package worktree

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"paw/worktree/objects"
)

// textLine is a line that is written once and says by whom: "s" and the number of a step, or "c" and the mark of a commit. All files that
// have some lines have them in the same order.
type textLine struct {
	at   float64
	text string
}

func inOrder(a, b textLine) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.text, b.text)) }

func union(files ...[]textLine) []textLine {
	return slices.Compact(slices.SortedFunc(slices.Values(slices.Concat(files...)), inOrder))
}

// merge is the file that two commits make: what one of them has taken out of what both had is not in it.
func (h *history) merge(a, b int) []textLine {
	from := func(one, other int) []textLine {
		return slices.DeleteFunc(slices.Clone(h.commits[one]), func(line textLine) bool {
			return h.had[other][line.text] && !slices.Contains(h.commits[other], line)
		})
	}
	return union(from(a, b), from(b, a))
}

// history is a random history of one file: commits of a person on main, states of agents that begin there or in each other's work,
// with turns, edits by hand, commits, updates, rewinds, landings of the three forms, and landings that are undone.
type history struct {
	random  *rand.Rand
	ending  string
	stream  strings.Builder    // for git fast-import
	commits [][]textLine       // files of commits, by mark
	had     []map[string]bool  // lines that they or what they came from had
	older   []map[int]bool     // their ancestors, by mark
	main    []int              // marks, the tip last
	steps   []objects.LineStep // states are those of the commits whose marks
	states  []int              // have these
	heads   []int              // marks of HEAD at each step
	now     int                // step of the agent at work
	landed  map[int]landing    // by marks
}

// landing is what a commit of main was made of: a commit of main, and a step.
type landing struct{ before, state int }

// commit adds a commit of a file, which came from some others as well that are not its parents.
func (h *history) commit(file []textLine, own bool, from []int, parents ...int) (mark int) {
	h.commits, h.had, h.older = append(h.commits, file), append(h.had, map[string]bool{}), append(h.older, map[int]bool{})
	mark = len(h.commits) - 1
	for _, parent := range parents {
		h.older[mark][parent] = true
		maps.Copy(h.older[mark], h.older[parent])
	}
	for _, line := range file {
		h.had[mark][line.text] = true
	}
	for _, before := range slices.Concat(from, parents) {
		maps.Copy(h.had[mark], h.had[before])
	}
	who := "ann <ann@example.org>"
	if own {
		who = "paw <" + objects.Email + ">"
	}
	var text strings.Builder
	for _, line := range file {
		text.WriteString(line.text)
	}
	signed := fmt.Sprintf("%s %d +0000", who, 1_000_000_000+h.random.IntN(1000)) // no order of times counts
	fmt.Fprintf(&h.stream, "commit refs/states/%d\nmark :%d\nauthor %s\ncommitter %s\ndata 1\nx\n", mark, mark, signed, signed)
	for i, parent := range parents {
		fmt.Fprintf(&h.stream, "%s :%d\n", []string{"from", "merge"}[min(i, 1)], parent)
	}
	fmt.Fprintf(&h.stream, "M 100644 inline f\ndata %d\n%s\n", text.Len(), text.String())
	return mark
}

// edited is a file with some new lines of an author, and perhaps without some of the old ones.
func (h *history) edited(file []textLine, author string) []textLine {
	file = slices.Clone(file)
	for range 1 + h.random.IntN(3) {
		at := h.random.IntN(len(file) + 1)
		if h.random.IntN(3) == 0 && at < len(file) && len(file) > 1 {
			file = slices.Delete(file, at, at+1)
			continue
		}
		low, high := 0.0, 1.0
		if at > 0 {
			low = file[at-1].at
		}
		if at < len(file) {
			high = file[at].at
		}
		file = slices.Insert(file, at, textLine{low + (high-low)*h.random.Float64(), fmt.Sprintf("%s %d%s", author, h.random.Uint64(), h.ending)})
	}
	return slices.SortedFunc(slices.Values(file), inOrder)
}

func (h *history) file(step int) []textLine { return h.commits[h.states[step]] }

// step adds the next state of the agent at work, with its HEAD at a commit.
func (h *history) step(file []textLine, head int) {
	h.add(h.commit(file, true, []int{h.states[h.now]}, head), head, h.now)
}

func (h *history) add(state, head int, after ...int) {
	h.steps, h.states, h.heads = append(h.steps, objects.LineStep{After: after}), append(h.states, state), append(h.heads, head)
	h.now = len(h.steps) - 1
}

func (h *history) tip() int { return h.main[len(h.main)-1] }

// happen adds one event.
func (h *history) happen() {
	head, file, tip := h.heads[h.now], h.file(h.now), h.tip()
	author := fmt.Sprintf("s%d", len(h.steps)) // of what the next step brings
	byHand := fmt.Sprintf("c%d", len(h.commits))
	switch back := h.random.IntN(len(h.steps)); h.random.IntN(14) {
	case 0: // a person commits
		h.main = append(h.main, h.commit(h.edited(h.commits[tip], byHand), false, nil, tip))
	case 1: // another agent begins where the branch is
		h.add(tip, tip)
	case 2: // or goes on with a state of one
		h.now = back
	case 3: // a rewind
		if back != h.now {
			h.add(h.states[back], h.heads[back], back, h.now)
		}
	case 4: // the agent commits, and goes on
		made := h.commit(h.edited(file, byHand), false, []int{h.states[h.now]}, head)
		h.step(h.edited(h.commits[made], author), made)
	case 5: // what came in with the branch
		merged := h.commit(h.merge(head, tip), false, nil, head, tip)
		h.step(h.merge(h.states[h.now], tip), merged)
	case 6, 7:
		h.land(h.random.IntN(3))
	case 8: // undo
		if one, is := h.landed[tip]; is {
			h.main = append(h.main, one.before)
		}
	case 9: // the branch came in whole
		if h.older[tip][head] {
			h.step(h.merge(h.states[h.now], tip), tip)
		}
	case 10: // the agent commits all that it has, and that very commit lands
		if tip == head {
			made := h.commit(h.edited(file, byHand), false, []int{h.states[h.now]}, head)
			h.step(h.commits[made], made)
			h.main, h.landed[made] = append(h.main, made), landing{tip, h.now}
		}
	default: // a turn, or a person in the worktree
		h.step(h.edited(file, author), head)
	}
}

// land brings the state of the agent at work into main, as one of the three forms.
func (h *history) land(form int) {
	before, state := h.tip(), h.states[h.now]
	parents, merged := []int{before}, h.merge(before, state)
	switch form {
	case 1: // several commits
		part := slices.DeleteFunc(slices.Clone(merged), func(textLine) bool { return h.random.IntN(2) == 0 })
		parents[0] = h.commit(union(h.commits[before], part), false, nil, before)
	case 2: // a merge
		parents = append(parents, h.commit(h.commits[state], false, []int{state}, h.heads[h.now]))
	}
	after := h.commit(merged, false, []int{state}, parents...)
	h.main, h.landed[after] = append(h.main, after), landing{before, h.now}
}

// newHistory has an agent that begins with the first commit of a branch.
func newHistory(seed uint64, n int) *history {
	h := &history{random: rand.New(rand.NewPCG(seed, uint64(n))), landed: map[int]landing{}}
	h.commits, h.had, h.older = make([][]textLine, 1), make([]map[string]bool, 1), make([]map[int]bool, 1) // marks begin at 1
	h.ending = []string{"\n", "\r\n"}[h.random.IntN(2)]
	base := h.commit([]textLine{{0.5, "c1 base" + h.ending}}, false, nil)
	h.main = []int{base}
	h.add(base, base)
	return h
}

// TestBlameOfCommitsThatOthersBeginWith has an agent commit what it did a turn before, and more. That landed, and another agent begins there.
func TestBlameOfCommitsThatOthersBeginWith(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for n := range 8 { // as many orders of the steps
		h := newHistory(1, n)
		base := h.tip()
		h.step(union(h.file(0), []textLine{{0.7, "s1 turn" + h.ending}}), base)
		made := h.commit(union(h.file(1), []textLine{{0.8, "c3 and more" + h.ending}}), false, []int{h.states[1]}, base)
		h.step(h.commits[made], made)
		h.land(2)
		h.add(h.tip(), h.tip())
		h.now = 2
		h.compare(t, w, n)
	}
}

// TestBlameOfACommitThatLandedAsItWas has the commit of an agent land that is of the same moment, and is the same.
func TestBlameOfACommitThatLandedAsItWas(t *testing.T) {
	t.Parallel()
	w, h := newWorld(t), newHistory(1, 1)
	base := h.tip()
	made := h.commit(union(h.file(0), []textLine{{0.8, "c2 turn" + h.ending}}), false, nil, base)
	h.step(h.commits[made], made)
	h.main, h.landed[made] = append(h.main, made), landing{base, h.now}
	h.compare(t, w, 1)
}

// TestBlameFollowsRandomHistories compares with an oracle that knows who wrote each line.
func TestBlameFollowsRandomHistories(t *testing.T) {
	t.Parallel()
	histories, seed := 36, rand.Uint64()
	if asked, err := strconv.Atoi(os.Getenv("PAW_BLAME_HISTORIES")); err == nil {
		histories = asked
	}
	if asked, err := strconv.ParseUint(os.Getenv("PAW_BLAME_SEED"), 10, 64); err == nil {
		seed = asked
	}
	t.Logf("PAW_BLAME_SEED=%d", seed)
	w := newWorld(t)
	for n := range histories {
		h := newHistory(seed, n)
		for range 3 + h.random.IntN(30) {
			h.happen()
		}
		if h.compare(t, w, n); t.Failed() {
			t.Fatalf("history %d of PAW_BLAME_SEED=%d", n, seed)
		}
	}
}

// compare has git blame main, the agent at work and some other state.
func (h *history) compare(t *testing.T, w *world, n int) {
	t.Helper()
	ids := h.imported(t, w)
	steps, place := h.shuffled(ids)
	reader, drop, err := w.m.WithScratch()
	if err != nil {
		t.Fatal(err)
	}
	defer drop()
	landed := map[string]objects.LineLanding{}
	for after, from := range h.landed {
		landed[ids[after]] = objects.LineLanding{Before: ids[from.before], State: place[from.state]}
	}
	line, parents, err := reader.Objects().Line(context.Background(), steps, landed)
	if err != nil {
		t.Fatal(err)
	}
	commits := make([]string, len(steps))
	for i, at := range place {
		commits[i] = line[at].Commit
	}
	other := h.random.IntN(len(h.steps))
	for _, one := range []struct {
		what, commit string
		want         []textLine
	}{
		{"main", ids[h.tip()], h.commits[h.tip()]},
		{fmt.Sprint("step ", h.now), commits[h.now], h.file(h.now)},
		{fmt.Sprint("step ", other), commits[other], h.file(other)},
	} {
		lines, err := reader.Objects().Blame(context.Background(), objects.BlameOptions{Commit: one.commit, Path: "f", Parents: parents})
		if err != nil {
			t.Fatal(err)
		}
		if len(lines) != len(one.want) {
			t.Fatalf("history %d, %s: %d lines, want %d", n, one.what, len(lines), len(one.want))
		}
		for i, line := range lines {
			author, _, _ := strings.Cut(one.want[i].text, " ")
			number, _ := strconv.Atoi(author[1:])
			of := commits
			if author[0] == 'c' {
				of = ids
			}
			if want := of[number]; want != line.Commit || line.Text != strings.TrimSuffix(one.want[i].text, "\n") {
				t.Errorf("history %d, %s, line %d: %q is of %s, step %d, want %s", n, one.what, i+1, line.Text, line.Commit, slices.Index(commits, line.Commit), author)
			}
		}
	}
}

// shuffled are the steps with the commits of their states, each behind those that it came from and otherwise in any order, and their places.
func (h *history) shuffled(ids []string) (steps []objects.LineStep, place []int) {
	place = make([]int, len(h.steps))
	taken := map[int]bool{}
	for len(steps) < len(h.steps) {
		i := h.random.IntN(len(h.steps))
		if taken[i] || slices.ContainsFunc(h.steps[i].After, func(before int) bool { return !taken[before] }) {
			continue
		}
		one := objects.LineStep{State: ids[h.states[i]]}
		for _, before := range h.steps[i].After {
			one.After = append(one.After, place[before])
		}
		place[i], taken[i] = len(steps), true
		steps = append(steps, one)
	}
	return steps, place
}

// imported makes the commits, and returns their ids by their marks.
func (h *history) imported(t *testing.T, w *world) []string {
	t.Helper()
	file := filepath.Join(w.Dir, ".git", "marks")
	imported := exec.Command("git", "-C", w.Dir, "fast-import", "--quiet", "--force", "--export-marks="+file)
	imported.Stdin = strings.NewReader(h.stream.String())
	if out, err := imported.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	marks, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	ids := make([]string, len(h.commits))
	for line := range strings.Lines(string(marks)) {
		mark, id, _ := strings.Cut(strings.TrimSpace(line), " ")
		number, _ := strconv.Atoi(strings.TrimPrefix(mark, ":"))
		ids[number] = id
	}
	return ids
}
