package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"paw/config/disk"
	"paw/config/poll"
	"paw/worktree/git"
	"paw/worktree/gitdir"
	"paw/worktree/refs"
)

// Names of the steps that Create reports, in this order. StepAdded and StepFilled come once for
// each plan.
const (
	StepBranches = "worktree.branches"
	StepAdded    = "worktree.added"
	StepFilled   = "worktree.filled"
)

// Made is a worktree that Create made, or found complete.
type Made struct {
	Agent         string
	BranchCreated bool
	Existed       bool   // complete before the call, and possibly in use
	Warning       string // the post-checkout hook failed; the worktree itself is right
	Rescue        string // refs for what only the git directory of an earlier worktree led to, "" for none
}

// creation holds the progress of one plan.
type creation struct {
	plan    Plan
	admin   string
	filling *os.File // locked while the worktree is filled; inherited by git's children
	made    Made
	err     error // why the worktree could not be filled
}

// Create makes the branches and worktrees of plans. Under the repository lock it makes all branches
// and refs in one transaction, and registers the worktrees one by one. Meanwhile it checks out the
// files of those that are registered, with hooks and filters, in as many worktrees at once as there
// are processors. Create continues what an interrupted Create left for the same plans; a partly
// filled directory is moved to the trash folder first.
//
// step, which may be nil, is called after each step, and for StepFilled once all are filled. After an
// error the incomplete worktrees and branches are removed again, and the result names the complete
// ones, for Rollback.
func (m *Manager) Create(ctx context.Context, plans []Plan, step func(name string)) ([]Made, error) {
	if step == nil {
		step = func(string) {}
	}
	f := m.newFilling(ctx)
	defer f.cancel()
	creations, err := m.register(ctx, plans, step, f)
	if err != nil {
		return nil, err
	}
	f.running.Wait()
	for _, c := range creations {
		if c.err == nil && !c.made.Existed {
			step(StepFilled)
		}
	}
	return m.finish(ctx, creations)
}

// filling fills registered worktrees, in as many at once as there are processors.
type filling struct {
	cancel  context.CancelFunc
	running sync.WaitGroup
	fill    func(c *creation)
}

func (m *Manager) newFilling(ctx context.Context) *filling {
	ctx, cancel := context.WithCancel(ctx)
	places := make(chan struct{}, runtime.NumCPU())
	hooks := sync.OnceValues(func() (bool, error) { return m.mayHaveHook(ctx) })
	return &filling{cancel: cancel, fill: func(c *creation) {
		places <- struct{}{}
		defer func() { <-places }()
		c.err = m.fill(ctx, c, hooks)
	}}
}

// finish undoes the creations that failed.
func (m *Manager) finish(ctx context.Context, creations []*creation) ([]Made, error) {
	var made []Made
	var failed []*creation
	var errs []error
	for _, c := range creations {
		if c.err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", c.plan.Agent, c.err))
			if c.made.Rescue != "" {
				errs = append(errs, fmt.Errorf("what was staged is kept in %s", c.made.Rescue))
			}
			failed = append(failed, c)
			continue
		}
		made = append(made, c.made)
	}
	err := errors.Join(errs...)
	if len(failed) > 0 {
		err = errors.Join(err, m.undo(ctx, failed))
	}
	for _, c := range creations {
		c.close()
	}
	return made, err
}

func (c *creation) close() {
	if c.filling != nil {
		c.filling.Close()
		c.filling = nil
	}
}

// register does the part of Create under the repository lock, and begins to fill what is registered.
func (m *Manager) register(ctx context.Context, plans []Plan, report func(string), f *filling) ([]*creation, error) {
	for {
		creations, busy, err := m.tryRegister(ctx, plans, report, f)
		if busy == "" && err == nil {
			return creations, nil
		}
		if err != nil {
			f.cancel()
			f.running.Wait()
			err = errors.Join(err, m.undo(ctx, creations))
		}
		for _, c := range creations {
			c.close()
		}
		if err != nil {
			return nil, err
		}
		// Another process, or a git that a killed paw has started, is filling one of the worktrees:
		// wait without the repository lock, then try again.
		file, err := gitdir.Waiting{}.Await(ctx, gitdir.FillingLock(busy), gitdir.LockWait)
		if err != nil {
			return nil, err
		}
		file.Close()
	}
}

func (m *Manager) tryRegister(ctx context.Context, plans []Plan, report func(string), f *filling) (creations []*creation, busy string, err error) {
	x, err := m.Registry().exclude(ctx)
	if err != nil {
		return nil, "", err
	}
	defer x.release()
	entries, err := m.Registry().List(ctx)
	if err != nil {
		return nil, "", err
	}
	branches, err := m.check(ctx, plans, entries)
	if err != nil {
		return nil, "", err
	}
	for _, p := range plans {
		c, wait, err := m.resume(ctx, p, entries)
		if err != nil || wait != "" {
			return creations, wait, err
		}
		creations = append(creations, c)
	}
	created, err := m.createRefs(ctx, x, plans, branches)
	for _, c := range creations {
		c.made.BranchCreated = err == nil && c.plan.CreateBranch
	}
	if err != nil {
		return creations, "", err
	}
	if created {
		report(StepBranches)
	}
	for _, c := range creations {
		if c.admin == "" {
			if err := m.add(ctx, x, c); err != nil {
				return creations, "", fmt.Errorf("%s: %w", c.plan.Agent, err)
			}
			report(StepAdded)
		}
		if !c.made.Existed {
			f.running.Go(func() { f.fill(c) })
		}
	}
	return creations, "", nil
}

// createRefs makes the missing branches and the other refs of the plans, all or none. Without any
// it starts no git. It writes no tracking configuration for branches, since update-ref never does.
func (m *Manager) createRefs(ctx context.Context, x exclusive, plans []Plan, existing map[string]string) (bool, error) {
	var branches, others []refs.Change
	for _, p := range plans {
		if _, exists := existing[p.Branch]; p.CreateBranch && !exists {
			branches = append(branches, refs.Change{Ref: "refs/heads/" + p.Branch, To: p.Base, From: refs.None})
		}
		for ref, oid := range p.Refs {
			others = append(others, refs.Change{Ref: ref, To: oid, From: refs.None})
		}
	}
	if len(branches)+len(others) == 0 {
		return false, nil
	}
	ctx, cancel := finishing(ctx)
	defer cancel()
	err := m.Refs().Asked(ctx, m.Objects().Home().WithFile(x.file), "refs", branches, others,
		"update-ref", "--no-deref", "-m", "branch: created by paw")
	return err == nil, err
}

// finishPatience bounds a git command that has to complete.
const finishPatience = 30 * time.Second

// finishing returns a context for a short git command that should complete even if the user gives
// up.
func finishing(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), finishPatience)
}

// add registers the worktree, empty and locked.
func (m *Manager) add(ctx context.Context, x exclusive, c *creation) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	from := m.Objects().Home()
	if c.plan.Beside != "" && !m.Repository.Unbared { // git gives the new worktree the sparse patterns of the one that it is asked in
		from = git.In(c.plan.Beside)
	}
	at := []string{"--", c.plan.Path, c.plan.Branch}
	if c.plan.Branch == "" {
		at = []string{"--detach", "--", c.plan.Path, c.plan.Base}
	}
	within, cancel := finishing(ctx)
	defer cancel()
	var err error
	poll.Until(within, poll.Tick, refs.LockPatience, func() bool {
		add := append([]string{"worktree", "add", "--quiet", "--no-checkout", "--lock", "--reason", c.plan.Owner}, at...)
		if err = from.WithFile(x.file).Run(within, add...); err != nil {
			err = errors.Join(err, m.clear(ctx, c.plan))
		}
		return !besideHalfMade(err)
	})
	if err != nil {
		return err
	}
	admin, err := gitdir.Linked(c.plan.Path, m.Repository.CommonDir, c.plan.Branch)
	if err != nil {
		return err
	}
	c.admin = admin
	if c.filling, err = gitdir.OpenLock(gitdir.FillingLock(admin)); err != nil {
		return err
	}
	locked, err := disk.TryLock(c.filling)
	if err == nil && !locked {
		err = gitdir.ErrBusy
	}
	return err
}

// besideHalfMade reports whether git could not read the registration of another worktree. Mostly another git is adding that one,
// and has made the file but not written it yet: the reason that git gives for an empty file is another one with each libc.
func besideHalfMade(err error) bool {
	return git.Said(err, "failed to read ") && git.Said(err, "/commondir: ")
}

// clear moves what a failed add has left to the trash.
func (m *Manager) clear(ctx context.Context, p Plan) error {
	entries, err := m.Registry().List(context.WithoutCancel(ctx))
	if err != nil {
		return err
	}
	for _, e := range entries[1:] {
		if ownedBy(e, p) {
			err = errors.Join(err, m.Trash().setAside(e, p.Path))
		}
	}
	return err
}

// fill checks out the branch in a registered, empty worktree.
//
// fill uses `git checkout`, which runs filters and does not overwrite files. `reset --hard` and
// `read-tree --reset` overwrite. --no-overwrite-ignore protects ignored files as well. In a filled
// worktree `git checkout` changes no file.
func (m *Manager) fill(ctx context.Context, c *creation, hooks func() (bool, error)) error {
	if _, err := gitdir.Linked(c.plan.Path, m.Repository.CommonDir, c.plan.Branch); err != nil {
		return err
	}
	if err := linkKeys(m.Repository.CommonDir, c.admin); err != nil {
		return err
	}
	repo := git.In(c.plan.Path).WithFile(c.filling)
	if err := repo.Run(ctx, "-c", "core.hooksPath=/dev/null", "checkout", "--quiet", "--no-overwrite-ignore", "--no-recurse-submodules"); err != nil {
		return err
	}
	if hooked, err := hooks(); err != nil {
		return err
	} else if hooked {
		head, err := m.Refs().WorktreeHead(ctx, c.plan.Path)
		if err == nil {
			err = runHook(ctx, repo, head)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		} else if err != nil {
			c.made.Warning = hookWarning(err)
		}
	}
	if err := os.WriteFile(unpreparedMark(c.admin), nil, 0o666); err != nil {
		return err
	}
	return os.WriteFile(gitdir.FilledMark(c.admin), nil, 0o666)
}

// linkKeys gives a worktree the keys of git-crypt, which looks for them in the git directory of the worktree alone.
func linkKeys(commonDir, admin string) error {
	keys := filepath.Join(commonDir, "git-crypt")
	if !disk.Exists(keys) {
		return nil
	}
	err := os.Symlink(keys, filepath.Join(admin, "git-crypt")) //nolint:forbidigo // in git's directory, and not in the worktree
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// mayHaveHook reports whether the repository may have a post-checkout hook.
func (m *Manager) mayHaveHook(ctx context.Context) (bool, error) {
	if disk.Exists(filepath.Join(m.Repository.CommonDir, "hooks", "post-checkout")) {
		return true, nil
	}
	settings, err := m.settings(ctx)
	return len(settings["core.hookspath"]) > 0, err
}

// runHook runs the post-checkout hook in a worktree at a commit, with the arguments that git worktree add gives it: by
// the null id projects know a new worktree, and prepare it.
func runHook(ctx context.Context, repo git.Repo, head string) error {
	return repo.Run(ctx, "hook", "run", "--ignore-missing", "post-checkout", "--", strings.Repeat("0", len(head)), head, "1")
}

func hookWarning(err error) string {
	if failed, ok := errors.AsType[*git.Error](err); ok {
		if said := strings.TrimSpace(failed.Stderr); said != "" {
			lines := strings.Split(said, "\n")
			return "post-checkout hook failed: " + strings.TrimSpace(lines[len(lines)-1])
		}
	}
	return "post-checkout hook failed: " + err.Error()
}
