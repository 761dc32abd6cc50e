package landing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/session"
	"paw/worktree"
	"paw/worktree/objects"
)

// offer adds to a conflict how the user merges by hand: if a branch gets the commit that it names, the work has landed.
func (l *landing) offer(ctx context.Context, cause error) error {
	e, ok := errors.AsType[*CollisionError](cause)
	if !ok || l.options.Without {
		return cause
	}
	commit, err := l.forHand(ctx)
	if err != nil {
		l.App.Notef("%s: nothing could be offered for a merge by hand: %v", l.name(), err)
	}
	if commit == "" {
		return cause
	}
	e.error = errs.WithHints(e.error, gitLine(l.branch, l.checkout, "merge", commit))
	for _, f := range e.Files {
		if f.Beside {
			l.App.Notef("%s is %s: rename or remove it before you commit", onOneLine(f.Path), f.fileAndFolder())
		}
	}
	return e
}

// forHand returns a commit of the agent's state that the user can merge with git: the agent's own commit, or a new one on top
// with what is not committed. It is "" where git merge would make something else of the other files than a landing.
func (l *landing) forHand(ctx context.Context) (commit string, err error) {
	if len(l.lands.Gone) > 0 {
		return "", nil
	}
	if commit = l.source.Head; l.source.State != l.source.Head {
		if commit, err = l.commitForHand(ctx); err != nil {
			return "", err
		}
	}
	if same, err := l.mergesAlike(ctx, commit); !same || err != nil {
		return "", err
	}
	if err := l.source.keep(ctx); err != nil {
		return "", err
	}
	return commit, l.Repo.States().Graft(ctx, commit, l.source.Twin)
}

// commitForHand makes the commit for what is not committed. It is the same one as long as the state is.
func (l *landing) commitForHand(ctx context.Context) (string, error) {
	b, err := l.lookAtBrought(ctx, l.target, l.source, l.lands)
	if err != nil {
		return "", err
	}
	facts := l.factsFor(b, l.source.State, l.options.Message, l.version)
	facts.Files = l.filesBetween(ctx, l.source.Head, l.source.State)
	at, err := l.Repo.Objects().Home().Line(ctx, "show", "-s", "--no-show-signature", "--format=%cI", l.source.State, "--")
	if err != nil {
		return "", err
	}
	date := []string{"GIT_AUTHOR_DATE=" + at, "GIT_COMMITTER_DATE=" + at}
	return l.Repo.Objects().Commit(ctx, objects.NewCommit{Tree: l.source.State + "^{tree}", Parents: []string{l.source.Head}, Message: facts.message(), Author: date})
}

// mergesAlike reports whether git merge makes the same as a landing of all files but those that conflict in both.
func (l *landing) mergesAlike(ctx context.Context, commit string) (bool, error) {
	merged, err := l.Repo.Objects().MergeTree(ctx, l.place(l.Repo), l.tip, commit)
	if errors.Is(err, objects.ErrUnrelated) {
		return false, nil
	}
	if err != nil || !slices.Equal(merged.Conflicts, l.lands.Conflicts) {
		return false, err
	}
	differ, err := l.Repo.Objects().ChangedPaths(ctx, merged.Tree, l.lands.Tree)
	return !slices.ContainsFunc(differ, func(path string) bool {
		beside, _, _ := strings.Cut(path, "~") // git leaves a file that a folder displaces as FILE~COMMIT
		return !slices.Contains(merged.Conflicts, path) && !slices.Contains(merged.Beside, beside)
	}), err
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

// Do pushes the branch, if its upstream has not moved. pushed is false if the upstream has all of
// it. What has landed stays, also if the push fails.
func (p *Push) Do(ctx context.Context) (pushed bool, err error) {
	tip, err := p.m.Refs().BranchTip(ctx, p.branch)
	if err != nil || tip == p.there {
		return false, err
	}
	err = p.m.Remotes().Push(ctx, p.terminal, "", p.remote.Name, p.upstream, tip, p.there)
	if errors.Is(err, worktree.ErrPushRejected) {
		err = fmt.Errorf("%s/%s %w", p.remote.Name, p.upstream, err)
	}
	if err != nil {
		return false, errs.New(errs.Failed, "%s: landed, and not pushed: %w", p.branch, err).Hint("git push %s %s:%s", errs.Quote(p.remote.Name), errs.Quote(p.branch), errs.Quote(p.upstream))
	}
	return true, nil
}

func (p *Push) String() string {
	return fmt.Sprintf("%s to %s/%s", p.branch, p.remote.Name, p.upstream)
}
