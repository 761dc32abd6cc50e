package states

import (
	"cmp"
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

// history is a random history of one file: a branch, chains of agents that begin there or in each other's work, with
// turns, rewinds and updates, landings of all forms, and landings that are undone. All commits have numbers.
type history struct {
	random *rand.Rand
	stream strings.Builder // for git fast-import
	all    []commit
	main   int                // tip of the branch
	states []int              // twins, and commits of the branch with which chains begin
	now    int                // state of the agent at work
	landed map[int]int        // by the commit on the branch: the tip before
	grafts map[int][]int      // parents that stand in for those of a commit, the state first
	apart  map[int]bool       // whether that is the last of several commits
	known  map[string]Landing // landings of a record, by id
}

type commit struct {
	file []line1
	had  map[string]bool // lines that it or what it came from had
}

// line1 is a line that is written once, and begins with the number of the commit that wrote it. All files
// that have some lines have them in the same order.
type line1 struct {
	at   float64
	text string
}

func union(files ...[]line1) []line1 {
	return slices.Compact(slices.SortedFunc(slices.Values(slices.Concat(files...)), func(a, b line1) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.text, b.text))
	}))
}

// merge returns the merge of two commits: what one of them took out of what both had is not in it.
func (h *history) merge(a, b int) []line1 {
	from := func(one, other commit) []line1 {
		return slices.DeleteFunc(slices.Clone(one.file), func(l line1) bool { return other.had[l.text] && !slices.Contains(other.file, l) })
	}
	return union(from(h.all[a], h.all[b]), from(h.all[b], h.all[a]))
}

// commit adds a commit with a file that came from some others. In git it has only some of them as parents.
func (h *history) commit(own bool, file []line1, from []int, parents ...int) int {
	number := len(h.all)
	one := commit{file, map[string]bool{}}
	var text strings.Builder
	for _, line := range file {
		one.had[line.text] = true
		text.WriteString(line.text)
	}
	for _, before := range slices.Concat(from, parents) {
		maps.Copy(one.had, h.all[before].had)
	}
	h.all = append(h.all, one)
	who, why := "ann <ann@example.org>", "by ann"
	if own {
		who, why = "paw <"+objects.Email+">", Subject+"x"
	}
	signed := fmt.Sprintf("%s %d +0000", who, 1_000_000_000+h.random.IntN(1000)) // no order of times counts
	fmt.Fprintf(&h.stream, "commit refs/all/%d\nmark :%d\nauthor %s\ncommitter %s\ndata %d\n%s\n", number, number, signed, signed, len(why), why)
	for i, parent := range parents {
		fmt.Fprintf(&h.stream, "%s :%d\n", []string{"from", "merge"}[min(i, 1)], parent)
	}
	fmt.Fprintf(&h.stream, "M 100644 inline f\ndata %d\n%s\n", text.Len(), text.String())
	return number
}

// edited returns a file with new lines of the commit that comes next, and perhaps without some others.
func (h *history) edited(file []line1, deletes bool) []line1 {
	file = slices.Clone(file)
	for range 1 + h.random.IntN(3) {
		at := h.random.IntN(len(file) + 1)
		if deletes && h.random.IntN(3) == 0 && at < len(file) && len(file) > 1 {
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
		file = slices.Insert(file, at, line1{low + (high-low)*h.random.Float64(), fmt.Sprintf("%d %d\n", len(h.all), h.random.Uint64())})
	}
	return file
}

func (h *history) state(state int) {
	h.states, h.now = append(h.states, state), state
}

// happen adds one event.
func (h *history) happen() {
	tip, file := h.main, h.all[h.now].file
	switch h.random.IntN(12) {
	case 0, 1: // the user commits
		h.main = h.commit(false, h.edited(h.all[tip].file, true), nil, tip)
	case 2: // another agent begins where the branch is
		h.state(tip)
	case 3: // a rewind, or another agent that begins in the work of one
		h.now = h.states[h.random.IntN(len(h.states))]
	case 4: // an update
		h.state(h.commit(true, h.merge(h.now, tip), nil, h.now, tip))
	case 5, 6:
		h.land()
	case 7: // undo
		if before, is := h.landed[tip]; is {
			h.main = before
		}
	default: // a turn, or the user in the worktree
		h.state(h.commit(true, h.edited(file, true), nil, h.now))
	}
}

// land brings the state of the agent at work into the branch.
func (h *history) land() {
	before, from := h.main, []int{h.now}
	parents, merged := []int{before}, h.merge(before, h.now)
	switch h.random.IntN(4) {
	case 0: // several commits
		part := slices.DeleteFunc(slices.Clone(merged), func(line1) bool { return h.random.IntN(2) == 0 })
		parents[0] = h.commit(false, union(h.all[before].file, part), nil, before)
		h.apart[len(h.all)] = true
	case 1: // a merge of what the agent has committed
		parents = append(parents, h.commit(false, h.all[h.now].file, from, h.states[0]))
	case 2: // on a server, and the user has gone on since
		parents[0] = h.commit(false, merged, from, before)
		merged = h.edited(merged, false)
	}
	h.main = h.commit(false, merged, from, parents...)
	h.landed[h.main], h.grafts[h.main] = before, append([]int{h.now}, parents...)
}

// TestBlameFollowsRandomHistories compares with an oracle that knows who wrote each line.
func TestBlameFollowsRandomHistories(t *testing.T) {
	t.Parallel()
	histories, seed := 24, rand.Uint64()
	if asked, err := strconv.Atoi(os.Getenv("PAW_BLAME_HISTORIES")); err == nil {
		histories = asked
	}
	if asked, err := strconv.ParseUint(os.Getenv("PAW_BLAME_SEED"), 10, 64); err == nil {
		seed = asked
	}
	t.Logf("PAW_BLAME_SEED=%d", seed)
	w := newWorld(t)
	for n := range histories {
		h := &history{random: rand.New(rand.NewPCG(seed, uint64(n))), all: make([]commit, 1), landed: map[int]int{}, grafts: map[int][]int{}, apart: map[int]bool{}} // marks begin at 1
		h.main = h.commit(false, h.edited(nil, false), nil)
		h.state(h.main)
		for range 3 + h.random.IntN(30) {
			h.happen()
		}
		if h.compare(w, n); t.Failed() {
			t.Fatalf("history %d of PAW_BLAME_SEED=%d", n, seed)
		}
	}
}

// compare blames the branch, the agent at work and some other state.
func (h *history) compare(w *world, n int) {
	w.T.Helper()
	ids := h.imported(w)
	o, drop, err := w.chains.plain.WithScratch()
	if err != nil {
		w.T.Fatal(err)
	}
	defer drop()
	reader := New(o, w.chains.refs)
	for _, one := range []int{h.main, h.now, h.states[h.random.IntN(len(h.states))]} {
		lines, err := reader.Blame(w.T.Context(), objects.BlameOptions{Commit: ids[one], Path: "f"}, h.known)
		want := h.all[one].file
		if err != nil || len(lines) != len(want) {
			w.T.Fatalf("history %d, commit %d: %d lines, want %d: %v", n, one, len(lines), len(want), err)
		}
		for i, line := range lines {
			author, _, _ := strings.Cut(want[i].text, " ")
			number, _ := strconv.Atoi(author)
			if line.Commit != ids[number] || line.Text+"\n" != want[i].text {
				w.T.Errorf("history %d, commit %d, line %d: %q is of %d, want %d", n, one, i+1, line.Text, slices.Index(ids, line.Commit), number)
			}
		}
	}
}

// imported makes the commits and grafts, and returns the ids of the commits by their numbers.
func (h *history) imported(w *world) []string {
	w.T.Helper()
	file := filepath.Join(w.Dir, ".git", "marks")
	imported := exec.Command("git", "-C", w.Dir, "fast-import", "--quiet", "--force", "--export-marks="+file)
	imported.Stdin = strings.NewReader(h.stream.String())
	if out, err := imported.CombinedOutput(); err != nil {
		w.T.Fatalf("%v\n%s", err, out)
	}
	marks, err := os.ReadFile(file)
	if err != nil {
		w.T.Fatal(err)
	}
	ids := make([]string, len(h.all))
	for line := range strings.Lines(string(marks)) {
		mark, id, _ := strings.Cut(strings.TrimSpace(line), " ")
		number, _ := strconv.Atoi(strings.TrimPrefix(mark, ":"))
		ids[number] = id
	}
	h.known = map[string]Landing{}
	for landed, numbers := range h.grafts {
		var parents []string
		for _, parent := range numbers {
			parents = append(parents, ids[parent])
		}
		one := Landing{Twins: parents[:1]}
		if h.apart[landed] {
			one.Before = ids[h.landed[landed]]
		}
		named := h.random.IntN(3) == 0
		if named || h.apart[landed] {
			h.known[ids[landed]] = one
		}
		if named {
			continue
		}
		if err := w.chains.GraftOnto(w.T.Context(), ids[landed], parents...); err != nil {
			w.T.Fatal(err)
		}
	}
	return ids
}

// TestBlameNamesCommitsOfWhichSomeWasGot has an agent take one of the files of a commit.
func TestBlameNamesCommitsOfWhichSomeWasGot(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.user("x", "1", "y", "1")
	a := w.agent("a")
	a.turn(files("z", "z"))
	main := w.user("x", "2", "y", "2")
	a.turn(nil, "reset -q --soft main", "checkout -q main x", "commit -q -m own")
	o, drop, err := w.chains.plain.WithScratch()
	if err != nil {
		t.Fatal(err)
	}
	defer drop()
	for _, commit := range []string{a.now.Twin, main} {
		lines, err := New(o, w.chains.refs).Blame(t.Context(), objects.BlameOptions{Commit: commit, Path: "x"}, nil)
		if err != nil || len(lines) != 1 || lines[0].Commit != main || lines[0].Author != "Ann" || lines[0].Own != "" {
			t.Errorf("x is of %+v, want %s; %v", lines, main, err)
		}
	}
	if log := w.Git("log", "--format=%s", a.now.Twin); !strings.Contains(log, partOf) {
		t.Errorf("nothing was got in part:\n%s", log)
	}
}
