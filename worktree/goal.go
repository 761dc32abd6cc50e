package worktree

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"paw/config/disk"
	"paw/worktree/git"
	"paw/worktree/gitdir"
	"paw/worktree/journal"
	"paw/worktree/objects"
	"paw/worktree/refs"
	"paw/worktree/snapshot"
)

// EndMoveIn is EndMove for the linked worktree at path.
func (m *Moves) EndMoveIn(ctx context.Context, path string) (*Ended, error) {
	admin, err := gitdir.Linked(path, m.Repository.CommonDir, "")
	if err != nil {
		return nil, err
	}
	return m.EndMove(ctx, gitdir.Checkout{Path: path, AdminDir: admin})
}

// EndMove ends an interrupted move (see Journal) in a worktree; the result is nil if there is none. A
// rewind is done again, and what is there now is kept under another rescue ref. Of a landing, the branch
// decides whether it has taken place: git moves the branch last. If it has not, files and index are put
// back, except files that somebody else has written. EndMove may be repeated.
func (m *Moves) EndMove(ctx context.Context, c gitdir.Checkout) (*Ended, error) {
	return m.endMove(ctx, c, func(string) {})
}

// endMove is EndMove that calls step after each step of a rewind.
func (m *Moves) endMove(ctx context.Context, c gitdir.Checkout, step func(name string)) (*Ended, error) {
	if j, err := journal.Read(c.AdminDir); j == nil && err == nil {
		return nil, nil
	}
	at, err := m.lockPlace(ctx, c)
	if err != nil {
		return nil, err
	}
	defer at.release()
	j, err := journal.Read(c.AdminDir)
	giveUp := "rm " + git.Quote(filepath.Join(c.AdminDir, journal.File))
	switch {
	case err != nil:
		return nil, git.Conflict("", giveUp, "%v", err)
	case j == nil:
		return nil, nil
	}
	v := &move{Journal: *j, m: m, at: at, step: step}
	ended, err := v.end(ctx)
	switch {
	case err != nil && v.gone(ctx):
		return nil, git.Conflict("", giveUp, "%s: the commits of a %s that was cut short there are gone", c.Path, j.Command)
	case err != nil:
		return nil, err
	}
	return ended, v.close()
}

// end does what EndMove does with the files, the index and the refs.
func (v *move) end(ctx context.Context) (ended *Ended, err error) {
	ended = &Ended{Journal: v.Journal}
	if v.Ref == "HEAD" { // what the rewind did is done from wherever that was cut, which may itself be cut, and repeated
		ended.Kept, err = v.again(context.WithoutCancel(ctx))
		ended.Moved = !v.Back
		return ended, err
	}
	if ended.Moved, err = v.m.reached(ctx, v.m.head(ctx, v.at.Checkout), &v.Journal); err != nil || ended.Moved {
		return ended, err
	}
	left, err := v.putBack(context.WithoutCancel(ctx))
	if len(left) > 0 {
		ended.Note, ended.Hint = strangers(left), "git -C "+git.Quote(v.at.Path)+" status"
	}
	return ended, err
}

// gone reports whether the repository lacks a commit or tree that the move needs, as after its refs were deleted.
func (v *move) gone(ctx context.Context) bool {
	needed := []string{v.From, v.To, v.Was, v.Becomes}
	for _, c := range v.Refs {
		needed = append(needed, c.To)
	}
	return slices.ContainsFunc(needed, func(id string) bool {
		return id != "" && id != refs.None && v.repo().Run(ctx, "cat-file", "-e", id) != nil
	})
}

// strangers says that files are neither as before a landing nor as after it.
func strangers(names []string) string {
	const most = 20
	named := strings.Join(names[:min(len(names), most)], ", ")
	switch {
	case len(names) == 1:
		return named + " is neither as before nor as after it, and stays as it is"
	case len(names) > most:
		named += ", ..."
	}
	return named + " are neither as before nor as after it, and stay as they are"
}

// takeBack goes back to the state before a rewind that failed, and returns the cause. The journal then
// has that state as its goal, and the index, which a rewind replaces last, stays.
func (v *move) takeBack(ctx context.Context, cause error) error {
	v.TurnBack()
	kept, err := "", v.write()
	if err == nil {
		kept, err = v.again(ctx)
	}
	if err == nil {
		err = v.close()
	}
	switch {
	case err != nil:
		return &HalfMovedError{v.at.Path, v.Session, v.Rescue, fmt.Errorf("%w; not taken back: %w", cause, err)}
	case kept != "":
		return fmt.Errorf("%w; what was there meanwhile is kept in %s", cause, kept)
	}
	return cause
}

// again saves what is in the worktree, under a ref that it returns, and forces files, HEAD and index to
// the goal. Nothing is saved, and the ref is "", if nothing there is new.
func (v *move) again(ctx context.Context) (kept string, err error) {
	if name := gitdir.Operation(v.at.AdminDir); name != "" {
		return "", git.Conflict("", "git -C "+git.Quote(v.at.Path)+" status", "%s: a %s is not finished", v.at.Path, name)
	}
	if err := v.refuseOtherBranch(ctx); err != nil {
		return "", err
	}
	if err := v.at.awaitIndex(ctx); err != nil {
		return "", err
	}
	l, err := v.m.snapshots.LookAt(ctx, v.at.Path, v.at.AdminDir, "")
	if err != nil {
		return "", err
	}
	defer l.Drop()
	r := &rewind{m: v.m, Look: l, at: v.at, to: objects.State{Commit: v.Becomes, Tree: v.Becomes, Head: v.To}}
	changes, err := r.changes(ctx)
	if err == nil {
		changes, err = r.takeInIgnored(ctx, changes)
	}
	if err != nil {
		return "", err
	}
	if len(changes) > 0 || r.Staged || r.Head != v.From && r.Head != v.To {
		commit, err := r.commitNow(ctx)
		if err != nil {
			return "", err
		}
		if kept, err = keepUnder(ctx, v.m.refs, commit, path.Dir(v.Rescue)+"/"); err != nil {
			return "", err
		}
	}
	v.step(StepKept)
	if len(changes) > 0 {
		if err := r.force(ctx, v.Back); err != nil {
			return "", err
		}
	}
	v.step(StepFiles)
	return kept, v.headAndIndex(ctx)
}

// refuseOtherBranch refuses to go on where HEAD has left the branch that the rewind began on. A branch that was renamed or deleted is made again before the
// git switch that it names.
func (v *move) refuseOtherBranch(ctx context.Context) error {
	now := v.m.branchAt(v.at.Checkout)
	if now == v.Branch {
		return nil
	}
	in := "git -C " + git.Quote(v.at.Path)
	line := in + " switch " + git.Quote(v.Branch)
	if v.Branch == "HEAD" {
		line = in + " switch --detach"
	} else if at, err := v.m.refs.Branches(ctx, []string{v.Branch}); err == nil && len(at) == 0 {
		line = in + " branch " + git.Quote(v.Branch) + " && " + line
	}
	return git.Conflict("", line, "%s: is on %s now, and was on %s", v.at.Path, now, v.Branch)
}

// takeInIgnored adds the ignored files in the way of the goal to the current tree, which the rescue gets,
// and returns the changes from that tree to the goal. A rewind refuses to begin with such files: these
// have come since, or were written by the rewind.
func (r *rewind) takeInIgnored(ctx context.Context, changes []objects.Change) ([]objects.Change, error) {
	for seen := map[string]bool{}; ; {
		names, err := r.ignoredInTheWay(ctx, changes)
		if err != nil || len(names) == 0 {
			return changes, err
		}
		for _, name := range names {
			if info, err := os.Lstat(filepath.Join(r.Top, name)); err != nil || info.IsDir() || seen[name] { // git adds no file of a repository inside
				return nil, r.inTheWay(name)
			}
			seen[name] = true
		}
		if _, err := r.Repo.Input(ctx, git.NulTerminated(names), git.Quietly("update-index", "--add", "-z", "--stdin")...); err != nil {
			return nil, err
		}
		r.ignored = true
		if r.now, err = r.Repo.Line(ctx, git.Quietly("write-tree")...); err != nil {
			return nil, err
		}
		if changes, err = r.toDo(ctx); err != nil {
			return nil, err
		}
	}
}

// inTheWay returns the error for a path that ignoredInTheWay has returned.
func (r *rewind) inTheWay(name string) error {
	inner, _, _ := strings.Cut(name, "/.git/")
	if gitdir.IsTop(filepath.Join(r.Top, inner)) {
		return git.Conflict("", "ls -la "+git.Quote(filepath.Join(r.Top, inner)), "%s: %s is a repository of its own, and in the way", r.Top, inner)
	}
	return git.Conflict("", "", "%s: %s is ignored and would be overwritten", r.Top, name)
}

// force has git write the files of the goal. What it overwrites is in the rescue; where a file has changed since the
// look, git stops before it writes the first one. On the way back a filter that refuses does not stop it.
func (r *rewind) force(ctx context.Context, back bool) error {
	if err := r.freshen(ctx); err != nil {
		return err
	}
	if err := removeConverted(r.Top, r.converted); err != nil {
		return err
	}
	run := func(options []string) error {
		return r.Repo.WithFile(r.at.file).RunWhole(ctx, append(options, r.toGoal()...)...)
	}
	if back {
		return git.Unasked(run)
	}
	return run(nil)
}

// headAndIndex moves HEAD and then the index to where the files are: the index keeps bits of entries, and the stat data
// of unchanged ones. On the way back the index is still the one from before.
func (v *move) headAndIndex(ctx context.Context) error {
	along, err := v.refsLeft(ctx)
	if err != nil {
		return err
	}
	if head := v.m.head(ctx, v.at.Checkout); head != v.To {
		err = v.m.moveRef(ctx, v.repo(), v.Ref, v.To, head, v.Log, along)
	} else {
		err = v.m.refs.Apply(ctx, along)
	}
	if err != nil {
		return err
	}
	v.step(StepBranch)
	if v.Back {
		return nil
	}
	repo := v.repo()
	err = repo.Run(ctx, git.Quietly("read-tree", "--no-sparse-checkout", "-i", "-m", v.To)...)
	if err == nil {
		err = v.trackIgnored(ctx, repo)
	}
	if err == nil {
		err = snapshot.Refresh(ctx, repo)
	}
	if err == nil {
		v.step(StepIndex)
	}
	return err
}

// refsLeft returns the changes of refs that the move has not made yet: a killed git may have made some. A ref that another paw has
// moved since the journal was written is moved all the same, since it says where the worktree is; on the way back it stays.
func (v *move) refsLeft(ctx context.Context) (left []refs.Change, err error) {
	if len(v.Refs) == 0 {
		return nil, nil
	}
	names := make([]string, len(v.Refs))
	for i, c := range v.Refs {
		names[i] = c.Ref
	}
	found, err := v.m.refs.List(ctx, names...)
	for _, c := range v.Refs {
		if at := cmp.Or(found[c.Ref], refs.None); at != c.To && (at == c.From || !v.Back) {
			left = append(left, refs.Change{Ref: c.Ref, To: c.To, From: at})
		}
	}
	return left, err
}

// trackIgnored adds the files to the index that the tree of a move has and its commit does not, if git
// ignores them: they were in the index when the tree was made, as after `git add --force`, and
// without an entry they would not be the agent's work any more.
func (v *move) trackIgnored(ctx context.Context, repo git.Repo) error {
	changes, err := objects.Between(ctx, v.m.objects.Home(), v.To, v.Becomes)
	if err != nil {
		return err
	}
	changes = slices.DeleteFunc(changes, func(c objects.Change) bool { return !c.Added || c.Gitlink() })
	ignored, err := ignoredOf(ctx, repo, changes)
	if err != nil {
		return err
	}
	changes = slices.DeleteFunc(changes, func(c objects.Change) bool { return !ignored[c.Name] })
	if len(changes) == 0 {
		return nil
	}
	_, err = repo.Input(ctx, indexInfo(changes, objects.Change.Entry), git.Quietly("update-index", "-z", "--index-info")...)
	return err
}

// ignoredOf returns the names of those changed files that git ignores where repo runs.
func ignoredOf(ctx context.Context, repo git.Repo, changes []objects.Change) (map[string]bool, error) {
	names := make([]string, len(changes))
	for i, c := range changes {
		names[i] = c.Name
	}
	return repo.Ignored(ctx, names, "--no-index")
}

// ignoreFile is the name of files with git's rules on which files to ignore.
const ignoreFile = ".gitignore"

// spare leaves untracked files alone that the goal ignores: they are no part of it, and stay like
// every ignored file. spare takes them out of the current tree, which the rescue gets, and returns the
// other changes. A file at whose path the goal has a folder, or the other way round, is not spared.
func (r *rewind) spare(ctx context.Context, changes []objects.Change) ([]objects.Change, error) {
	if !slices.ContainsFunc(changes, func(c objects.Change) bool { return !c.Gone && path.Base(c.Name) == ignoreFile }) {
		return changes, nil
	}
	untracked := map[string]bool{}
	for _, name := range r.Untracked {
		untracked[name] = true
	}
	comes := slices.DeleteFunc(slices.Clone(changes), func(c objects.Change) bool { return c.Gone })
	leaving := slices.DeleteFunc(slices.Clone(changes), func(c objects.Change) bool {
		return !c.Gone || !untracked[c.Name] || slices.ContainsFunc(comes, func(in objects.Change) bool {
			return disk.Inside(in.Name, c.Name, "/") || disk.Inside(c.Name, in.Name, "/")
		})
	})
	if len(leaving) == 0 {
		return changes, nil
	}
	spared, err := r.ignoredByGoal(ctx, leaving)
	if err != nil || len(spared) == 0 {
		return changes, err
	}
	leaving = slices.DeleteFunc(leaving, func(c objects.Change) bool { return !spared[c.Name] })
	gone := func(objects.Change) string { return "" }
	if _, err := r.Repo.Input(ctx, indexInfo(leaving, gone), git.Quietly("update-index", "-z", "--index-info")...); err != nil {
		return nil, err
	}
	r.now, err = r.Repo.Line(ctx, git.Quietly("write-tree")...)
	return slices.DeleteFunc(changes, func(c objects.Change) bool { return spared[c.Name] }), err
}

// ignoredByGoal returns the names of those changed files that git would ignore with the rules of the
// goal. git reads rules from files only, so they are checked out into a scratch folder.
func (r *rewind) ignoredByGoal(ctx context.Context, changes []objects.Change) (map[string]bool, error) {
	scratch := filepath.Join(r.Dir, "rules")
	if err := os.Mkdir(scratch, 0o700); err != nil {
		return nil, err
	}
	rules := r.m.objects.Quarantined(snapshot.RepoWithIndex(r.Top, snapshot.NewScratchIndex(r.Dir))).WithEnv("GIT_DIR="+r.at.AdminDir, "GIT_WORK_TREE="+scratch)
	if err := rules.Run(ctx, snapshot.Privately("read-tree", "--no-sparse-checkout", r.to.Tree)...); err != nil {
		return nil, err
	}
	listed, err := rules.Output(ctx, snapshot.Privately("ls-files", "-z", "--", ":(top,glob)**/"+ignoreFile)...)
	if err != nil {
		return nil, err
	}
	if _, err := rules.Input(ctx, []byte(listed), snapshot.Privately("checkout-index", "-q", "-z", "--stdin")...); err != nil {
		return nil, err
	}
	return ignoredOf(ctx, rules, changes)
}
