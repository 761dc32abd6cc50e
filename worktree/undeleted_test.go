package worktree

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"paw/worktree/gitdir"
)

// What a sweep could not delete is named once it had the time for it; what the user has to delete is another matter.
func TestUndeletedIsWhatASweepLeft(t *testing.T) {
	m := &Manager{Repository: gitdir.Repository{CommonDir: t.TempDir()}}
	stuck, fresh, kept := filepath.Join(m.Trash().dir(), "stuck"+doomed), filepath.Join(m.Trash().dir(), "fresh"+doomed), filepath.Join(m.Trash().dir(), "kept")
	for _, dir := range []string{stuck, fresh, kept} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	old := time.Now().Add(-2 * time.Hour)
	for _, dir := range []string{stuck, kept} {
		if err := os.Chtimes(dir, old, old); err != nil {
			t.Fatal(err)
		}
	}
	if got := m.Trash().Undeleted(time.Hour); !slices.Equal(got, []string{stuck}) {
		t.Errorf("got %v", got)
	}
}
