package worktree

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"paw/worktree/gitdir"
)

// What a sweep could not delete is named once it had the time for it.
func TestKeptHasWhatASweepLeft(t *testing.T) {
	m := &Manager{Repository: gitdir.Repository{CommonDir: t.TempDir()}}
	stuck, fresh, kept := filepath.Join(m.Trash().dir(), "stuck"+doomed), filepath.Join(m.Trash().dir(), "fresh"+doomed), filepath.Join(m.Trash().dir(), "kept")
	for _, dir := range []string{stuck, fresh, kept} {
		if err := os.MkdirAll(filepath.Join(dir, "inside"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	old := time.Now().Add(-2 * time.Hour)
	for _, dir := range []string{stuck, kept} {
		if err := os.Chtimes(dir, old, old); err != nil {
			t.Fatal(err)
		}
	}
	if got, _ := m.Trash().Kept(time.Hour); !slices.Equal(got, []string{kept, stuck}) {
		t.Errorf("got %v", got)
	}
}
