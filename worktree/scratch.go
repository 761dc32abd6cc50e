package worktree

import (
	"os"
	"time"
)

const scratchPrefix = "paw-scratch-"

// abandonedAge is how old a scratch folder is that no paw works in any more: the one that made it was killed.
const abandonedAge = 24 * time.Hour

// newScratch makes a folder for indexes that nobody else sees, in the git directory of a worktree, and deletes those that
// a paw which was killed has left there. The caller deletes it.
func newScratch(admin string) (dir string, err error) {
	sweepOld(admin, scratchPrefix, abandonedAge)
	return os.MkdirTemp(admin, scratchPrefix)
}
