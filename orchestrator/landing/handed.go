package landing

import (
	"context"
	"fmt"
	"slices"

	"paw/orchestrator/errs"
	"paw/session"
	"paw/worktree"
)

// handedSession stands for a turn session that all agents came from which began with the same uncommitted changes of the user.
func handedSession(snapshot string) string { return "not committed " + snapshot }

// originOf is what an agent started from, with the turn session of that, "" for none.
func originOf(s *session.Session, from *session.Origin) (*session.Origin, string) {
	switch {
	case from == nil:
		return nil, ""
	case from.Agent == "":
		return from, handedSession(from.Snapshot)
	}
	if w := s.Agent(from.Agent); w != nil {
		return from, w.TurnSession
	}
	return from, s.TurnSessionOf(from.Agent)
}

// began is the origin of an agent that is not in the record any more, nil where it began at a commit or nobody knows.
func began(landings []session.Landing) *session.Origin {
	for _, l := range landings {
		if l.Began != "" {
			return &session.Origin{Snapshot: l.Began}
		}
	}
	return nil
}

// lookForHanded finds what the user has committed of the changes that the agent began with: a commit of them, on top of the one that
// they were made on; "" for nothing.
func (a *asker) lookForHanded(ctx context.Context) error {
	snapshot := a.agent.Handed()
	if snapshot == "" {
		return nil
	}
	base, err := a.m.Objects().SnapshotHead(ctx, snapshot)
	if err != nil || base == a.t.tip {
		return err
	}
	had, err := a.m.Objects().Had(ctx, base, a.t.tip, snapshot)
	if err != nil || len(had) == 0 {
		return err
	}
	tree, err := a.m.Objects().TreeWith(ctx, base, snapshot, had)
	if err != nil {
		return err
	}
	if whole, err := a.m.Objects().TreeOf(ctx, snapshot); err != nil || whole == tree {
		a.handed = snapshot
		return err
	}
	a.handed, err = a.m.Objects().Commit(ctx, worktree.NewCommit{Tree: tree, Parents: []string{base}, Message: "paw: what was committed since\n", Own: true})
	return err
}

// withHanded is a base with all that the agent began with: what it has beyond that is its own work. Where the base contradicts,
// that stays.
func (a *asker) withHanded(ctx context.Context, base string) (string, error) {
	snapshot := a.agent.Handed()
	if snapshot == "" {
		return base, nil
	}
	head, err := a.m.Objects().SnapshotHead(ctx, snapshot)
	if err != nil || head == base {
		return snapshot, err
	}
	merged, err := a.m.Objects().MergeTrees(ctx, a.t.place(a.m), head, base, snapshot)
	if err != nil || len(merged.Conflicts) > 0 {
		return base, err
	}
	return a.m.Objects().Commit(ctx, worktree.NewCommit{Tree: merged.Tree, Parents: []string{base, snapshot}, Message: "paw: what " + a.agent.Name + " began with\n", Own: true})
}

// afterHanded is a state as a commit that comes after what its agent began with: states of two such agents have that in common.
func (w work) afterHanded(ctx context.Context, state string) (string, error) {
	snapshot := w.agent.Handed()
	if snapshot == "" || snapshot == state {
		return state, nil
	}
	head, err := w.m.Objects().SnapshotHead(ctx, state)
	if err != nil {
		return "", err
	}
	return w.m.Objects().Commit(ctx, worktree.NewCommit{Tree: state + "^{tree}", Parents: []string{snapshot, head}, Message: "paw: " + w.agent.Name + "\n", Own: true})
}

// alongHanded names the files that land though they are not the agent's work, "" for none.
func (c *composer) alongHanded(ctx context.Context, tree string) (string, error) {
	snapshot := c.agent.Handed()
	head, err := c.m.Objects().SnapshotHead(ctx, snapshot)
	if err != nil {
		return "", err
	}
	handed, err := c.m.Objects().ChangedPaths(ctx, head, snapshot)
	if err != nil {
		return "", err
	}
	lands, err := c.m.Objects().ChangedPaths(ctx, c.asker.t.tip, tree)
	if err != nil {
		return "", err
	}
	base, err := c.asker.base(ctx, c.sides)
	if err != nil {
		return "", err
	}
	lacks, err := c.m.Objects().ChangedPaths(ctx, base, snapshot)
	if err != nil {
		return "", err
	}
	handed = slices.DeleteFunc(handed, func(path string) bool { return !slices.Contains(lands, path) || !slices.Contains(lacks, path) })
	if len(handed) == 0 {
		return "", nil
	}
	return fmt.Sprintf("what you had not committed when %s began: %s (%s)", c.agent.Name, errs.Counted(len(handed), "file"), few(handed, namedPaths)), nil
}
