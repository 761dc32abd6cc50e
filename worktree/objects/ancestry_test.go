package objects

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"paw/worktree/gittest"
)

// TestAncestryIsGits compares, in random histories, what one process finds behind a guess with what git merge-base and
// git rev-list say.
func TestAncestryIsGits(t *testing.T) {
	w := gittest.New(t)
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 1))
	guessed, remembering := 0, New(w.Repository).Remembering()
	for try := range 12 {
		commits := []string{w.Base}
		for k := range 14 {
			parents := []string{commits[max(0, len(commits)-1-random.IntN(4))], commits[random.IntN(len(commits))]}
			if parents[0] == parents[1] || random.IntN(3) > 0 {
				parents = parents[:1]
			}
			made, err := New(w.Repository).Commit(t.Context(), NewCommit{Tree: w.Base + "^{tree}", Parents: parents, Message: fmt.Sprintf("%d %d\n", try, k)})
			if err != nil {
				t.Fatal(err)
			}
			commits = append(commits, made)
		}
		any := func() string { return commits[random.IntN(len(commits))] }
		guess := any()
		for k := range 12 {
			if k%4 == 0 {
				guess = any()
			}
			tips, others := []string{any(), any(), commits[len(commits)-1]}, []string{any()}
			root, parents, err := New(w.Repository).Ancestry(t.Context(), guess, tips, others)
			if err != nil {
				t.Fatal(err)
			}
			wantRoot, want, err := New(w.Repository).Ancestry(t.Context(), "", tips, others)
			if err != nil {
				t.Fatal(err)
			}
			if root != wantRoot || !maps.EqualFunc(parents, want, slices.Equal) {
				t.Fatalf("seed %d: behind %s, of %q and %q: %s %v, git says %s %v", seed, guess, tips, others, root, parents, wantRoot, want)
			}
			if again, known, err := remembering.Ancestry(t.Context(), guess, tips, others); err != nil || again != root || !maps.EqualFunc(known, parents, slices.Equal) {
				t.Fatalf("seed %d: behind %s, of %q and %q: %s %v, remembered %s %v, %v", seed, guess, tips, others, root, parents, again, known, err)
			}
			if below, err := New(w.Repository).parentsOf(t.Context(), tips, guess); err == nil && newestCommon(below, guess, tips) != "" {
				guessed++
			}
		}
	}
	if guessed < 5 {
		t.Errorf("seed %d: a guess was of use %d times", seed, guessed)
	}
}
