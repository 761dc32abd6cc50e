package worktree

import "path/filepath"

// fillingLock is locked by the paw that fills the worktree and by its git.
func fillingLock(admin string) string { return filepath.Join(admin, "paw-filling") }

// filledMark exists once the worktree is complete and its hook has run.
func filledMark(admin string) string { return filepath.Join(admin, "paw-filled") }

// unpreparedMark exists from before a worktree is complete until it was set up.
func unpreparedMark(admin string) string { return filepath.Join(admin, "paw-unprepared") }

// releasedMark tells a worktree that paw has released from one that the user has
// unlocked, in which an agent may be at work.
func releasedMark(admin string) string { return filepath.Join(admin, "paw-released") }

// halfFilled is HalfMade for a git directory. One that the user has made has an index, and no mark of paw's at all.
func halfFilled(admin string) bool {
	return !exists(filledMark(admin)) && (exists(fillingLock(admin)) || !exists(filepath.Join(admin, "index")))
}
