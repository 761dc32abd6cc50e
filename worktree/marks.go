package worktree

import "path/filepath"

// fillingLock is locked by the paw that fills the worktree and by its git.
func fillingLock(admin string) string { return filepath.Join(admin, "paw-filling") }

// filledMark exists once the worktree is complete and its hook has run.
func filledMark(admin string) string { return filepath.Join(admin, "paw-filled") }

// unpreparedMark exists from before a worktree is complete until it was set up.
func unpreparedMark(admin string) string { return filepath.Join(admin, "paw-unprepared") }

// checkMark exists in the git directory of a check worktree.
func checkMark(admin string) string { return filepath.Join(admin, "paw-check") }

// leftMark holds the imprint of what the last check left in its worktree.
func leftMark(admin string) string { return filepath.Join(admin, "paw-left") }

// runningMark exists in the git directory of a check worktree while a check runs there.
func runningMark(admin string) string { return filepath.Join(admin, "paw-check-runs") }

// setUpMark holds what a check worktree was set up from the last time, see setUpState.
func setUpMark(admin string) string { return filepath.Join(admin, "paw-set-up") }

// releasedMark tells a worktree that paw has released from one that the user has
// unlocked, in which an agent may be at work.
func releasedMark(admin string) string { return filepath.Join(admin, "paw-released") }

// halfFilled is HalfMade for a git directory. One that the user has made has an index, and no mark of paw's at all.
func halfFilled(admin string) bool {
	return !exists(filledMark(admin)) && (exists(fillingLock(admin)) || !exists(filepath.Join(admin, "index")))
}
