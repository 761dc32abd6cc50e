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
func (m Manager) List(ctx context.Context) ([]Entry, error) {
	refs := &refReader{commonDir: m.Repository.CommonDir}
	main := Entry{Path: m.Repository.Path, AdminDir: m.Repository.CommonDir, Bare: m.Repository.Bare}
	if main.Path == "" {
		main.Path = m.Repository.CommonDir
	}
	if !main.Bare {
		main.readHead(refs)
	}
	admins, err := m.adminDirs()
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
func (m Manager) find(ctx context.Context, is func(Entry) bool) (*Entry, error) {
	entries, err := m.List(ctx)
	if at := slices.IndexFunc(entries, is); err == nil && at >= 0 {
		return &entries[at], nil
	}
	return nil, err
}

// adminDirs lists the git directories of the linked worktrees.
func (m Manager) adminDirs() ([]string, error) {
	root := filepath.Join(m.Repository.CommonDir, "worktrees")
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

// heldBranches are the branches that git counts as in use by the worktree with
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
