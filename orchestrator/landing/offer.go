package landing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/session"
	"paw/worktree"
	"paw/worktree/objects"
)

// offer adds to a conflict how the user merges by hand. It offers a commit that refs keep and the
// record knows: if a branch gets that commit, the work has landed.
func (l *landing) offer(ctx context.Context, v mover, cause error) error {
	e, ok := errors.AsType[*CollisionError](cause)
	if !ok || !e.offer {
		return cause
	}
	h, err := l.handed(ctx)
	var offered string
	if err == nil {
		offered, err = l.offered(ctx, v, h)
	}
	if err != nil {
		l.App.Notef("%s: nothing could be offered for a merge by hand: %v", l.name(), err)
		return cause
	}
	verb := "merge"
	if h.picks {
		verb = "cherry-pick"
	}
	e.error = errs.WithHints(e.error, gitLine(l.branch, l.checkout, verb, offered))
	for _, f := range e.Files {
		if f.Beside {
			l.App.Notef("%s is %s: rename or remove it before you commit", onOneLine(f.Path), f.fileAndFolder())
		}
	}
	return e
}

// handed is the commit that paw offers after a conflict, for a merge by hand: its tree and its parent. With picks it is
// for git cherry-pick instead of git merge.
type handed struct {
	tree, parent string
	picks        bool
}

// handed returns what to offer: the agent's state on its own HEAD, or, where some of it has landed before,
// what is new on the commit of that landing. Where git's own merge would bring commits that the branch has
// left, or work again that it has, it is a commit to cherry-pick.
func (l *landing) handed(ctx context.Context) (h handed, err error) {
	if h.tree, err = l.Repo.Objects().TreeOf(ctx, l.source.state); err != nil {
		return h, err
	}
	h.parent = l.source.head
	steps, left := l.lands.Steps, l.lands.Left
	if len(steps) == 0 || len(left) == 0 && steps[0].From == l.begin() {
		return h, nil
	}
	base := steps[0].From
	if len(left) == 0 {
		if on, err := l.onLanding(ctx); on.parent != "" || err != nil {
			return on, err
		}
		bases, err := l.Repo.States().Objects().MergeBases(ctx, l.lands.Stands, l.source.twin)
		if err != nil || len(bases) != 1 {
			return h, err
		}
		base = bases[0]
	}
	h.picks = true
	h.parent, err = l.Repo.Objects().Commit(ctx, objects.NewCommit{Tree: base + "^{tree}", Parents: []string{l.tip}, Message: "paw: what both have\n", Own: true})
	return h, err
}

// onLanding returns the new work on the commit of the landing that brought what comes before it.
func (l *landing) onLanding(ctx context.Context) (h handed, err error) {
	from := l.lands.Steps[0].From
	for _, one := range slices.Backward(l.Session.Landings) {
		if len(l.lands.Steps) > 1 || one.Twin != from || one.Phase != session.LandingDone {
			continue
		}
		if has, err := l.Repo.Objects().Contains(ctx, l.tip, one.After); !has || err != nil {
			return h, err
		}
		merged, err := l.Repo.Objects().MergeTrees(ctx, l.place(l.Repo), from, one.After, l.source.twin)
		if len(merged.Conflicts) == 0 && err == nil {
			h = handed{tree: merged.Tree, parent: one.After}
		}
		return h, err
	}
	return h, nil
}

// offered returns the commit to offer for the agent's state: one that was offered before, the
// agent's own commit if everything is committed and can be merged, or a new one.
func (l *landing) offered(ctx context.Context, v mover, h handed) (string, error) {
	before, as := l.tip, Merge
	if h.picks {
		before, as = h.parent, Squash
	}
	for _, one := range l.Session.Landings {
		if one.TurnSession != l.Record.TurnSession || one.Phase != session.LandingOffered || one.Turn != l.source.turn || one.As != string(as) {
			continue
		}
		if same, err := l.offeredBefore(ctx, one, h); same || err != nil {
			return one.After, err
		}
	}
	b, err := l.lookAtBrought(ctx, l.target, l.source, l.lands)
	if err != nil {
		return "", err
	}
	facts := l.factsFor(b, l.source.state, l.options.Message, l.version, nil)
	facts.Files = l.filesBetween(ctx, h.parent, h.tree)
	commit := l.source.head
	if h.parent != l.source.head || l.source.state != l.source.head {
		facts.Listed = h.picks
		if commit, err = l.Repo.Objects().Commit(ctx, objects.NewCommit{Tree: h.tree, Parents: []string{h.parent}, Message: facts.message()}); err != nil {
			return "", err
		}
	}
	if l.source.chain != nil && l.source.turn == 0 {
		if err := l.source.chain.Keep(ctx, l.source.now); err != nil {
			return "", err
		}
	}
	if !h.picks { // the branch has the state as soon as it has the commit
		if err := l.Repo.States().Graft(ctx, commit, l.source.twin); err != nil {
			return "", err
		}
	}
	return commit, v.keepOffer(ctx, &session.Landing{
		ID: l.nextID(ctx), Agent: l.Record.Name, TurnSession: l.Record.TurnSession, Target: l.branch, Before: before, After: commit, State: l.source.state,
		Twin: l.source.twin, Turn: l.source.turn, Turns: ranges(facts.Turns), LastTurn: l.source.lastTurn(), As: string(as), Title: facts.title(),
	})
}

// offeredBefore reports whether an earlier offer has the same tree on the same parent. The parent
// of a commit to cherry-pick is made anew each time, so its files are compared.
func (l *landing) offeredBefore(ctx context.Context, one session.Landing, h handed) (bool, error) {
	if one.As != string(Squash) {
		same, err := l.Repo.Objects().IsCommitOf(ctx, one.After, h.tree, h.parent)
		return same || one.After == l.source.state, err
	}
	for _, pair := range [][2]string{{one.After, h.tree}, {one.Before, h.parent}} {
		if changed, err := l.changed(ctx, pair[0], pair[1]); changed > 0 || err != nil {
			return false, err
		}
	}
	return true, nil
}

// keepOffer records an offer, whose number is at least the given one. keepOffer creates the refs
// first, so that the record never names commits that git may delete.
func (v mover) keepOffer(ctx context.Context, l *session.Landing) error {
	rec, err := v.load()
	if err != nil {
		return err
	}
	l.ID, l.At, l.Phase = max(rec.NextLanding(), l.ID), v.home.Now().UTC(), session.LandingOffered
	if err := v.m.Refs().Apply(ctx, landedRefs(l)); err != nil {
		return err
	}
	v.home.Step("land.offered")
	_, err = v.home.Update(ctx, v.session, func(rec *session.Session) error {
		rec.Landings = append(rec.Landings, *l)
		return nil
	})
	return err
}

// Push is a push of the branch that work lands on, prepared before anything lands.
type Push struct {
	m        *worktree.Manager
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
		return nil, errs.New(errs.Refused, "branch %s: %s/%s has what it has not", p.branch, p.remote.Name, p.upstream).Hint("git pull --no-rebase %s %s", errs.Quote(p.remote.Name), errs.Quote(p.upstream))
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
	err = p.m.Remotes().Push(ctx, p.terminal, "", p.remote.Name, p.upstream, tip, p.there)
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
