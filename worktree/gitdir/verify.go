package gitdir

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"paw/config/disk"
)

// Checkout is the worktree that has a branch checked out: the main one or a linked one.
type Checkout struct {
	Path     string
	AdminDir string // the worktree's own git directory
	Owner    string // the reason of the lock, which names who the worktree is for; "" for none
}

// PointsTo reports whether a worktree's .git file names the git directory admin.
func PointsTo(dotGit, admin string) bool {
	target, err := Target(dotGit)
	return err == nil && disk.SamePath(target, admin)
}

// Verify checks, without git, that the directory at path is a linked worktree of the repository
// with this common directory (both point to each other), and that branch is checked out or being
// rebased there; "" skips that. Verify must succeed before anything runs there: without the .git
// file git would act on a checkout above, and in a half-made worktree most files look deleted. The
// error is a *MismatchError.
func Verify(path, commonDir, branch string) error {
	admin, err := Linked(path, commonDir, branch)
	if err == nil && HalfFilled(admin) {
		err = &MismatchError{Path: path, What: "directory", Want: "a worktree with all its files; paw was killed while it made this one"}
	}
	return err
}

// Linked is Verify that returns the worktree's git directory, and accepts a half-made worktree.
func Linked(path, commonDir, branch string) (string, error) {
	mismatch := func(what, want, got string) (string, error) {
		return "", &MismatchError{Path: path, What: what, Want: want, Got: got}
	}
	admin, err := Target(filepath.Join(path, ".git"))
	if err != nil {
		return mismatch("directory", "a linked worktree", "")
	}
	if !Is(admin) {
		return mismatch("registration", admin, "")
	}
	if got := Common(admin); commonDir != "" && !disk.SamePath(got, commonDir) {
		return mismatch("repository", commonDir, got)
	}
	if !disk.SamePath(filepath.Dir(admin), filepath.Join(Common(admin), "worktrees")) {
		return mismatch("registration", "a linked worktree", admin)
	}
	back := Line(filepath.Join(admin, "gitdir"))
	if back == "" || !disk.SamePath(AbsoluteFrom(admin, back), filepath.Join(path, ".git")) {
		return mismatch("registration", path, filepath.Dir(back))
	}
	if held := BranchesInUse(admin); branch != "" && !slices.Contains(held, branch) {
		return mismatch("branch", branch, strings.Join(held, ", "))
	}
	return admin, nil
}

// FillingLock is locked by the paw that fills the worktree, and by its git.
func FillingLock(admin string) string { return filepath.Join(admin, "paw-filling") }

// FilledMark exists once the worktree has all files and its hook has run.
func FilledMark(admin string) string { return filepath.Join(admin, "paw-filled") }

// HalfFilled reports whether paw was killed while it filled the worktree with this git directory. A worktree made by the user has an index and no mark
// of paw's.
func HalfFilled(admin string) bool {
	return !disk.Exists(FilledMark(admin)) && (disk.Exists(FillingLock(admin)) || !disk.Exists(filepath.Join(admin, "index")))
}

// MismatchError says that a directory is not the expected worktree. What is "directory",
// "repository", "registration" or "branch".
type MismatchError struct{ Path, What, Want, Got string }

func (e *MismatchError) Error() string {
	if e.Got == "" {
		return fmt.Sprintf("%s: not the expected %s (%s)", e.Path, e.What, e.Want)
	}
	return fmt.Sprintf("%s: not the expected %s: %s instead of %s", e.Path, e.What, e.Got, e.Want)
}
