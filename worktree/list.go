package worktree

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"paw/config/disk"
	"paw/worktree/gitdir"
)

// Registry lists the worktrees that git has registered.
type Registry struct {
	Repository Repository
	Locks      func(ctx context.Context) (unlock func(), err error) // see Manager.Locks

	objects  Objects
	journals Journals
	waiting  waiting
}

// Entry is one registered worktree.
type Entry struct {
	Path     string // top level; the common directory for a bare repository
	Branch   string // without refs/heads/; "" when HEAD is detached
	Head     string // commit id; "" for an unborn or unreadable HEAD
	AdminDir string // the worktree's own git directory
	Bare     bool
	Locked   bool
	Prunable bool // the directory is gone, or the .git file there names another git directory

	LockReason string
}

// List returns the main worktree, then the linked ones by name. List reads the files itself: one
// half-made entry makes `git worktree list` fail. Such an entry is listed with the fields that can
// be read.
func (r Registry) List(ctx context.Context) ([]Entry, error) {
	refs := &gitdir.Refs{CommonDir: r.Repository.CommonDir}
	main := Entry{Path: r.Repository.Path, AdminDir: r.Repository.CommonDir, Bare: r.Repository.Bare}
	if main.Path == "" {
		main.Path = r.Repository.CommonDir
	}
	if !main.Bare {
		main.Branch, main.Head = headIn(main.AdminDir, refs)
	}
	admins, err := r.adminDirs()
	if err != nil {
		return nil, err
	}
	entries := []Entry{main}
	for _, admin := range admins {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		entries = append(entries, readEntry(admin, refs))
	}
	return entries, nil
}

// find returns the first worktree that the function is accepts, nil for none.
func (r Registry) find(ctx context.Context, is func(Entry) bool) (*Entry, error) {
	entries, err := r.List(ctx)
	if at := slices.IndexFunc(entries, is); err == nil && at >= 0 {
		return &entries[at], nil
	}
	return nil, err
}

// adminDirs lists the git directories of the linked worktrees.
func (r Registry) adminDirs() ([]string, error) {
	root := filepath.Join(r.Repository.CommonDir, "worktrees")
	found, err := os.ReadDir(root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var dirs []string
	for _, item := range found {
		if item.IsDir() {
			dirs = append(dirs, filepath.Join(root, item.Name()))
		}
	}
	return dirs, nil
}

func readEntry(admin string, refs *gitdir.Refs) Entry {
	e := Entry{AdminDir: admin}
	if reason, err := disk.ReadFile(filepath.Join(admin, "locked")); err == nil {
		e.Locked = true
		e.LockReason = strings.TrimSpace(string(reason))
	}
	dotGit := gitdir.Line(filepath.Join(admin, "gitdir"))
	if dotGit == "" {
		e.Prunable = true
		return e
	}
	dotGit = gitdir.AbsoluteFrom(admin, dotGit)
	e.Path = filepath.Dir(dotGit)
	e.Prunable = !pointsTo(dotGit, admin)
	e.Branch, e.Head = headIn(admin, refs)
	return e
}

// headIn returns the branch that the HEAD of a git directory names, "" for a detached one, and the
// commit, "" if the branch has none.
func headIn(gitDir string, refs *gitdir.Refs) (branch, commit string) {
	head := gitdir.Line(filepath.Join(gitDir, "HEAD"))
	if target, ok := strings.CutPrefix(head, "ref:"); ok {
		target = strings.TrimSpace(target)
		return strings.TrimPrefix(target, "refs/heads/"), refs.Resolve(target)
	}
	if gitdir.IsOID(head) {
		commit = head
	}
	return "", commit
}

// pointsTo reports whether a worktree's .git file names the git directory admin.
func pointsTo(dotGit, admin string) bool {
	target, err := gitdir.Target(dotGit)
	return err == nil && samePath(target, admin)
}

// heldBranches returns the branches that git counts as in use by a worktree: the one checked out,
// and those of a rebase or bisect.
func heldBranches(gitDir string) []string {
	var held []string
	if target, ok := strings.CutPrefix(gitdir.Line(filepath.Join(gitDir, "HEAD")), "ref:"); ok {
		held = append(held, strings.TrimSpace(target))
	}
	for _, name := range []string{"rebase-merge/head-name", "rebase-apply/head-name"} {
		held = append(held, gitdir.Line(filepath.Join(gitDir, name)))
	}
	if start := gitdir.Line(filepath.Join(gitDir, "BISECT_START")); start != "" {
		held = append(held, "refs/heads/"+strings.TrimPrefix(start, "refs/heads/"))
	}
	held = append(held, strings.Split(gitdir.Line(filepath.Join(gitDir, "rebase-merge", "update-refs")), "\n")...)
	var branches []string
	for _, ref := range held {
		if name, ok := strings.CutPrefix(ref, "refs/heads/"); ok && name != "" {
			branches = append(branches, name)
		}
	}
	return branches
}

// Verify checks, without git, that the directory at path is a linked worktree of the repository
// with this common directory (both point to each other), and that branch is checked out or being
// rebased there; "" skips that. Verify must succeed before anything runs there: without the .git
// file git would act on a checkout above, and in a half-made worktree most files look deleted. The
// error is a *MismatchError.
func Verify(path, commonDir, branch string) error {
	admin, err := verified(path, commonDir, branch)
	if err == nil && halfFilled(admin) {
		err = &MismatchError{Path: path, What: "directory", Want: "a worktree with all its files; paw was killed while it made this one"}
	}
	return err
}

// verified is Verify that returns the worktree's git directory, and accepts a half-made worktree.
func verified(path, commonDir, branch string) (string, error) {
	mismatch := func(what, want, got string) (string, error) {
		return "", &MismatchError{Path: path, What: what, Want: want, Got: got}
	}
	admin, err := gitdir.Target(filepath.Join(path, ".git"))
	if err != nil {
		return mismatch("directory", "a linked worktree", "")
	}
	if !gitdir.Is(admin) {
		return mismatch("registration", admin, "")
	}
	if got := gitdir.Common(admin); commonDir != "" && !samePath(got, commonDir) {
		return mismatch("repository", commonDir, got)
	}
	if !samePath(filepath.Dir(admin), filepath.Join(gitdir.Common(admin), "worktrees")) {
		return mismatch("registration", "a linked worktree", admin)
	}
	back := gitdir.Line(filepath.Join(admin, "gitdir"))
	if back == "" || !samePath(gitdir.AbsoluteFrom(admin, back), filepath.Join(path, ".git")) {
		return mismatch("registration", path, filepath.Dir(back))
	}
	if held := heldBranches(admin); branch != "" && !slices.Contains(held, branch) {
		return mismatch("branch", branch, strings.Join(held, ", "))
	}
	return admin, nil
}

// Glimpse holds what can be seen of a worktree without git.
type Glimpse struct {
	Gone     bool   // no git worktree is at the path
	Branch   string // branch in use there; the expected one if unknown, "" for none
	CutShort string // command of an interrupted move, "" for none
}

// Glance reads a worktree at a path where branch is expected.
func Glance(path, branch string) Glimpse {
	if _, err := os.Lstat(filepath.Join(path, ".git")); errors.Is(err, fs.ErrNotExist) {
		return Glimpse{Gone: true, Branch: branch}
	}
	admin, err := gitdir.Target(filepath.Join(path, ".git"))
	if err != nil {
		return Glimpse{Branch: branch} // Commands that use the worktree report what is wrong with it.
	}
	return Glimpse{Branch: branchIn(admin, branch), CutShort: cutShort(admin)}
}

// branchIn returns the branch in use by the worktree with this git directory.
func branchIn(admin, expected string) string {
	head := gitdir.Line(filepath.Join(admin, "HEAD"))
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

// cutShort returns the command of a move that is open in a git directory and not running, "" for
// none.
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
		return "" // The move has ended meanwhile.
	}
	return strings.TrimSpace(j.Command)
}

// fillingLock is locked by the paw that fills the worktree, and by its git.
func fillingLock(admin string) string { return filepath.Join(admin, "paw-filling") }

// filledMark exists once the worktree has all files and its hook has run.
func filledMark(admin string) string { return filepath.Join(admin, "paw-filled") }

// unpreparedMark exists from before a worktree is complete until it is set up.
func unpreparedMark(admin string) string { return filepath.Join(admin, "paw-unprepared") }

// checkMark exists in the git directory of a check worktree.
func checkMark(admin string) string { return filepath.Join(admin, "paw-check") }

// leftMark holds the imprint of a check worktree's content after the last check.
func leftMark(admin string) string { return filepath.Join(admin, "paw-left") }

// runningMark exists in the git directory of a check worktree while a check runs.
func runningMark(admin string) string { return filepath.Join(admin, "paw-check-runs") }

// setUpMark holds the setUpState of a check worktree's last set-up.
func setUpMark(admin string) string { return filepath.Join(admin, "paw-set-up") }

// releasedMark exists in the git directory of a worktree that paw has released. A worktree unlocked
// by the user has no such mark, and an agent may be at work there.
func releasedMark(admin string) string { return filepath.Join(admin, "paw-released") }

// halfFilled is HalfMade for a git directory. A worktree made by the user has an index and no mark
// of paw's.
func halfFilled(admin string) bool {
	return !exists(filledMark(admin)) && (exists(fillingLock(admin)) || !exists(filepath.Join(admin, "index")))
}
