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
