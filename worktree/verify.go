package worktree

import (
	"path/filepath"
	"slices"
	"strings"
)

// Verify checks, without git, that the directory at path is a linked worktree
// of the repository with this common directory, in both directions, and that it
// has branch checked out (a rebase of the branch counts; "" skips this). It must
// hold before anything runs there: a worktree without its .git file makes git
// act on whatever checkout lies above, and in one that is half made most files
// look deleted. The error is *MismatchError.
func Verify(path, commonDir, branch string) error {
	admin, err := verified(path, commonDir, branch)
	if err == nil && halfFilled(admin) {
		err = &MismatchError{Path: path, What: "directory", Want: "a worktree with all its files; paw was killed while it made this one"}
	}
	return err
}

// verified is Verify that also returns the git directory of the worktree, and takes one that is half made.
func verified(path, commonDir, branch string) (string, error) {
	mismatch := func(what, want, got string) (string, error) {
		return "", &MismatchError{Path: path, What: what, Want: want, Got: got}
	}
	admin, err := readGitFile(filepath.Join(path, ".git"))
	if err != nil {
		return mismatch("directory", "a linked worktree", "")
	}
	if !isGitDir(admin) {
		return mismatch("registration", admin, "")
	}
	if got := commonDirOf(admin); commonDir != "" && !samePath(got, commonDir) {
		return mismatch("repository", commonDir, got)
	}
	if !samePath(filepath.Dir(admin), filepath.Join(commonDirOf(admin), "worktrees")) {
		return mismatch("registration", "a linked worktree", admin)
	}
	back := readLine(filepath.Join(admin, "gitdir"))
	if back == "" || !samePath(absoluteFrom(admin, back), filepath.Join(path, ".git")) {
		return mismatch("registration", path, filepath.Dir(back))
	}
	if held := heldBranches(admin); branch != "" && !slices.Contains(held, branch) {
		return mismatch("branch", branch, strings.Join(held, ", "))
	}
	return admin, nil
}
