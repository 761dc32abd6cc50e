package worktree

import "testing"

// The forecast asks for the same pair once for each agent with an equal result.
func TestChangesOfAPairThatIsAskedForTwiceAreCountedOnce(t *testing.T) {
	w := newWorld(t)
	w.git("commit", "--quiet", "--allow-empty", "-m", "same files")
	w.git("rm", "--quiet", "a.txt")
	w.git("commit", "--quiet", "-m", "one less")
	pair := [2]string{w.base, w.git("rev-parse", "HEAD")}
	equal := [2]string{w.git("rev-parse", "HEAD~1"), pair[1]}
	counts, err := w.m.Objects().Changes(t.Context(), [][2]string{pair, pair, equal, pair})
	if err != nil || counts[pair].Files != 1 || counts[equal].Files != 1 {
		t.Errorf("got %v, %v", counts, err)
	}
}
