package snapshot

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"paw/worktree/gittest"
	"paw/worktree/journal"
	"paw/worktree/objects"
	"paw/worktree/refs"
)

func TestMain(m *testing.M) { os.Exit(gittest.RunIsolated(m)) }

// TestSnapshotDoesNotBelieveTimesTooNear has a file system that cannot tell two edits apart: what
// was recorded of the first looks like the second.
func TestSnapshotDoesNotBelieveTimesTooNear(t *testing.T) {
	w := gittest.New(t)
	path, scratch := w.Worktree("agent"), filepath.Join(gittest.RealTemp(t), "scratch")
	then := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(w.Repository.CommonDir, "config"), then, then); err != nil {
		t.Fatal(err)
	}
	n := 0
	take := func() string {
		n++
		store := objects.New(w.Repository)
		s, err := New(store, refs.New(store), journal.Reader{Repository: w.Repository}).
			TakeWithin(t.Context(), path, fmt.Sprintf("refs/paw/s_agent/turn/%d", n), "turn\n", scratch, Budget{})
		if err != nil {
			t.Fatal(err)
		}
		return s.Commit
	}
	for _, near := range []bool{true, false} {
		gittest.WriteFile(t, filepath.Join(path, "new"), "one\n")
		take()
		gittest.WriteFile(t, filepath.Join(path, "new"), "two\n")
		var s last
		if err := json.Unmarshal([]byte(gittest.ReadFile(t, lastFile(scratch))), &s); err != nil {
			t.Fatal(err)
		}
		s.Seen = (&Look{Top: path, Names: []string{"new"}}).recordingAfter(s).seen
		if !near {
			s.Began = time.Now().Add(time.Minute)
		}
		content, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		gittest.WriteFile(t, lastFile(scratch), string(content))
		want := map[bool]string{true: "two", false: "one"}[near] // the latter shows that this test can fail
		if got := w.Git("show", take()+":new"); got != want {
			t.Errorf("near %v: got %q", near, got)
		}
	}
}
