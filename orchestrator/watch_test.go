package orchestrator

import (
	"os"
	"path/filepath"
	"testing"
)

// TestWatchNoticesWhatIsWritten: a watch looks again once a file that it has read was made, written or deleted.
func TestWatchNoticesWhatIsWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "turn-001-prompt.log")
	w := &Watch{}
	if !w.Changed() {
		t.Error("a watch that has not looked yet has nothing to show")
	}
	changed := func(after string, want bool) {
		t.Helper()
		if w.Changed() != want {
			t.Errorf("%s: changed is %t, want %t", after, !want, want)
		}
		w.stamps[path] = stampOf(path)
	}
	w.stamps = map[string]fileStamp{path: {}}
	changed("a look without the file", false)
	if err := os.WriteFile(path, []byte("one\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	changed("the file was made", true)
	changed("a look", false)
	if err := os.WriteFile(path, []byte("one\ntwo\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	changed("the file was written", true)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	changed("the file was deleted", true)
}
