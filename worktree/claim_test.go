package worktree

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"paw/worktree/git"
	"paw/worktree/gitdir"
)

// TestClaimingProcess is another paw that claims numbers once its standard input
// closes, when this binary is started as one.
func TestClaimingProcess(t *testing.T) {
	order := strings.Fields(os.Getenv("PAW_TEST_CLAIM"))
	if len(order) != 4 {
		t.Skip("only in a process of its own")
	}
	io.Copy(io.Discard, os.Stdin)
	r, err := gitdir.Discover(order[0])
	if err != nil {
		t.Fatal(err)
	}
	times, _ := strconv.Atoi(order[3])
	for range times {
		n, err := (&Manager{Repository: r}).Refs().Claim(t.Context(), "refs/paw/"+order[1]+"/claim/", 1, order[2])
		if err != nil {
			t.Fatal(err)
		}
		fmt.Printf("claimed %d\n", n)
	}
}

// claims lets processes claim numbers at once and returns all numbers, sorted.
func (w *world) claims(processes, times int) []int {
	w.t.Helper()
	var all []*paw
	for range processes {
		all = append(all, w.process([]string{fmt.Sprintf("PAW_TEST_CLAIM=%s s_a %s %d", w.Dir, w.base, times)}, "-test.run=^TestClaimingProcess$"))
	}
	if codes := race(w.t, all); !slices.Equal(codes, make([]int, processes)) {
		w.t.Errorf("exit codes are %v", codes)
	}
	var numbers []int
	for _, p := range all {
		last := 0
		for line := range strings.Lines(p.out.String()) {
			if text, ok := strings.CutPrefix(strings.TrimSpace(line), "claimed "); ok {
				n, _ := strconv.Atoi(text)
				if n <= last {
					w.t.Errorf("%d was claimed after %d", n, last)
				}
				numbers, last = append(numbers, n), n
			}
		}
	}
	slices.Sort(numbers)
	return numbers
}

func oneTo(n int) []int {
	var all []int
	for k := range n {
		all = append(all, k+1)
	}
	return all
}

// packing runs `git pack-refs` again and again until stop is called.
func packing(t *testing.T, w *world) (stop func()) {
	t.Helper()
	quit, done := make(chan struct{}), make(chan int)
	go func() {
		rounds := 0
		for {
			select {
			case <-quit:
				done <- rounds
				return
			default:
				if (git.Repo{Dir: w.Dir}).Run(t.Context(), "pack-refs", "--all", "--prune") == nil {
					rounds++
				}
			}
		}
	}()
	return func() {
		close(quit)
		if rounds := <-done; rounds < 3 {
			t.Errorf("refs were packed %d times only", rounds)
		}
	}
}

func TestEightProcessesClaimWhileRefsArePacked(t *testing.T) {
	for range 3 {
		w := newWorld(t)
		stop := packing(t, w)
		got := w.claims(8, 10)
		stop()
		if !slices.Equal(got, oneTo(80)) {
			t.Errorf("got %v", got)
		}
	}
}

func wantClaim(t *testing.T, w *world, atLeast, want int) {
	t.Helper()
	got, err := w.m.Refs().Claim(t.Context(), "refs/paw/s_a/claim/", atLeast, w.base)
	if err != nil || got != want {
		t.Errorf("at least %d: got %d, %v, want %d", atLeast, got, err, want)
	}
}

func TestClaimsAreNeverTakenTwice(t *testing.T) {
	w := newWorld(t)
	wantClaim(t, w, 0, 1)
	wantClaim(t, w, 1, 2)
	wantClaim(t, w, 7, 7)
	wantClaim(t, w, 3, 8)
	w.git("pack-refs", "--all", "--prune")
	wantClaim(t, w, 0, 9)
	wantClaim(t, w, 0, 10)
	wantClaim(t, w, 0, 11)
	w.git("update-ref", "refs/paw/s_a/claim/x", w.base)
	w.git("update-ref", "refs/paw/s_a/claim/020", w.base)
	w.git("update-ref", "refs/paw/s_ab/claim/50", w.base)
	wantClaim(t, w, 0, 12)
}

func TestClaimsSurvivePrunedAndDeletedTags(t *testing.T) {
	w := newWorld(t)
	origin := filepath.Join(realTemp(t), "origin.git")
	w.git("clone", "-q", "--bare", w.Dir, origin)
	w.git("remote", "add", "origin", origin)
	for n := range 4 {
		if n > 0 {
			wantClaim(t, w, 0, n)
		}
		w.git("tag", fmt.Sprintf("afk-s_a-%d", n))
	}
	w.git("tag", "-d", "afk-s_a-3")
	wantClaim(t, w, 0, 4)
	w.git("config", "fetch.pruneTags", "true")
	w.git("fetch", "-q", "--prune", "origin")
	if left := w.tagNames(); len(left) != 0 {
		t.Fatalf("the fetch kept %v", left)
	}
	wantClaim(t, w, 0, 5)
	w.git("gc", "--quiet", "--prune=now")
	wantClaim(t, w, 0, 6)
	if refs, err := w.m.Refs().List(t.Context(), "refs/paw/s_a/claim/"); err != nil || len(refs) != 6 {
		t.Errorf("got %v, %v", refs, err)
	}
}

func TestClaimNamesStaleLock(t *testing.T) {
	w := newWorld(t)
	lock := filepath.Join(w.Dir, ".git/refs/paw/s_a/claim/1.lock")
	writeFile(t, lock, "")
	if _, err := w.m.Refs().Claim(t.Context(), "refs/paw/s_a/claim/", 0, w.base); err == nil || !strings.Contains(err.Error(), lock) {
		t.Errorf("got %v", err)
	}
}
