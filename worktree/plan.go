package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Plan is a worktree to be made for one agent.
type Plan struct {
	Agent        string
	Branch       string
	Path         string // absolute; not yet there, or an empty directory
	Base         string // commit id the branch starts from when it is created
	CreateBranch bool   // false: the branch exists already
	TakeBack     bool   // the worktree is one that paw has made and released, with what is in it

	// Saved is a commit that some ref keeps, "" for none: as long as the files of the worktree are those of it, no change of
	// theirs would be lost.
	Saved string

	// Owner is written as the reason of the worktree's lock, such as
	// "paw session/agent". It says later whose a registration is, however little of
	// it was made.
	Owner string
}

// Check finds everything that would stop Create, before anything is changed.
// What an interrupted Create left for the same plan is not in the way. Refusals
// are *ConflictError. It starts one git process.
func (m Manager) Check(ctx context.Context, plans []Plan) error {
	entries, err := m.Registry().List(ctx)
	if err != nil {
		return err
	}
	_, err = m.check(ctx, plans, entries)
	return err
}

// check returns the branches near the planned ones, by name.
func (m Manager) check(ctx context.Context, plans []Plan, entries []Entry) (map[string]string, error) {
	cfg, err := readCore(m.Repository.CommonDir)
	if err != nil {
		return nil, err
	}
	fold := func(name string) string {
		if cfg.ignoreCase {
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
	branches, err := m.Refs().branchesAt(ctx, withParents(plans))
	if err != nil {
		return nil, err
	}
	for _, p := range plans {
		if err := m.checkBranch(p, branches, fold); err != nil {
			return nil, err
		}
		if err := m.Registry().checkRegistry(p, entries); err != nil {
			var c *ConflictError
			if errors.As(err, &c) && c.Branch != "" {
				c.Free = freeBranch(c.Branch+"-2", branches)
			}
			return nil, err
		}
	}
	return branches, nil
}

// freeBranch is a name, or the name with a number, that no branch has, nor one that it could not exist beside.
func freeBranch(name string, branches map[string]string) string {
	free := name
	for n := 2; ; n++ {
		taken := false
		for other := range branches {
			taken = taken || other == free || inside(free, other, "/") || inside(other, free, "/")
		}
		if !taken {
			return free
		}
		free = fmt.Sprintf("%s-%d", name, n)
	}
}

// check looks at the plan alone.
func (p Plan) check() error {
	if err := checkBranchName(p.Branch); err != nil {
		return conflict(p.Agent, "", "%v", err)
	}
	if !filepath.IsAbs(p.Path) {
		return conflict(p.Agent, "", "worktree path %q: not absolute", p.Path)
	}
	if strings.ContainsAny(p.Path, "\n\r\x00") {
		return conflict(p.Agent, "", "worktree path %q: contains a line break", p.Path)
	}
	if strings.ContainsAny(p.Owner, "\n\r\x00") {
		return conflict(p.Agent, "", "owner %q: contains a line break", p.Owner)
	}
	if p.CreateBranch && !isOID(p.Base) {
		return conflict(p.Agent, "", "base %q: not a commit id", p.Base)
	}
	return nil
}

// apart looks for two plans that exclude each other.
func apart(p, other Plan, fold func(string) string) error {
	a, b := fold(p.Branch), fold(other.Branch)
	if a == b {
		return conflict(p.Agent, "", "branch %s: also asked for by %s", p.Branch, other.Agent)
	}
	if inside(a, b, "/") || inside(b, a, "/") {
		return conflict(p.Agent, "", "branch %s: excludes branch %s of %s, one name is the folder of the other", p.Branch, other.Branch, other.Agent)
	}
	here, there := fold(resolved(p.Path)), fold(resolved(other.Path))
	if here == there || within(here, there) || within(there, here) {
		return conflict(p.Agent, "", "worktree path %s: overlaps %s of %s", p.Path, other.Path, other.Agent)
	}
	return nil
}

func (m Manager) checkBranch(p Plan, branches map[string]string, fold func(string) string) error {
	oid, exists := branches[p.Branch]
	if p.CreateBranch && exists && oid != p.Base {
		return conflict(p.Agent, "", "branch %s: exists already", p.Branch)
	}
	if !p.CreateBranch && !exists {
		return conflict(p.Agent, "git branch "+p.Branch, "branch %s: does not exist", p.Branch)
	}
	if exists {
		return nil
	}
	name := fold(p.Branch)
	for other := range branches {
		known := fold(other)
		if known == name {
			return conflict(p.Agent, "", "branch %s: differs from the existing %s only in case", p.Branch, other)
		}
		if inside(name, known, "/") || inside(known, name, "/") {
			c := conflict("", "", "branch %s: cannot exist beside the branch %s", p.Branch, other)
			c.Branch, c.Free = p.Branch, freeBranch(strings.ReplaceAll(p.Branch, "/", "-"), branches)
			return c
		}
	}
	return nil
}

func (r Registry) checkRegistry(p Plan, entries []Entry) error {
	target := resolved(p.Path)
	if within(target, resolved(r.Repository.CommonDir)) {
		return conflict(p.Agent, "", "worktree path %s: inside the git directory", p.Path)
	}
	mine := false
	for _, e := range entries {
		if ownedBy(e, p) || p.TakeBack && released(e, p) {
			mine = true
			continue
		}
		if e.Path != "" && !e.Bare {
			at := resolved(e.Path)
			if at == target {
				return conflict(p.Agent, r.dropStale(e), "worktree path %s: already a worktree%s", p.Path, withBranch(e))
			}
			if within(target, at) {
				return conflict(p.Agent, "", "worktree path %s: inside the worktree %s", p.Path, e.Path)
			}
		}
		if e.Bare {
			continue
		}
		for _, held := range heldBranches(e.AdminDir) {
			if held == p.Branch {
				c := conflict("", r.dropStale(e), "branch %s: checked out at %s", p.Branch, e.Path)
				c.Branch = p.Branch
				return c
			}
		}
	}
	return checkPlace(p, mine)
}

// released reports whether a registration is that of a worktree for p which paw
// once made, and released.
func released(e Entry, p Plan) bool {
	return !e.Locked && !e.Prunable && e.Branch == p.Branch && samePath(e.Path, p.Path) && exists(releasedMark(e.AdminDir))
}

// Released returns where the worktrees are that paw has made and released, by
// branch.
func (r Registry) Released(ctx context.Context) (map[string]string, error) {
	entries, err := r.List(ctx)
	if err != nil {
		return nil, err
	}
	found := map[string]string{}
	for _, e := range entries[1:] {
		if released(e, Plan{Branch: e.Branch, Path: e.Path}) {
			found[e.Branch] = e.Path
		}
	}
	return found, nil
}

// dropStale is the command that drops the registration of a directory that is
// gone, "" for one that is there.
func (r Registry) dropStale(e Entry) string {
	if e.Path == "" || exists(e.Path) {
		return ""
	}
	repository, path := quote(r.objects.home().Dir), quote(e.Path)
	drop := "git -C " + repository + " worktree remove " + path
	if e.Locked {
		drop = "git -C " + repository + " worktree unlock " + path + " && " + drop
	}
	return drop
}

// ownerPrefix begins the lock reason of every worktree that paw made.
const ownerPrefix = "paw "

// ownedBy reports whether a registration was made for this plan. Path and
// branch may be missing from one that is half made.
func ownedBy(e Entry, p Plan) bool {
	return p.Owner != "" && e.Locked && e.LockReason == p.Owner &&
		(e.Path == "" || samePath(e.Path, p.Path))
}

func withBranch(e Entry) string {
	if e.Branch == "" {
		return ""
	}
	return " of branch " + e.Branch
}

// withParents returns the planned branch names and every folder above these.
func withParents(plans []Plan) []string {
	var names []string
	for _, p := range plans {
		names = append(names, p.Branch)
		for i, c := range p.Branch {
			if c == '/' {
				names = append(names, p.Branch[:i])
			}
		}
	}
	return sorted(names)
}

// checkPlace refuses a path that `git worktree add` would refuse, which it does
// too late: by then the branch exists. mine says that a registration of the same
// plan exists; then the directory may be its remains.
func checkPlace(p Plan, mine bool) error {
	info, err := os.Lstat(p.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return checkParent(p)
	case errors.Is(err, syscall.ENOTDIR):
		return conflict(p.Agent, "", "worktree path %s: a file is where a folder should be", p.Path)
	case err != nil:
		return conflict(p.Agent, "", "worktree path %s: %v", p.Path, errors.Unwrap(err))
	case info.Mode()&fs.ModeSymlink != 0:
		if info, err = os.Stat(p.Path); err != nil {
			return conflict(p.Agent, "", "worktree path %s: a symbolic link to nothing", p.Path)
		}
	}
	if !info.IsDir() {
		return conflict(p.Agent, "", "worktree path %s: a file is in the way", p.Path)
	}
	content, err := os.ReadDir(p.Path)
	if err != nil {
		return conflict(p.Agent, "", "worktree path %s: %v", p.Path, errors.Unwrap(err))
	}
	if len(content) == 0 || mine && (hasGitFile(p.Path) || barelyBegun(p.Path)) {
		return nil
	}
	return conflict(p.Agent, "ls -la "+quote(p.Path), "worktree path %s: exists and is not empty", p.Path)
}

func hasGitFile(dir string) bool {
	_, err := readGitFile(filepath.Join(dir, ".git"))
	return err == nil
}

// checkParent looks at the nearest folder that exists.
func checkParent(p Plan) error {
	for at := filepath.Dir(p.Path); ; at = filepath.Dir(at) {
		info, err := os.Stat(at)
		if err == nil && !info.IsDir() {
			return conflict(p.Agent, "", "worktree path %s: %s is not a folder", p.Path, at)
		}
		if err == nil {
			return nil
		}
		if _, linkErr := os.Lstat(at); linkErr == nil {
			return conflict(p.Agent, "", "worktree path %s: %s is a symbolic link to nothing", p.Path, at)
		}
		if at == filepath.Dir(at) {
			return nil
		}
	}
}
