package turns

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"paw/config/disk"
	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/observe"
	"paw/session/turn"
	"paw/worktree"
	"paw/worktree/gitdir"
	"paw/worktree/objects"
	"paw/worktree/refs"
	"paw/worktree/snapshot"
	"paw/worktree/states"
)

// Chain is the chain of an agent's states.
type Chain struct {
	app.Agent
	Refs map[string]string // the agent's own refs
	last states.State
	was  string // what the ref of the newest state is at, "" for none yet
	op   string // commit of Moves, with its message
}

// ChainOf reads the chain of an agent, with its newest state. An agent begins with the state of its
// origin or its base.
func ChainOf(ctx context.Context, a app.Agent) (*Chain, error) {
	found, err := a.Repo.Refs().List(ctx, turn.RefPrefix(a.Record.TurnSession))
	if err != nil {
		return nil, err
	}
	return chainAt(ctx, a, found[turn.NowRef(a.Record.TurnSession)], found)
}

// chainAt is ChainOf with what its refs are at; all may be nil, for a caller that only goes on.
func chainAt(ctx context.Context, a app.Agent, was string, all map[string]string) (*Chain, error) {
	if err := BeginThere(ctx, a); err != nil {
		return nil, err
	}
	c := &Chain{Agent: a, Refs: all, was: was}
	if c.last = c.begin(); c.was != "" {
		c.last = c.remembered(c.was)
	}
	return c, nil
}

// Now returns the newest state of the chain.
func (c *Chain) Now() states.State { return c.last }

// End returns the state at the end of a turn, "" if there is none. Turn 0 is the begin.
func (c *Chain) End(number int) string {
	if number == 0 {
		return c.begin().Twin
	}
	return c.Refs[turn.StateRef(c.Record.TurnSession, number)]
}

// Then returns the state that follows the newest one: that of a snapshot. what says when it was taken,
// as Present does.
func (c *Chain) Then(ctx context.Context, commit, head, what string) (states.State, error) {
	switch {
	case c.last.Twin == "": // the base is not known
		c.last = states.State{Twin: head, Snapshot: head, Head: head}
	case c.last.Snapshot == "" || c.Record.From != nil && c.last.Twin == c.begin().Twin && c.last.Head == head: // after a rewind, or still at the begin
		if same, err := c.Repo.Objects().SameTree(ctx, c.last.Twin, commit); same || err != nil {
			return states.State{Twin: c.last.Twin, Snapshot: commit, Head: head, Log: c.last.Log}, err
		}
	}
	root := app.RootIn(c.Repo.Repository)
	now, err := c.Repo.States().Next(ctx, c.last, states.Taken{
		Snapshot: commit, Head: head, Name: c.Record.TurnSession + " " + what, AdminDir: c.adminDir(), Dir: root,
		From: c.sources, Others: c.others,
	})
	if errors.Is(err, objects.ErrUnrelated) {
		err = errs.New(errs.Refused, "%s: its branch has merged one without a commit in common, so nobody can tell what of its files is its work", c.Record.Name).
			Hint("git -C %s merge %s", errs.Quote(root), errs.Quote(c.Record.Branch))
	}
	return now, err
}

// adminDir returns the git directory of the worktree, "" if it is gone.
func (c *Chain) adminDir() string {
	admin, err := gitdir.Linked(c.Record.WorktreePath, c.Repo.Repository.CommonDir, "")
	if err != nil {
		return ""
	}
	return admin
}

// sources returns commits of the branches that an agent gets commits of, the tips first: of the session's
// target and the branches where it has landed, as they are and as their logs say they were, and of the
// remote-tracking branches of the same names.
func (c *Chain) sources(ctx context.Context) (tips []string, err error) {
	branches := []string{c.Session.Target}
	for _, l := range c.Session.Landings {
		branches = append(branches, l.Target)
	}
	for _, branch := range app.Once(branches) {
		some, err := Tips(ctx, c.Repo, branch)
		if err != nil {
			return nil, err
		}
		tips = append(tips, some...)
	}
	for _, branch := range app.Once(branches) {
		past, err := PastTips(ctx, c.Repo, branch)
		if err != nil {
			return nil, err
		}
		tips = append(tips, past...)
	}
	return app.Once(tips), nil
}

// others returns the states of other agents of the session that were committed whole, by commit.
func (c *Chain) others(ctx context.Context) (map[string]string, error) {
	found := map[string]string{}
	for _, w := range c.Session.Agents {
		if w.TurnSession == c.Record.TurnSession {
			continue
		}
		all, err := c.Repo.Refs().List(ctx, turn.StatePrefix(w.TurnSession), turn.RefPrefix(w.TurnSession)+"turn/")
		if err != nil {
			return nil, err
		}
		for ref, twin := range all {
			if number, is := strings.CutPrefix(ref, turn.StatePrefix(w.TurnSession)); is && all[turn.RefPrefix(w.TurnSession)+"turn/"+number] != "" {
				found[all[turn.RefPrefix(w.TurnSession)+"turn/"+number]] = twin
			}
		}
	}
	return found, nil
}

// PastTips returns commits that a branch was at, and the remote-tracking branches of its name, by their logs.
func PastTips(ctx context.Context, m *worktree.Manager, branch string) (tips []string, err error) {
	return pastTips(ctx, m, branch, m.Refs().PastTips, m.Refs().RemotePastTips)
}

// OwnPastTips is PastTips for the branch alone.
func OwnPastTips(ctx context.Context, m *worktree.Manager, branch string) (tips []string, err error) {
	return pastTips(ctx, m, branch, m.Refs().PastTips)
}

func pastTips(ctx context.Context, m *worktree.Manager, branch string, logs ...func(string) ([]refs.PastTip, error)) (tips []string, err error) {
	for _, logOf := range logs {
		log, err := logOf(branch)
		if err != nil {
			return nil, err
		}
		for _, past := range log[max(0, len(log)-mostPastTips):] {
			if m.Objects().Has(ctx, past.Commit) {
				tips = append(tips, past.Commit)
			}
		}
	}
	return app.Once(tips), nil
}

// mostPastTips limits the commits of a branch's log that are looked at.
const mostPastTips = 100

// Tips returns the tip of a branch, and those of the remote-tracking branches of its name; none for a
// branch that does not exist.
func Tips(ctx context.Context, m *worktree.Manager, branch string) (tips []string, err error) {
	if branch == "" {
		return nil, nil
	}
	tip, err := m.Refs().Tip(ctx, branch)
	if err != nil || tip == "" {
		return nil, err
	}
	remote, err := m.Refs().Matching(ctx, "refs/remotes/*/"+branch)
	return append([]string{tip}, slices.Sorted(maps.Values(remote))...), err
}

// Keeps returns the changes of refs that make a state the newest one, and set further refs to it, for a
// caller that is about to make them.
func (c *Chain) Keeps(now states.State, others ...string) (changes []refs.Change) {
	if now.Twin != cmp.Or(c.was, c.begin().Twin) {
		changes = append(changes, refs.Change{Ref: turn.NowRef(c.Record.TurnSession), To: now.Twin, From: cmp.Or(c.was, refs.None)})
	}
	for _, ref := range others {
		changes = append(changes, refs.Change{Ref: ref, To: now.Twin})
	}
	c.Remember(now)
	return changes
}

// Keep makes a state the newest one, and sets further refs to it. The error is refs.ErrMoved if
// another process has moved the chain since it was read.
func (c *Chain) Keep(ctx context.Context, now states.State, others ...string) error {
	if err := c.Repo.Refs().Apply(ctx, c.Keeps(now, others...)); err != nil {
		return err
	}
	if c.was != "" || now.Twin != c.begin().Twin {
		c.was = now.Twin
	}
	c.last = now
	return nil
}

// WithFiles returns the newest state of the chain that has exactly the files of a commit, "" for none.
func (c *Chain) WithFiles(ctx context.Context, commit string) (string, error) {
	return c.Repo.States().WithTree(ctx, c.last.Twin, commit)
}

// Back returns the state that was the newest one before a move, or one that follows it if the files were not as in it.
func (c *Chain) Back(ctx context.Context, op turn.Op) (string, error) {
	if same, err := c.Repo.Objects().SameTree(ctx, op.Before, op.Files); same || err != nil {
		return op.Before, err
	}
	return c.Repo.States().Twin(ctx, op.Files+"^{tree}", fmt.Sprintf("%s before turn %d", c.Record.TurnSession, op.Last+1), op.Before)
}

// At returns the state at the end of a turn, or one that follows the state before if none was
// recorded. commit is the snapshot.
func (c *Chain) At(ctx context.Context, number int, commit string) (string, error) {
	if end := c.End(number); end != "" {
		return end, nil
	}
	before := number - 1
	for before > 0 && c.End(before) == "" {
		before--
	}
	return c.Repo.States().Twin(ctx, commit+"^{tree}", fmt.Sprintf("%s after turn %d", c.Record.TurnSession, number), c.End(before))
}

// Moves makes a commit of a move that leads from the newest state of the chain to another, and returns the changes of refs
// that belong to the move.
func (c *Chain) Moves(ctx context.Context, op turn.Op) ([]refs.Change, error) {
	op.Before, op.Time = cmp.Or(c.was, c.begin().Twin), c.App.Now()
	commit, err := c.Repo.Objects().Commit(ctx, objects.NewCommit{
		Tree: op.Files + "^{tree}", Parents: app.Once([]string{op.Before, op.After, op.Files}), Message: op.String(), Own: true,
	})
	if err != nil {
		return nil, err
	}
	if err := disk.RemoveFile(observe.OpFile(c.Agent)); err != nil { // the move before it says nothing any more
		return nil, err
	}
	c.op = commit + op.String()
	c.Remember(states.State{Twin: op.After, Head: op.Head})
	n, _ := newest(c.Refs, c.Record.TurnSession)
	changes := []refs.Change{{Ref: turn.OpRef(c.Record.TurnSession, n+1), To: commit, From: refs.None}}
	if op.After != c.was {
		changes = append(changes, refs.Change{Ref: turn.NowRef(c.Record.TurnSession), To: op.After, From: cmp.Or(c.was, refs.None)})
	}
	return changes, nil
}

// Came writes down a move that took place, and the size of HEAD's log after it: what the worktree had got before it, it did not
// get since.
func (c *Chain) Came(op turn.Op) {
	c.Remember(states.State{Twin: op.After, Head: op.Head, Log: states.LogSize(c.adminDir())})
	if c.op != "" {
		_ = disk.ReplaceSoon(observe.OpFile(c.Agent), []byte(c.op))
	}
}

// Moved makes a state the newest one because the worktree was made anew there. head is its HEAD: what it had got
// before, it did not get since.
func (c *Chain) Moved(ctx context.Context, now, head string) error {
	c.Came(turn.Op{After: now, Head: head})
	if err := disk.RemoveFile(observe.OpFile(c.Agent)); err != nil {
		return err
	}
	if now == c.was {
		return nil
	}
	return c.Repo.Refs().Apply(ctx, []refs.Change{{Ref: turn.NowRef(c.Record.TurnSession), To: now, From: cmp.Or(c.was, refs.None)}})
}

// recordTries limits the attempts to continue a chain that other processes continue, too.
const recordTries = 5

// Continue records a snapshot as the newest state of the agent, and returns that state.
func Continue(ctx context.Context, a app.Agent, commit, head, what string, others ...string) (now states.State, err error) {
	for range recordTries {
		var was string
		if was, err = a.Repo.Refs().Read(ctx, turn.NowRef(a.Record.TurnSession)); err != nil { // and not its thousands of others
			return now, err
		}
		var c *Chain
		if c, err = chainAt(ctx, a, was, nil); err != nil {
			return now, err
		}
		if now, err = c.Then(ctx, commit, head, what); err != nil {
			return now, err
		}
		if err = c.Keep(ctx, now, others...); !errors.Is(err, refs.ErrMoved) {
			return now, err
		}
	}
	return now, err
}

// HeadOf returns HEAD at the time of a snapshot.
func HeadOf(shot snapshot.Snapshot) string { return cmp.Or(shot.Head, shot.Commit) }
