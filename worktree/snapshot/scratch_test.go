package snapshot

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"paw/config/disk"
)

// What a paw that was killed has left behind goes with the next snapshot; what another one works in stays.
func TestScratchOfKilledProcessesIsDeleted(t *testing.T) {
	admin := t.TempDir()
	left, used, other := filepath.Join(admin, "paw-scratch-1"), filepath.Join(admin, "paw-scratch-2"), filepath.Join(admin, "logs")
	for _, dir := range []string{left, used, other} {
		if err := os.MkdirAll(filepath.Join(dir, "below"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	old := time.Now().Add(-25 * time.Hour)
	for _, dir := range []string{left, other} {
		if err := os.Chtimes(dir, old, old); err != nil {
			t.Fatal(err)
		}
	}
	made, err := newScratch(admin)
	if err != nil || !disk.Exists(made) || disk.Exists(left) || !disk.Exists(used) || !disk.Exists(other) {
		t.Errorf("made %q, %v; left %t, used %t, other %t", made, err, disk.Exists(left), disk.Exists(used), disk.Exists(other))
	}
}
