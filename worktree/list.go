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
	"paw/worktree/journal"
	"paw/worktree/objects"
	"paw/worktree/snapshot"
)

// Registry lists the worktrees that git has registered.
type Registry struct {
	Repository gitdir.Repository
	Locks      func(ctx context.Context) (unlock func(), err error) // see Manager.Locks

	objects  *objects.Store
	journals journal.Reader
	waiting  gitdir.Waiting
}

// ownerPrefix begins the lock reason of every worktree that paw has made.
const ownerPrefix = "paw "

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
func (r *Registry) List(ctx context.Context) ([]Entry, error) {
	refs := &gitdir.Refs{CommonDir: r.Repository.CommonDir}
	main := Entry{Path: r.Repository.Path, AdminDir: r.Repository.CommonDir, Bare: r.Repository.Bare}
	if main.Path == "" {
		main.Path = r.Repository.CommonDir
	}
	if !main.Bare {
		main.Branch, main.Head = gitdir.Head(main.AdminDir, refs)
	}
	root := filepath.Join(r.Repository.CommonDir, "worktrees")
	linked, err := os.ReadDir(root)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	entries := []Entry{main}
	for _, item := range linked {
		if item.IsDir() {
			entries = append(entries, readEntry(filepath.Join(root, item.Name()), refs))
		}
	}
	return entries, ctx.Err()
}

// find returns the first worktree that the function is accepts, nil for none.
func (r *Registry) find(ctx context.Context, is func(Entry) bool) (*Entry, error) {
	entries, err := r.List(ctx)
	if at := slices.IndexFunc(entries, is); err == nil && at >= 0 {
		return &entries[at], nil
	}
	return nil, err
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
	e.Prunable = !gitdir.PointsTo(dotGit, admin)
	e.Branch, e.Head = gitdir.Head(admin, refs)
	return e
}

// Glimpse holds what can be seen of a worktree, without git unless its branch was moved from elsewhere.
type Glimpse struct {
	Gone     bool   // no git worktree is at the path
	Branch   string // branch in use there; the expected one if unknown, "" for none
	Head     string // commit of the expected branch if that is in use, else ""
	CutShort string // command of an interrupted move, "" for none
	Moved    bool   // the branch was moved from elsewhere, see snapshot.MovedFrom
}

// Glance reads a worktree at a path where branch is expected; refs are those of its repository.
func Glance(ctx context.Context, path, branch string, refs *gitdir.Refs) Glimpse {
	admin, err := gitdir.Target(filepath.Join(path, ".git"))
	if err != nil {
		if _, err := os.Lstat(filepath.Join(path, ".git")); errors.Is(err, fs.ErrNotExist) {
			return Glimpse{Gone: true, Branch: branch}
		}
		return Glimpse{Branch: branch} // Commands that use the worktree report what is wrong with it.
	}
	g := Glimpse{Branch: branchIn(admin, branch), CutShort: journal.CutShort(admin)}
	if ref := "refs/heads/" + branch; gitdir.Line(filepath.Join(admin, "HEAD")) == "ref: "+ref {
		g.Head = refs.Resolve(ref)
		g.Moved = snapshot.MovedFrom(ctx, path, admin, g.Head) != ""
	}
	return g
}

// branchIn returns the branch in use by the worktree with this git directory.
func branchIn(admin, expected string) string {
	head := gitdir.Line(filepath.Join(admin, "HEAD"))
	if head == "" || head == "ref: refs/heads/"+expected {
		return expected
	}
	held := gitdir.BranchesInUse(admin)
	if slices.Contains(held, expected) {
		return expected
	}
	if len(held) == 0 {
		return ""
	}
	return held[0]
}

// unpreparedMark exists from before a worktree is complete until it is set up.
func unpreparedMark(admin string) string { return filepath.Join(admin, "paw-unprepared") }

// checkMark exists in the git directory of a check worktree. It holds the commit at
// which paw has left the worktree's HEAD, once there is one.
func checkMark(admin string) string { return filepath.Join(admin, "paw-check") }

// leftMark holds the imprint of a check worktree's content after the last check.
func leftMark(admin string) string { return filepath.Join(admin, "paw-left") }

// setUpMark holds the setUpState of a check worktree's last set-up.
func setUpMark(admin string) string { return filepath.Join(admin, "paw-set-up") }

// releasedMark exists in the git directory of a worktree that paw has released. A worktree unlocked
// by the user has no such mark, and an agent may be at work there.
func releasedMark(admin string) string { return filepath.Join(admin, "paw-released") }
