package claude

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestReadClaudeEntry: a file of the registry is read once as long as it does not change, and again when it has. One
// that was changed just now may change again within the same tick of the clock.
func TestReadClaudeEntry(t *testing.T) {
	file := filepath.Join(t.TempDir(), "1.json")
	write := func(status string, at time.Time) {
		t.Helper()
		if err := os.WriteFile(file, []byte(`{"pid":1,"status":"`+status+`"}`), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(file, at, at); err != nil {
			t.Fatal(err)
		}
	}
	expect := func(what, want string) {
		t.Helper()
		if got, err := readEntry(file); err != nil || got.Status != want {
			t.Errorf("%s: %q, %v, want %q", what, got.Status, err, want)
		}
	}
	now := time.Now()
	write("idle", now)
	expect("new", "idle")
	write("busy", now)
	expect("changed within the same tick", "busy")
	old := now.Add(-time.Minute)
	write("idle", old)
	expect("old", "idle")
	write("busy", old)
	expect("unchanged, as far as the file system says", "idle")
	write("busy", old.Add(time.Second))
	expect("changed", "busy")
	write("waiting", old.Add(time.Second))
	expect("of another size", "waiting")
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if _, err := readEntry(file); err == nil {
		t.Error("a file that is gone was read")
	}
}
