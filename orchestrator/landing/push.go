package landing

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/session"
	"paw/worktree"
)

// Push is a push of the branch that work lands on, prepared before anything lands.
type Push struct {
	m        worktree.Manager
	terminal worktree.Terminal
	branch   string          // local branch
	remote   worktree.Remote // remote of its upstream
	upstream string          // branch of the remote
	there    string          // commit of the remote's branch, "" for none
}

// PreparePush finds the upstream of a branch, "" for the session's target. It refuses a branch
// without an upstream, and one that lacks commits of its upstream: the push would fail after
// everything had landed.
func PreparePush(ctx context.Context, h *app.App, s *session.Session, into string, terminal worktree.Terminal) (*Push, error) {
	m, err := h.ManagerOf(ctx, s)
	if err != nil {
		return nil, err
	}
	p := &Push{m: m, terminal: terminal, branch: cmp.Or(into, s.Target)}
	if p.branch == "" {
		return nil, errs.New(errs.Usage, "%s: into which branch? it is not known which was checked out where the session was started", s.Name).Hint("git branch")
	}
	if p.remote, p.upstream, err = m.Remotes().Upstream(ctx, p.branch); err != nil {
		return nil, err
	}
	if p.remote.Name == "" {
		return nil, errs.New(errs.Refused, "branch %s: has no upstream to push to", p.branch).Hint("git push -u origin %s", errs.Quote(p.branch))
	}
	found, _, err := m.Remotes().Has(ctx, terminal, p.remote.Address, p.upstream)
	if err != nil {
		return nil, errs.New(errs.Failed, "%s: %w", p.remote.Name, err)
	}
	if p.there = found[p.upstream]; p.there == "" {
		return p, nil
	}
	tip, err := m.Refs().BranchTip(ctx, p.branch)
	if err != nil {
		return nil, err
	}
	behind := !m.Objects().Has(ctx, p.there)
	if !behind {
		has, err := m.Objects().Contains(ctx, tip, p.there)
		if err != nil {
			return nil, err
		}
		behind = !has
	}
	if behind {
		return nil, errs.New(errs.Refused, "branch %s: %s/%s has what it has not", p.branch, p.remote.Name, p.upstream).Hint("git pull --ff-only %s %s", errs.Quote(p.remote.Name), errs.Quote(p.upstream))
	}
	return p, nil
}

// Do pushes the branch, if its upstream has not moved. What has landed stays, also if the push
// fails.
func (p *Push) Do(ctx context.Context) error {
	tip, err := p.m.Refs().BranchTip(ctx, p.branch)
	if err != nil {
		return err
	}
	if tip == p.there {
		return nil
	}
	err = p.m.Remotes().Push(ctx, p.terminal, p.remote.Name, p.upstream, tip, p.there)
	if errors.Is(err, worktree.ErrPushRejected) {
		err = fmt.Errorf("%s/%s %w", p.remote.Name, p.upstream, err)
	}
	if err != nil {
		return errs.New(errs.Failed, "%s: landed, and not pushed: %w", p.branch, err).Hint("git push %s %s:%s", errs.Quote(p.remote.Name), errs.Quote(p.branch), errs.Quote(p.upstream))
	}
	return nil
}

func (p *Push) String() string {
	return fmt.Sprintf("%s to %s/%s", p.branch, p.remote.Name, p.upstream)
}
