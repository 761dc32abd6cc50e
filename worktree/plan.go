package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"paw/config/disk"
	"paw/worktree/git"
	"paw/worktree/gitdir"
	"paw/worktree/refs"
)

// Plan describes a worktree to make for an agent.
type Plan struct {
	Agent        string
	Branch       string            // "" for none: HEAD is detached at Base
	Path         string            // absolute path, missing or of an empty directory
	Base         string            // commit id that a new branch, or a detached HEAD, starts from
	Refs         map[string]string // further refs (name -> id) to make together with all branches
	CreateBranch bool              // false if the branch exists
	restores     bool              // see Restore

	Beside string // worktree whose sparse patterns the new one gets, "" for the main one

	// Saved is a commit kept by a ref, "" for none. While the worktree's files equal it, no change
	// would be lost.
	Saved string

	Scratch string // folder with what the last snapshot of the worktree has kept, "" for none

	// Owner is the reason of the worktree's lock, such as "paw session/agent". The reason
	// identifies the owner of even a half-made registration.
	Owner string
}

// Check returns what would stop Create, as a *ConflictError, and changes nothing. What an
// interrupted Create has left for the same plan does not count. The lock starts one git process.
func (m *Manager) Check(ctx context.Context, plans []Plan) error {
	entries, err := m.Registry().List(ctx)
	if err != nil {
		return err
	}
	_, err = m.check(ctx, plans, entries)
	return err
}

// check is Check that returns the branches near the planned ones, by name.
func (m *Manager) check(ctx context.Context, plans []Plan, entries []Entry) (map[string]string, error) {
	cfg, err := gitdir.ReadCore(m.Repository.CommonDir)
	if err != nil {
		return nil, err
	}
	fold := func(name string) string {
		if cfg.IgnoreCase {
			return strings.ToLower(name)
		}
		return name
	}
	for i, p := range plans {
		if err := p.check(); err != nil {
			return nil, err
		}
		for _, other := range plans[:i] {
			if err := apart(p, other, fold); err != nil {
				return nil, err
			}
		}
	}
	branches, err := m.Refs().BranchesAt(ctx, withParents(plans))
	if err != nil {
		return nil, err
	}
	for _, p := range plans {
		if err := m.checkBranch(p, branches, entries, fold); err != nil {
			return nil, err
		}
		if err := m.Registry().checkRegistry(p, entries); err != nil {
			if c, ok := errors.AsType[*git.ConflictError](err); ok && c.Branch != "" {
				c.Free = freeBranch(c.Branch+"-2", branches)
			}
			return nil, err
		}
	}
	return branches, nil
}

// freeBranch returns name, or name with a number, such that it equals no branch and can exist
// beside all.
func freeBranch(name string, branches map[string]string) string {
	free := name
	for n := 2; ; n++ {
		taken := false
		for other := range branches {
			taken = taken || other == free || disk.Inside(free, other, "/") || disk.Inside(other, free, "/")
		}
		if !taken {
			return free
		}
		free = fmt.Sprintf("%s-%d", name, n)
	}
}

// check checks the plan alone.
func (p Plan) check() error {
	if err := refs.CheckBranchName(p.Branch); err != nil && p.Branch != "" {
		c := git.Conflict(p.Agent, "", "%v", err)
		if free := strings.TrimLeft(p.Branch, "-"); refs.CheckBranchName(free) == nil {
			c.Branch, c.Free = p.Branch, free
		}
		return c
	}
	if !filepath.IsAbs(p.Path) {
		return git.Conflict(p.Agent, "", "worktree path %q: not absolute", p.Path)
	}
	if strings.ContainsAny(p.Path, "\n\r\x00") {
		return git.Conflict(p.Agent, "", "worktree path %q: contains a line break", p.Path)
	}
	if strings.ContainsAny(p.Owner, "\n\r\x00") {
		return git.Conflict(p.Agent, "", "owner %q: contains a line break", p.Owner)
	}
	if (p.CreateBranch || p.Branch == "") && !gitdir.IsOID(p.Base) {
		return git.Conflict(p.Agent, "", "base %q: not a commit id", p.Base)
	}
	return nil
}

// apart returns an error for two plans that exclude each other.
func apart(p, other Plan, fold func(string) string) error {
	a, b := fold(p.Branch), fold(other.Branch)
	if a == b {
		c := git.Conflict(p.Agent, "", "branch %s: also asked for by %s", p.Branch, other.Agent)
		c.Branch, c.Free = p.Branch, p.Branch+"-2"
		return c
	}
	if disk.Inside(a, b, "/") || disk.Inside(b, a, "/") {
		c := git.Conflict(p.Agent, "", "branch %s: excludes branch %s of %s, one name is the folder of the other", p.Branch, other.Branch, other.Agent)
		c.Branch = p.Branch
		if disk.Inside(b, a, "/") {
			c.Branch = other.Branch
		}
		c.Free = strings.ReplaceAll(c.Branch, "/", "-")
		return c
	}
	here, there := fold(disk.Resolved(p.Path)), fold(disk.Resolved(other.Path))
	if here == there || disk.Within(here, there) || disk.Within(there, here) {
		return git.Conflict(p.Agent, "", "worktree path %s: overlaps %s of %s", p.Path, other.Path, other.Agent)
	}
	return nil
}

func (m *Manager) checkBranch(p Plan, branches map[string]string, entries []Entry, fold func(string) string) error {
	if p.Branch == "" {
		return nil
	}
	oid, exists := branches[p.Branch]
	if p.CreateBranch && exists && oid != p.Base {
		return git.Conflict(p.Agent, "", "branch %s: exists already", p.Branch)
	}
	if at := slices.IndexFunc(entries, func(e Entry) bool { return ownedBy(e, p) }); !p.CreateBranch && !exists && at >= 0 && entries[at].LastHead() != "" {
		return git.Conflict(p.Agent, "git branch "+p.Branch+" "+entries[at].LastHead(), "branch %s: does not exist any more", p.Branch)
	}
	if !p.CreateBranch && !exists {
		return git.Conflict(p.Agent, "git branch "+p.Branch, "branch %s: does not exist", p.Branch)
	}
	if exists {
		return nil
	}
	name := fold(p.Branch)
	for other := range branches {
		known := fold(other)
		if known == name {
			return git.Conflict(p.Agent, "", "branch %s: differs from the existing %s only in case", p.Branch, other)
		}
		if disk.Inside(name, known, "/") || disk.Inside(known, name, "/") {
			c := git.Conflict("", "", "branch %s: cannot exist beside the branch %s", p.Branch, other)
			c.Branch, c.Free = p.Branch, freeBranch(strings.ReplaceAll(p.Branch, "/", "-"), branches)
			if disk.Inside(name, known, "/") {
				c.Folder, c.Aside = other, freeBranch(strings.ReplaceAll(other, "/", "-")+"-aside", branches)
			}
			return c
		}
	}
	return nil
}

func (r *Registry) checkRegistry(p Plan, entries []Entry) error {
	target := disk.Resolved(p.Path)
	if disk.Within(target, disk.Resolved(r.Repository.CommonDir)) {
		return git.Conflict(p.Agent, "", "worktree path %s: inside the git directory", p.Path)
	}
	mine := false
	for _, e := range entries {
		if mayReplace(e, p) {
			mine = true
			continue
		}
		at := disk.Resolved(e.Path)
		switch {
		case e.Bare:
		case e.Path != "" && at == target:
			return git.Conflict(p.Agent, r.drop(e), "worktree path %s: already a worktree%s", p.Path, withBranch(e))
		case e.Path != "" && disk.Within(target, at):
			return git.Conflict(p.Agent, "", "worktree path %s: inside the worktree %s", p.Path, e.Path)
		case slices.Contains(gitdir.BranchesInUse(e.AdminDir), p.Branch):
			c := git.Conflict("", r.drop(e), "branch %s: checked out at %s", p.Branch, e.Path)
			c.Branch = p.Branch
			return c
		}
	}
	return checkPlace(p, mine)
}

// drop returns the command that frees a place or a branch: it removes the registration of a directory that is missing, or a worktree that was left to the
// user with paw remove --keep-worktree. It returns "" for any other worktree, in which somebody may be at work.
func (r *Registry) drop(e Entry) string {
	if e.Path == "" || disk.Exists(e.Path) && (e.Locked || !disk.Exists(releasedMark(e.AdminDir))) {
		return ""
	}
	repository, path := git.Quote(r.objects.Home().Dir), git.Quote(e.Path)
	drop := "git -C " + repository + " worktree remove " + path
	if e.Locked {
		drop = "git -C " + repository + " worktree unlock " + path + " && " + drop
	}
	return drop
}

// ownedBy reports whether a registration was made for this plan. A half-made one may lack path and
// branch.
func ownedBy(e Entry, p Plan) bool {
	return p.Owner != "" && e.Locked && e.LockReason == p.Owner &&
		(e.Path == "" || disk.SamePath(e.Path, p.Path))
}

func withBranch(e Entry) string {
	if e.Branch == "" {
		return ""
	}
	return " of branch " + e.Branch
}

// withParents returns the planned branch names and every folder above them.
func withParents(plans []Plan) []string {
	var names []string
	for _, p := range plans {
		for i, c := range p.Branch + "/" {
			if c == '/' && i > 0 {
				names = append(names, p.Branch[:i])
			}
		}
	}
	return disk.SortedPaths(names)
}

// checkPlace refuses a path that `git worktree add` would refuse only after the branch was created.
// mine says that the same plan is registered already: then the directory may be what is left of it.
func checkPlace(p Plan, mine bool) error {
	content, err := os.ReadDir(p.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && len(content) == 0, mine && (hasGitFile(p.Path) || barelyBegun(p.Path)):
		return nil
	case err != nil:
		at := p.Path
		for _, above := os.Stat(at); errors.Is(above, syscall.ENOTDIR); _, above = os.Stat(at) {
			at = filepath.Dir(at)
		}
		return git.Conflict(p.Agent, "ls -l "+git.Quote(at), "worktree path %s: %v", p.Path, errors.Unwrap(err))
	}
	return git.Conflict(p.Agent, "ls -la "+git.Quote(p.Path), "worktree path %s: exists and is not empty", p.Path)
}

func hasGitFile(dir string) bool {
	_, err := gitdir.Target(filepath.Join(dir, ".git"))
	return err == nil
}
