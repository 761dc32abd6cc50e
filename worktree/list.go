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
)

// Registry holds the worktrees that git knows of.
type Registry struct {
	Repository Repository
	Locks      func(ctx context.Context) (unlock func(), err error) // as in Manager

	objects  Objects
	journals Journals
	waiting  waiting
}

// Entry is one registered worktree.
type Entry struct {
	Path     string // toplevel; the common directory for a bare repository
	Branch   string // without refs/heads/; "" when detached
	Head     string // commit id; "" for an unborn or unreadable one
	AdminDir string // its own git directory
	Bare     bool
	Locked   bool
	Prunable bool // the directory is gone or no longer points back here

	LockReason string
}

// List returns the main worktree and the registered ones by name. It reads the
// registry itself, because one half-made entry makes every `git worktree list`
// fail; such an entry is listed with what it has.
func (r Registry) List(ctx context.Context) ([]Entry, error) {
	refs := &refReader{commonDir: r.Repository.CommonDir}
	main := Entry{Path: r.Repository.Path, AdminDir: r.Repository.CommonDir, Bare: r.Repository.Bare}
	if main.Path == "" {
		main.Path = r.Repository.CommonDir
	}
	if !main.Bare {
		main.readHead(refs)
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

// find returns the first worktree of which is holds, nil for none.
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

func readEntry(admin string, refs *refReader) Entry {
	e := Entry{AdminDir: admin}
	if reason, err := disk.ReadFile(filepath.Join(admin, "locked")); err == nil {
		e.Locked = true
		e.LockReason = strings.TrimSpace(string(reason))
	}
	dotGit := readLine(filepath.Join(admin, "gitdir"))
	if dotGit == "" {
		e.Prunable = true
		return e
	}
	dotGit = absoluteFrom(admin, dotGit)
	e.Path = filepath.Dir(dotGit)
	e.Prunable = !pointsTo(dotGit, admin)
	e.readHead(refs)
	return e
}

func (e *Entry) readHead(refs *refReader) {
	head := readLine(filepath.Join(e.AdminDir, "HEAD"))
	if target, ok := strings.CutPrefix(head, "ref:"); ok {
		target = strings.TrimSpace(target)
		e.Branch = strings.TrimPrefix(target, "refs/heads/")
		e.Head = refs.resolve(target)
		return
	}
	if isOID(head) {
		e.Head = head
	}
}

// pointsTo reports whether the .git file of a worktree leads to admin.
func pointsTo(dotGit, admin string) bool {
	target, err := readGitFile(dotGit)
	return err == nil && samePath(target, admin)
}

// heldBranches returns the branches that git counts as in use by the worktree with
// this git directory: the one checked out, and the one of a rebase or bisect.
func heldBranches(gitDir string) []string {
	var held []string
	if target, ok := strings.CutPrefix(readLine(filepath.Join(gitDir, "HEAD")), "ref:"); ok {
		held = append(held, strings.TrimSpace(target))
	}
	for _, name := range []string{"rebase-merge/head-name", "rebase-apply/head-name"} {
		held = append(held, readLine(filepath.Join(gitDir, name)))
	}
	if start := readLine(filepath.Join(gitDir, "BISECT_START")); start != "" {
		held = append(held, "refs/heads/"+strings.TrimPrefix(start, "refs/heads/"))
	}
	held = append(held, strings.Split(readLine(filepath.Join(gitDir, "rebase-merge", "update-refs")), "\n")...)
	var branches []string
	for _, ref := range held {
		if name, ok := strings.CutPrefix(ref, "refs/heads/"); ok && name != "" {
			branches = append(branches, name)
		}
	}
	return branches
}

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

// Glimpse holds what files tell of the worktree at a path, without git.
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
