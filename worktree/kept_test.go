package worktree

import (
	"strings"
	"testing"

	"paw/worktree/snapshot"
)

// look takes a snapshot that no ref keeps.
func (w *turns) look() snapshot.Snapshot {
	w.t.Helper()
	s, err := w.budgeted("", snapshot.Budget{})
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

func TestASecondLookThatNoRefKeepsReadsNoFileAnew(t *testing.T) {
	w := newTurns(t, "")
	w.ageSettings()
	fillTree(t, w.path("new"), 300)
	first := w.look()
	all := len(w.files(first.Commit))
	count := counting(t)
	waitFor(t, "a look that reads no file", func() bool {
		if got := w.look().Commit; w.git("rev-parse", got+"^{tree}") != w.git("rev-parse", first.Commit+"^{tree}") {
			t.Fatalf("%s is another state", got)
		}
		ran := strings.Join(count(), "\n")
		return strings.Contains(ran, "status") && !strings.Contains(ran, "update-index")
	})
	again := w.look()
	if w.look().Commit != again.Commit {
		t.Error("the same state is another commit")
	}

	// What git has collected is recorded again, also where one file has changed since.
	for _, text := range []string{"file 7\n", "changed\n"} {
		writeFile(t, w.path("new/d0/f7"), text)
		w.git("prune", "--expire=now")
		files := w.files(w.look().Commit)
		if files["new/d0/f7"] != text || files["new/d2/f299"] != "file 299\n" || len(files) != all {
			t.Errorf("%d files, of them %q and %q", len(files), files["new/d0/f7"], files["new/d2/f299"])
		}
	}
}

// The same files on the same commit are one snapshot, also when git's settings have just changed, so that no
// file's content can be taken over from the last one.
func TestTheSameStateIsOneCommit(t *testing.T) {
	w := newTurns(t, "")
	writeFile(t, w.path("new"), "1\n")
	take := func(message string) snapshot.Snapshot {
		s, err := w.m.Snapshots().TakeWithin(t.Context(), w.p.Path, "refs/paw/s_agent/turn/"+message, message, w.scratch, snapshot.Budget{})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	first := take("1")
	w.git("config", "core.filemode", "true")
	if again := take("2"); again.Commit != first.Commit {
		t.Errorf("%s is another commit than %s", again.Commit, first.Commit)
	}
	writeFile(t, w.path("new"), "2\n")
	if other := take("3"); other.Commit == first.Commit || w.files(other.Commit)["new"] != "2\n" {
		t.Errorf("%s has %q", other.Commit, w.files(other.Commit)["new"])
	}
}
