package landing

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"paw/config/display"
	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/turns"
	"paw/worktree/objects"
	"paw/worktree/states"
)

// commit makes the commits of a landing, in the form that the user chose.
func (l *landing) commit(ctx context.Context, landed *Landed) error {
	b, err := l.lookAtBrought(ctx, l.target, l.source, l.lands)
	if err != nil {
		return err
	}
	facts := l.factsFor(b, l.source.State, l.options.Message, l.version)
	facts.Files = l.filesBetween(ctx, l.tip, landed.tree)
	landed.Turns, landed.Commits = turns.Ranges(facts.Turns), 1
	if landed.Along, err = l.along(ctx); err != nil {
		return err
	}
	facts.Listed = l.options.As == Squash
	l.parents = []string{l.tip}
	switch l.options.As {
	case Squash:
	case Commits:
		tips, title, err := l.replay(ctx, b.commits, landed.tree)
		if err != nil {
			return err
		}
		last := len(tips) - 1
		if tree, err := l.Repo.Objects().TreeOf(ctx, tips[last]); err != nil || tree == landed.tree {
			landed.Title, landed.Commits, landed.After, l.parents = cmp.Or(title, facts.title()), last, tips[last], tips[last-1:last]
			return cmp.Or(err, l.messageUsed())
		}
		landed.Commits, l.parents = last+1, tips[last:]
		rest, err := l.Repo.Objects().ChangedPaths(ctx, tips[last], landed.tree)
		if err != nil {
			return err
		}
		if facts.Commits, facts.Files = nil, func() string { return titleOf(rest) }; last > 0 {
			if facts.Turns, err = l.inRest(ctx, b, l.lands, rest); err != nil {
				return err
			}
		}
	case Merge:
		if left, err := l.bringsLeft(ctx); err != nil {
			return err
		} else if left {
			return errs.New(errs.Refused, "%s: --as merge would bring commits that it got and that %s does not have", l.name(), l.branch).
				Hint("%s", l.line(squashed))
		}
		side, err := l.side(ctx, facts)
		if err != nil {
			return err
		}
		l.parents = append(l.parents, side)
	}
	text, err := l.message(ctx, facts.message())
	if err != nil {
		return err
	}
	landed.Title = display.FirstLine(text)
	landed.After, err = l.Repo.Objects().Commit(ctx, objects.NewCommit{Tree: landed.tree, Parents: l.parents, Message: text, In: l.at()})
	return err
}

// at returns the checkout of the target, "" for none.
func (l *landing) at() string {
	if l.checkout == nil {
		return ""
	}
	return l.checkout.Path
}

// bringsLeft reports whether the agent's branch has commits that it got from the target and that the target
// has no more.
func (l *landing) bringsLeft(ctx context.Context) (bool, error) {
	since, err := l.Repo.Objects().HistorySince(ctx, l.source.Head, l.tip)
	if err != nil || len(l.lands.Gone) > 0 {
		return true, err
	}
	got, err := l.gotOf(ctx, l.target, since)
	return slices.ContainsFunc(since, func(one objects.CommitInfo) bool { return got[one.ID] }), err
}

// messageUsed refuses a message of the user's where --as commits makes no commit that would get it.
func (l *landing) messageUsed() error {
	if l.options.Message == "" && l.options.Edit == nil {
		return nil
	}
	return errs.New(errs.Usage, "%s: has committed all of its work, and with --as commits each commit keeps its message; nothing has landed", l.name()).
		Hint("%s", l.line(squashed)).Hint("%s", l.line(app.Without("message"), app.Without("edit")))
}

// replay makes the agent's commits again on top of a branch, without those whose changes the branch has. tips are the
// tip of the branch and the new commits, oldest first; title is the title of the newest. The commit with the tree of
// the whole landing gets the Paw-State trailer.
func (l *landing) replay(ctx context.Context, own []objects.CommitInfo, whole string) (tips []string, title string, err error) {
	tips = []string{l.tip}
	for _, one := range own {
		tip := tips[len(tips)-1]
		picked, err := l.pick(ctx, tip, one)
		if err != nil {
			return nil, "", err
		}
		if len(picked.Conflicts) > 0 {
			return nil, "", errs.New(errs.Conflict, "%s: its commit %s (%s) alone conflicts with %s: %s",
				l.name(), one.ID[:12], display.FirstLine(one.Message), l.branch, few(picked.Conflicts, namedPaths)).
				Hint("%s", l.line(squashed))
		}
		if tree, err := l.Repo.Objects().TreeOf(ctx, tip); err != nil || tree == picked.Tree {
			if err != nil {
				return nil, "", err
			}
			continue
		}
		trailer := ""
		if picked.Tree == whole {
			trailer = states.Trailer + l.source.State[:states.ShortID]
		}
		if one.Message != "" {
			one.Message = withTrailer(one.Message, trailer)
		}
		next, err := l.Repo.Objects().Commit(ctx, objects.NewCommit{Tree: picked.Tree, Parents: []string{tip}, Message: one.Message, Author: one.Author, In: l.at()})
		if err != nil {
			return nil, "", err
		}
		tips, title = append(tips, next), display.FirstLine(one.Message)
	}
	return tips, title, nil
}

// pick applies one commit of the agent to a commit of the target. The commit's parent may be no
// usable base, if changes it builds on landed without being committed; then the last landed state has the
// files that conflict.
func (l *landing) pick(ctx context.Context, onto string, one objects.CommitInfo) (objects.Merged, error) {
	base := strings.Join(one.Parents, "") // without merges, there is one or none
	picked, err := l.Repo.Objects().MergeTrees(ctx, l.place(l.Repo), base, onto, one.Tree)
	if err != nil || len(picked.Conflicts) == 0 || base == "" || len(l.lands.Steps) == 0 {
		return picked, err
	}
	tree, err := l.Repo.Objects().TreeWith(ctx, base, l.lands.Steps[0].From, picked.Conflicts)
	if err != nil {
		return picked, err
	}
	if base, err = l.Repo.Objects().Commit(ctx, objects.NewCommit{Tree: tree, Own: true}); err != nil {
		return picked, err
	}
	return l.Repo.Objects().MergeTrees(ctx, l.place(l.Repo), base, onto, one.ID)
}

// side returns the second parent of a merge: the agent's branch, with a commit for what is not
// committed.
func (l *landing) side(ctx context.Context, facts messageFacts) (string, error) {
	if l.source.State == l.source.Head {
		return l.source.Head, nil
	}
	tree, err := l.Repo.Objects().TreeOf(ctx, l.source.State)
	if err != nil {
		return "", err
	}
	facts.Asked, facts.Commits, facts.State = "", nil, ""
	return l.Repo.Objects().Commit(ctx, objects.NewCommit{Tree: tree, Parents: []string{l.source.Head}, Message: facts.message()})
}
