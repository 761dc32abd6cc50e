// Package gitdir reads the files of git directories without git, so that `paw status` starts no
// git: .git files, settings, and refs. Their formats are in gitrepository-layout(5), git-config(1)
// and git-pack-refs(1).
//
// Begin with Of, then Core, then Refs.
package gitdir

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"paw/config/disk"
)

// Of returns the git directory of a worktree: its .git directory, or the one that its .git file names.
func Of(top string) (string, bool) {
	dotGit := filepath.Join(top, ".git")
	info, err := os.Stat(dotGit)
	if err != nil {
		return "", false
	}
	target := dotGit
	if !info.IsDir() {
		if target, err = Target(dotGit); err != nil {
			return "", false
		}
	}
	real, err := filepath.EvalSymlinks(target)
	return real, err == nil && Is(real)
}

// Target returns the absolute path that a .git file points to.
func Target(path string) (string, error) {
	content, err := disk.ReadFile(path)
	if err != nil {
		return "", err
	}
	target, ok := strings.CutPrefix(string(content), "gitdir:")
	if !ok {
		return "", fmt.Errorf("%s: not a git file", path)
	}
	return AbsoluteFrom(filepath.Dir(path), strings.TrimLeft(strings.TrimRight(target, "\r\n"), " ")), nil
}

// IsTop reports whether a folder is the top of a repository or of a worktree.
func IsTop(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, ".git"))
	return err == nil
}

// Is applies git's own test: a HEAD, and refs and objects here or in the common directory.
func Is(dir string) bool { return isWith(dir, Common(dir)) }

// isWith is Is for a directory whose Common is known.
func isWith(dir, common string) bool {
	if _, err := os.Lstat(filepath.Join(dir, "HEAD")); err != nil {
		return false
	}
	for _, name := range []string{"refs", "objects"} {
		if info, err := os.Stat(filepath.Join(common, name)); err != nil || !info.IsDir() {
			return false
		}
	}
	return true
}

// Common returns the directory that all worktrees of a repository share.
func Common(gitDir string) string {
	content, err := disk.ReadFile(filepath.Join(gitDir, "commondir"))
	if err != nil || len(content) == 0 {
		return gitDir
	}
	common := AbsoluteFrom(gitDir, strings.TrimRight(string(content), "\r\n"))
	if real, err := filepath.EvalSymlinks(common); err == nil {
		return real
	}
	return common
}

// AbsoluteFrom returns path as an absolute path; a relative one begins at dir.
func AbsoluteFrom(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

// Line returns the content of a one-line file, "" if it cannot be read.
func Line(path string) string {
	content, err := disk.ReadFile(path)
	if err != nil {
		return ""
	}
	return strings.TrimRight(string(content), "\r\n")
}

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
	common := Common(admin)
	if !isWith(admin, common) {
		return mismatch("registration", admin, "")
	}
	if commonDir != "" && !disk.SamePath(common, commonDir) {
		return mismatch("repository", commonDir, common)
	}
	if !disk.SamePath(filepath.Dir(admin), filepath.Join(common, "worktrees")) {
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

// HalfFilled reports whether paw was killed while it filled the worktree with this git directory. A
// worktree made by the user has an index and no mark of paw's.
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

// ErrNotRepository says that a directory is in no git repository.
var ErrNotRepository = errors.New("not a git repository")

// Repository is a git repository as seen from one directory. All paths are absolute, with symlinks
// resolved.
type Repository struct {
	Path      string // main worktree; "" if bare, or if its place is unknown
	CommonDir string // directory that all worktrees share, usually <Path>/.git
	Worktree  string // top level of the worktree around the directory; "" inside a git directory
	GitDir    string // git directory of that worktree
	Bare      bool
	Unbared   bool // core.bare is true though there is a checkout: a tool has set it, and git works no more in Path
}

// Discover finds the repository that contains dir, like git, but without starting git and ignoring
// GIT_DIR and the like. A submodule is a repository of its own. The error is ErrNotRepository if
// there is none.
func Discover(dir string) (Repository, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return Repository{}, err
	}
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return Repository{}, fmt.Errorf("%s: %w", dir, errors.Unwrap(err))
	}
	for at := real; ; at = filepath.Dir(at) {
		if gitDir, ok := Of(at); ok {
			return repositoryAt(at, gitDir)
		}
		if Is(at) {
			return repositoryAt("", at)
		}
		if at == filepath.Dir(at) {
			return Repository{}, fmt.Errorf("%s: %w", dir, ErrNotRepository)
		}
	}
}

func repositoryAt(top, gitDir string) (Repository, error) {
	r := Repository{CommonDir: Common(gitDir), Worktree: top, GitDir: gitDir}
	cfg, err := ReadCore(r.CommonDir)
	if err != nil {
		return Repository{}, err
	}
	r.Bare = isTrue(cfg.Bare)
	if cfg.Bare == "" { // git guesses so, too
		r.Bare = cfg.Worktree == "" && filepath.Base(r.CommonDir) != ".git"
	}
	if r.Bare && filepath.Base(r.CommonDir) == ".git" && disk.Exists(filepath.Join(r.CommonDir, "index")) { // a bare one has no index
		r.Bare, r.Unbared = false, true
	}
	switch {
	case r.Bare:
		if gitDir == r.CommonDir {
			r.Worktree = ""
		}
	case cfg.Worktree != "":
		r.Path = disk.Resolved(cfg.Worktree)
	case filepath.Base(r.CommonDir) == ".git":
		r.Path = filepath.Dir(r.CommonDir)
	case gitDir == r.CommonDir:
		r.Path = top
	}
	return r, nil
}

// Operation names the unfinished git operation in a worktree, "" for none.
func Operation(admin string) string {
	for _, mark := range []struct{ file, name string }{
		{"rebase-merge", "rebase"},
		{"rebase-apply/applying", "git am"},
		{"rebase-apply", "rebase"},
		{"MERGE_HEAD", "merge"},
		{"CHERRY_PICK_HEAD", "cherry-pick"},
		{"REVERT_HEAD", "revert"},
		{"sequencer", "cherry-pick or revert"},
		{"BISECT_LOG", "bisect"},
	} {
		if disk.Exists(filepath.Join(admin, mark.file)) {
			return mark.name
		}
	}
	return ""
}

// Head returns the branch that the HEAD of a git directory names, "" for a detached one, and the
// commit, "" if the branch has none.
func Head(gitDir string, refs *Refs) (branch, commit string) {
	head := Line(filepath.Join(gitDir, "HEAD"))
	if target, ok := strings.CutPrefix(head, "ref:"); ok {
		target = strings.TrimSpace(target)
		return strings.TrimPrefix(target, "refs/heads/"), refs.Resolve(target)
	}
	if IsOID(head) {
		commit = head
	}
	return "", commit
}

// BranchesInUse returns the branches that git counts as in use by a worktree: the one checked out,
// and those of a rebase or bisect.
func BranchesInUse(gitDir string) []string {
	var held []string
	if target, ok := strings.CutPrefix(Line(filepath.Join(gitDir, "HEAD")), "ref:"); ok {
		held = append(held, strings.TrimSpace(target))
	}
	for _, name := range []string{"rebase-merge/head-name", "rebase-apply/head-name"} {
		held = append(held, Line(filepath.Join(gitDir, name)))
	}
	if start := Line(filepath.Join(gitDir, "BISECT_START")); start != "" {
		held = append(held, "refs/heads/"+strings.TrimPrefix(start, "refs/heads/"))
	}
	held = append(held, strings.Split(Line(filepath.Join(gitDir, "rebase-merge", "update-refs")), "\n")...)
	var branches []string
	for _, ref := range held {
		if name, ok := strings.CutPrefix(ref, "refs/heads/"); ok && name != "" {
			branches = append(branches, name)
		}
	}
	return branches
}

// FormerHeads returns the commits in the reflog of a worktree's HEAD, oldest first.
func FormerHeads(admin string) []string { return headsIn(Line(filepath.Join(admin, "logs", "HEAD"))) }

// headsIn returns the commits in lines of a reflog.
func headsIn(log string) (heads []string) {
	for line := range strings.Lines(log) {
		fields := strings.Fields(line)
		for _, oid := range fields[:min(2, len(fields))] {
			if IsOID(oid) && (len(heads) == 0 || heads[len(heads)-1] != oid) {
				heads = append(heads, oid)
			}
		}
	}
	return heads
}

// LastHead returns the newest commit in the reflog of a worktree's HEAD. A branch deleted from
// inside the worktree shows as a move to an id of zeros, which is skipped.
func LastHead(admin string) string {
	for log := Line(filepath.Join(admin, "logs", "HEAD")); log != ""; {
		end := strings.LastIndexByte(log, '\n')
		if heads := headsIn(log[end+1:]); len(heads) > 0 {
			return heads[len(heads)-1]
		}
		log = log[:max(end, 0)]
	}
	return ""
}
