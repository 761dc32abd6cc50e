package worktree

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// history is a random line of states of one file, in which each line of text is written once and says by which step.
type history struct {
	steps  []LineStep
	lines  [][]string
	stream strings.Builder // for git fast-import
	random *rand.Rand
}

// add makes the state of the next step.
func (h *history) add(lines []string, after ...int) {
	mark := len(h.steps) + 1
	text := strings.Join(lines, "")
	signed := fmt.Sprintf("paw <%s> %d +0000", snapshotEmail, 1_000_000_000+h.random.IntN(1000)) // no order of times counts
	fmt.Fprintf(&h.stream, "commit refs/states/%d\nmark :%d\nauthor %s\ncommitter %s\ndata 1\nx\n", mark, mark, signed, signed)
	if mark > 1 {
		fmt.Fprintf(&h.stream, "from :1\n") // git knows nothing of their order
	}
	fmt.Fprintf(&h.stream, "M 100644 inline f\ndata %d\n%s\n", len(text), text)
	h.steps, h.lines = append(h.steps, LineStep{After: after}), append(h.lines, lines)
}

// edit inserts and takes away some lines.
func (h *history) edit(lines []string, ending string) []string {
	lines = slices.Clone(lines)
	for range 1 + h.random.IntN(3) {
		at := h.random.IntN(len(lines) + 1)
		if h.random.IntN(3) == 0 && at < len(lines) {
			lines = slices.Delete(lines, at, at+1)
		} else {
			lines = slices.Insert(lines, at, fmt.Sprintf("%d %d%s", len(h.steps), h.random.Uint64(), ending))
		}
	}
	if len(lines) == 0 {
		lines = []string{fmt.Sprintf("%d whole%s", len(h.steps), ending)}
	}
	return lines
}

// TestBlameFollowsRandomHistories compares with an oracle that knows who wrote each line: edits, states that were put back, and
// line endings of both kinds.
func TestBlameFollowsRandomHistories(t *testing.T) {
	t.Parallel()
	histories, seed := 15, rand.Uint64()
	if asked, err := strconv.Atoi(os.Getenv("PAW_BLAME_HISTORIES")); err == nil {
		histories = asked
	}
	if asked, err := strconv.ParseUint(os.Getenv("PAW_BLAME_SEED"), 10, 64); err == nil {
		seed = asked
	}
	t.Logf("PAW_BLAME_SEED=%d", seed)
	w := newWorld(t)
	for n := range histories {
		h := &history{random: rand.New(rand.NewPCG(seed, uint64(n)))}
		ending := []string{"\n", "\r\n"}[h.random.IntN(2)]
		h.add([]string{"0 base" + ending})
		for range 3 + h.random.IntN(20) {
			last := len(h.steps) - 1
			if back := h.random.IntN(len(h.steps)); h.random.IntN(4) == 0 && back != last {
				h.add(h.lines[back], back, last)
			} else {
				h.add(h.edit(h.lines[last], ending), last)
			}
		}
		h.compare(t, w, n)
	}
}

// compare has git blame the last state, on the line of states.
func (h *history) compare(t *testing.T, w *world, n int) {
	t.Helper()
	imported := exec.Command("git", "-C", w.Dir, "fast-import", "--quiet", "--force", "--export-marks="+filepath.Join(w.Dir, ".git", "marks"))
	imported.Stdin = strings.NewReader(h.stream.String())
	if out, err := imported.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	marks, err := os.ReadFile(filepath.Join(w.Dir, ".git", "marks"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(marks)) {
		mark, id, _ := strings.Cut(strings.TrimSpace(line), " ")
		number, _ := strconv.Atoi(strings.TrimPrefix(mark, ":"))
		h.steps[number-1].State = id
	}
	reader, drop, err := w.m.WithScratch()
	if err != nil {
		t.Fatal(err)
	}
	defer drop()
	commits, _, err := reader.Objects().Line(context.Background(), h.steps)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := reader.Objects().Blame(context.Background(), BlameOptions{Commit: commits[len(commits)-1], Path: "f"})
	if err != nil {
		t.Fatal(err)
	}
	want := h.lines[len(h.lines)-1]
	if len(lines) != len(want) {
		t.Fatalf("history %d: %d lines, want %d", n, len(lines), len(want))
	}
	for i, line := range lines {
		step, _, _ := strings.Cut(want[i], " ")
		if number, _ := strconv.Atoi(step); commits[number] != line.Commit || line.Text != strings.TrimSuffix(want[i], "\n") {
			t.Errorf("history %d, line %d: %q is of step %d, want %s", n, i+1, line.Text, slices.Index(commits, line.Commit), step)
		}
	}
}
