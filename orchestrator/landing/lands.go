package landing

import (
	"context"
	"os"
	"path/filepath"
	"slices"

	"paw/orchestrator/app"
	"paw/orchestrator/turns"
	"paw/worktree/states"
)

// lands says what a branch would have after a landing of an agent's state: the merged tree, or the conflicts. paw land,
// diff, forecast and update all ask here.
type lands struct {
	states.Lands
	again []string // twins that end turns of which the branch had lost something that lands once more
	kept  []string // paths that stay in the branch although the state does not have them, see keepIgnored
}

// landsOn asks what a landing of a state, by its twin, would make of a branch. With again it also
// brings what the branch has reverted.
func (w work) landsOn(ctx context.Context, t target, twin string, again bool) (*lands, error) {
	l := &lands{}
	q := states.Question{Dir: t.place(w.Repo), Tip: t.tip, State: twin, Landed: func(ctx context.Context, a states.Ahead) ([]states.Landed, error) {
		return w.named(ctx, t, a)
	}, Had: func(ctx context.Context, commit string) (bool, error) { return w.had(ctx, t, commit) }}
	for _, one := range w.Session.Landings {
		if one.Target == t.branch && one.Without == 0 { // also of an agent that this one began with
			q.Once = append(q.Once, one.Twin)
		}
	}
	var err error
	if l.Lands, err = w.Repo.States().Lands(ctx, q); err != nil || !again {
		return l, err
	}
	if q.Onto, l.again, err = w.bringAgain(ctx, t, l.known(), twin); err == nil && q.Onto != "" {
		l.Lands, err = w.Repo.States().Lands(ctx, q)
	}
	return l, err
}

// landsNow is landsOn for a state of the agent's worktree, which may ignore files by now that it has
// landed.
func (w work) landsNow(ctx context.Context, t target, twin string, again bool) (*lands, error) {
	l, err := w.landsOn(ctx, t, twin, again)
	if err != nil || len(l.Conflicts) > 0 || l.Nothing {
		return l, err
	}
	if err = w.keepIgnored(ctx, l); err == nil && len(l.kept) > 0 {
		var changed []string
		changed, err = w.Repo.Objects().ChangedPaths(ctx, l.Tip, l.Tree)
		l.Nothing = len(changed) == 0
	}
	return l, err
}

// known returns the newest state on the way to the one that l is about that the branch's history has.
func (l *lands) known() string {
	if l.Nothing || len(l.Steps) == 0 {
		return l.State
	}
	return l.Steps[0].From
}

// Shown has the two trees that paw diff compares to show an agent's work.
type Shown struct {
	From, To  string   // commits or trees to compare
	Conflicts []string // files in which the work conflicts with its target; it is then shown from what both have
}

// ShowWork returns what a landing in the session's target would change, as two trees to compare: the tip of the target,
// and what it would be. twin and commit are the twin and the snapshot of the state that would land. With seen, the twin of
// a state that the user has looked at before, the first tree is what a landing of that one would make. The object store
// may be one that keeps nothing.
func ShowWork(ctx context.Context, of app.Agent, seen, twin, commit string) (Shown, error) {
	w := work{asked: asked{Agent: of, command: "land"}}
	if seen == "" { // what the user had not committed is not the agent's
		seen = w.Record.Handed()
	}
	branch, err := w.branchFor(ctx)
	if err != nil {
		return Shown{}, err
	}
	t := target{branch: branch}
	if t.tip, err = tipOf(ctx, w.Repo, branch); err != nil {
		return Shown{}, err
	}
	l, err := w.landsNow(ctx, t, twin, false)
	if err != nil {
		return Shown{}, err
	}
	if len(l.Conflicts) > 0 {
		from := seen
		if from == "" {
			from, err = w.common(ctx, l)
		}
		return Shown{From: from, To: commit, Conflicts: l.Conflicts}, err
	}
	if seen == "" {
		return Shown{From: t.tip, To: l.Tree}, nil
	}
	before, err := w.landsOn(ctx, t, seen, false)
	if err != nil || len(before.Conflicts) > 0 {
		return Shown{From: seen, To: commit}, err
	}
	return Shown{From: before.Tree, To: l.Tree}, nil
}

// common returns what a state and a branch have in common: the newest state that the branch has.
func (w work) common(ctx context.Context, l *lands) (string, error) {
	if len(l.Left) == 0 {
		if base, err := w.Repo.States().Objects().MergeBase(ctx, l.Stands, l.State); base != "" || err != nil {
			return base, err
		}
	}
	return l.Steps[0].From, nil
}

// had reports whether a branch has ever had a commit.
func (w work) had(ctx context.Context, t target, commit string) (bool, error) {
	if commit == w.Record.BaseCommit && w.Record.BaseOnTarget && t.branch == w.Session.Target {
		return true, nil
	}
	past, err := turns.PastTips(ctx, w.Repo, t.branch)
	if err != nil {
		return false, err
	}
	in, err := w.Repo.States().In(ctx, []string{commit}, past...)
	return in[commit], err
}

// named finds landings of a branch that the graph does not know to be there, and that a commit there
// names: they were amended, rebased or squashed. One of several commits counts if the branch has not dropped any of them.
func (w work) named(ctx context.Context, t target, a states.Ahead) (found []states.Landed, err error) {
	all, err := w.landingsIn(t.branch)
	asked := func(one *Stand) bool { return a.Has(one.Twin) || slices.Contains(a.Later, one.Twin) }
	if !slices.ContainsFunc(all, asked) || err != nil {
		return nil, err
	}
	o := w.Repo.Objects()
	all = slices.DeleteFunc(all, func(one *Stand) bool { return one.undone() || !one.there(ctx, o) })
	if len(all) == 0 {
		return nil, nil
	}
	named, _, err := w.Repo.States().Mentioned(ctx, t.tip, all[0].Before)
	for _, one := range all {
		if err != nil {
			return nil, err
		}
		if one.tip, one.Commit = t.tip, named[one.short()]; one.Commit == "" || !asked(one) {
			continue
		}
		var earlier bool
		if earlier, err = o.Contains(ctx, one.Before, one.Commit); earlier || err != nil { // then it names an earlier landing of the same state
			continue
		}
		var lacks []string
		if one.As == string(Commits) {
			if err = one.remade(ctx, o); err == nil && one.fewer {
				lacks, err = w.Repo.States().Lacks(ctx, t.place(w.Repo), one.Before, one.After, one.Commit)
			}
		}
		if len(lacks) == 0 && err == nil {
			found = append(found, states.Landed{Twin: one.Twin, Before: one.Before, After: one.After, Commit: one.Commit})
		}
	}
	return found, err
}

// keepIgnored keeps files of the branch that only look deleted: the agent landed them without ever
// committing them, still has them in its worktree, and ignores them now.
func (w work) keepIgnored(ctx context.Context, l *lands) error {
	if w.Session.Host != "" {
		return nil
	}
	paths, err := w.Repo.Objects().DeletedPaths(ctx, l.Tip, l.Tree)
	if err != nil {
		return err
	}
	paths = slices.DeleteFunc(paths, func(path string) bool {
		_, err := os.Lstat(filepath.Join(w.Record.WorktreePath, filepath.FromSlash(path)))
		return err != nil
	})
	if len(paths) == 0 { // without asking git
		return nil
	}
	files, err := w.Repo.Objects().IgnoredFiles(ctx, w.Record.WorktreePath)
	if err != nil {
		return err
	}
	head, err := w.Repo.Refs().WorktreeHead(ctx, w.Record.WorktreePath)
	if err != nil {
		return err
	}
	for _, path := range paths {
		if !files[path] { // a folder, behind a symlink, or not ignored
			continue
		}
		base, err := w.Repo.Objects().HasFile(ctx, w.Record.BaseCommit, path)
		if err != nil {
			return err
		}
		touched, err := w.Repo.Objects().LastTouch(ctx, w.Record.BaseCommit, head, path)
		if err != nil {
			return err
		}
		if !base && touched == nil {
			l.kept = append(l.kept, path)
		}
	}
	if len(l.kept) > 0 {
		l.Tree, err = w.Repo.Objects().TreeWith(ctx, l.Tree, l.Tip, l.kept)
	}
	return err
}
