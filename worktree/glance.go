package worktree

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Glimpse is what files say of the worktree at a path, without git.
type Glimpse struct {
	Gone     bool   // no worktree of git is there
	Branch   string // that git counts as in use there: the expected one where that is not known, "" for none
	CutShort string // command that moved files there and was killed, "" for none
}

// Glance looks at the worktree at a path, where a branch is expected.
func Glance(path, branch string) Glimpse {
	if _, err := os.Lstat(filepath.Join(path, ".git")); errors.Is(err, fs.ErrNotExist) {
		return Glimpse{Gone: true, Branch: branch}
	}
	admin, err := readGitFile(filepath.Join(path, ".git"))
	if err != nil {
		return Glimpse{Branch: branch} // whoever needs the worktree says what is wrong with it
	}
	return Glimpse{Branch: branchIn(admin, branch), CutShort: cutShort(admin)}
}

// branchIn is the branch of the worktree with this git directory.
func branchIn(admin, expected string) string {
	head := readLine(filepath.Join(admin, "HEAD"))
	if head == "" || head == "ref: refs/heads/"+expected {
		return expected
	}
	held := heldBranches(admin)
	if slices.Contains(held, expected) {
		return expected
	}
	if len(held) == 0 {
		return ""
	}
	return held[0]
}

// cutShort is the command of a move that is open at the place with this git directory, and that nobody carries out.
func cutShort(admin string) string {
	if !exists(filepath.Join(admin, journalFile)) {
		return ""
	}
	file, err := os.Open(filepath.Join(admin, journalLock))
	if err == nil {
		defer file.Close()
		if free, err := tryLock(context.Background(), file, 0); err == nil && !free {
			return ""
		}
	}
	j, err := readJournal(admin)
	switch {
	case err != nil:
		return "move of files"
	case j == nil:
		return "" // it has ended meanwhile
	}
	return strings.TrimSpace(j.Command)
}
