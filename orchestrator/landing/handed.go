package landing

import (
	"context"

	"paw/session"
	"paw/worktree/objects"
)

// handedSession returns the name of a made-up turn session: the common origin of all agents that
// began with the same uncommitted changes of the user.
func handedSession(snapshot string) string { return "not committed " + snapshot }

// originOf returns the origin of an agent with the origin's turn session, "" for none.
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

// began returns the origin of an agent that is no longer in the record. It is nil if the agent
// began at a commit, or if that is unknown.
func began(landings []session.Landing) *session.Origin {
	for _, l := range landings {
		if l.Began != "" {
			return &session.Origin{Snapshot: l.Began}
		}
	}
	return nil
}

// lookForHanded sets handed to a commit of those uncommitted changes the agent began with that the
// branch has by now, on top of the commit they were made on. It stays "" if there are none.
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
	a.handed, err = a.m.Objects().Commit(ctx, objects.NewCommit{Tree: tree, Parents: []string{base}, Message: "paw: what was committed since\n", Own: true})
	return err
}

// withHanded merges a base with the uncommitted changes that the agent began with, because only
// what the agent has beyond them is its work. On a conflict the base stays as it is.
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
	return a.m.Objects().Commit(ctx, objects.NewCommit{Tree: merged.Tree, Parents: []string{base, snapshot}, Message: "paw: what " + a.agent.Name + " began with\n", Own: true})
}

// afterHanded returns a state as a commit on top of the uncommitted changes that its agent began
// with. Two such agents then have these changes in common.
func (w work) afterHanded(ctx context.Context, state string) (string, error) {
	snapshot := w.agent.Handed()
	if snapshot == "" || snapshot == state {
		return state, nil
	}
	head, err := w.m.Objects().SnapshotHead(ctx, state)
	if err != nil {
		return "", err
	}
	return w.m.Objects().Commit(ctx, objects.NewCommit{Tree: state + "^{tree}", Parents: []string{snapshot, head}, Message: "paw: " + w.agent.Name + "\n", Own: true})
}
