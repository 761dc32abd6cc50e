package worktree

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Rollback takes back what one Create made, as long as nobody has used it: the
// worktree must be clean or as its snapshot, with its branch at the base. That goes only when
// Create made it. Worktrees that existed before the call stay. Directories end
// in the trash folder. What has to stay is named in the error.
func (m Manager) Rollback(ctx context.Context, plans []Plan, made []Made) error {
	x, err := m.exclude(ctx)
	if err != nil {
		return err
	}
	defer x.release()
	byAgent := map[string]Plan{}
	for _, p := range plans {
		byAgent[p.Agent] = p
	}
	var errs []error
	for _, done := range made {
		p, known := byAgent[done.Agent]
		if !known || done.Existed {
			continue
		}
		if err := m.rollbackOne(ctx, x, p, done); err != nil {
			errs = append(errs, fmt.Errorf("%s: kept: %w", p.Path, err))
		}
	}
	return errors.Join(errs...)
}

func (m Manager) rollbackOne(ctx context.Context, x exclusive, p Plan, done Made) error {
	admin, err := verified(p.Path, m.Repository.CommonDir, "")
	if err != nil {
		return err
	}
	e := readEntry(admin, &refReader{commonDir: m.Repository.CommonDir})
	if ofAnother(e, p) {
		return nil // somebody else was faster: nothing here is this call's
	}
	if !ownedBy(e, p) {
		return errors.New("not locked by " + p.Owner)
	}
	if err := Verify(p.Path, m.Repository.CommonDir, p.Branch); err != nil {
		return err
	}
	head, err := in(p.Path).Line(ctx, "rev-parse", "HEAD")
	if err != nil {
		return err
	}
	if p.Base != "" && done.BranchCreated && head != p.Base {
		return fmt.Errorf("branch %s has new commits", p.Branch)
	}
	changed, err := in(p.Path).Output(ctx, "-c", "status.showUntrackedFiles=all", "-c", "diff.orderFile=/dev/null", "status", "--porcelain", "--untracked-files=all")
	if err != nil {
		return err
	}
	if changed != "" && (done.Snapshot == "" || !m.holdsOnly(ctx, p.Path, done.Snapshot)) {
		return fmt.Errorf("it has changes: %s", strings.SplitN(changed, "\n", 2)[0])
	}
	done2 := &creation{plan: p, admin: admin, made: done}
	return m.undoLocked(ctx, x, []*creation{done2})
}

// undo takes the repository lock and removes creations that failed.
func (m Manager) undo(ctx context.Context, failed []*creation) error {
	ctx, cancel := finishing(ctx)
	defer cancel()
	x, err := m.exclude(ctx)
	if err != nil {
		return err
	}
	defer x.release()
	return m.undoLocked(ctx, x, failed)
}

// undoLocked removes registration, directory and, when this call created it and
// it is still at its base, the branch.
func (m Manager) undoLocked(ctx context.Context, x exclusive, creations []*creation) error {
	var errs []error
	for _, c := range creations {
		if c.made.Existed {
			continue
		}
		if c.admin != "" {
			if err := m.setAside(Entry{AdminDir: c.admin}, c.plan.Path); err != nil {
				errs = append(errs, err)
				continue
			}
		}
		m.dropFolders(c.plan.Path) // they are made before git makes the worktree
		if !c.made.BranchCreated {
			continue
		}
		if holders, err := m.Holders(ctx); err != nil {
			errs = append(errs, err)
			continue
		} else if holder := holders[c.plan.Branch]; holder != "" {
			errs = append(errs, conflict(c.plan.Agent, "", "branch %s: checked out at %s", c.plan.Branch, holder))
			continue
		}
		if err := m.home().WithFile(x.file).Run(ctx, "update-ref", "-d", "refs/heads/"+c.plan.Branch, c.plan.Base); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// Holders are the branches that worktrees use, with the path of one that does, but for the worktrees of these plans.
func (m Manager) Holders(ctx context.Context, but ...Plan) (map[string]string, error) {
	entries, err := m.List(ctx)
	if err != nil {
		return nil, err
	}
	holders := map[string]string{}
	for _, e := range entries {
		if e.Bare || slices.ContainsFunc(but, func(p Plan) bool { return samePath(p.Path, e.Path) }) {
			continue
		}
		for _, branch := range heldBranches(e.AdminDir) {
			holders[branch] = e.Path
		}
	}
	return holders, nil
}
