package orchestrator

import (
	"fmt"
	"time"

	"paw/worktree"
)

// sweepPatience is how long removed directories may take to be deleted in the background.
const sweepPatience = time.Hour

// keptTrash says how much paw keeps in the trash folder of a repository, "" for
// nothing. Only the user knows when it may go.
func keptTrash(m worktree.Manager) string {
	kept, dir := m.Kept()
	if len(kept) == 0 {
		return ""
	}
	var bytes int64
	for _, item := range kept {
		bytes += folderSize(item)
	}
	what := fmt.Sprintf("%d removed directories are", len(kept))
	if len(kept) == 1 {
		what = "1 removed directory is"
	}
	return fmt.Sprintf("%s kept in %s (%.1f MiB)", what, dir, float64(bytes)/(1<<20))
}
