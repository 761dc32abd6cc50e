package turns

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"strconv"

	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/session"
	"paw/session/turn"
	"paw/worktree"
)

// Force says whether --force was given, and to which command.
type Force struct {
	Yes     bool
	Command string
}

// CommitAlone is the commit of a turn, where that is all there is of a state at its begin or end: what was not committed
// then is not known, because its snapshot was over the budget or failed. It is taken by force only, with a note.
func CommitAlone(h *app.App, agentName string, number int, side, commit string, byForce Force) (string, error) {
	if commit == "" {
		return "", errs.New(errs.Failed, "turn %d of %s: there is no snapshot of its %s", number, agentName, side)
	}
	refused := errs.New(errs.Refused, "turn %d of %s: there is no snapshot of its %s, only its commit is known", number, agentName, side)
	if !byForce.Yes {
		return "", refused.Hint("%s", byForce.Command)
	}
	h.Notef("%s", refused.Message)
	return commit, nil
}

// End is the state at the end of a turn, that of now while it runs.
func End(ctx context.Context, h *app.App, m worktree.Manager, s *session.Session, w *session.Agent, one *Turn, byForce Force) (string, error) {
	switch {
	case one.State == turn.InProgress:
		return StateNow(ctx, h, m, s, w)
	case one.After == "":
		return CommitAlone(h, w.Name, one.Number, "end", cmp.Or(one.CommitHash, one.Head), byForce)
	}
	return one.After, nil
}

// EndOf is the state at the end of the turn of a number; 0 is the base.
func EndOf(ctx context.Context, h *app.App, m worktree.Manager, s *session.Session, w *session.Agent, list AgentTurns, number string, byForce Force) (string, error) {
	if number == "0" {
		return w.BaseCommit, nil
	}
	one, err := Numbered(s, list, number)
	if err != nil {
		return "", err
	}
	return End(ctx, h, m, s, w, one, byForce)
}

// Numbered finds a turn by what the user typed.
func Numbered(s *session.Session, list AgentTurns, text string) (*Turn, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return nil, errs.New(errs.Usage, "%q: not the number of a turn", text).Hint("paw turns %s %s", s.Name, list.Agent)
	}
	for i := range list.Turns {
		if list.Turns[i].Number == n {
			return &list.Turns[i], nil
		}
	}
	return nil, errs.New(errs.NotFound, "%s: has no turn %d", list.Agent, n).Hint("paw turns %s %s", s.Name, list.Agent)
}

// Now is a snapshot of the worktree as it is, kept by no ref.
func Now(ctx context.Context, h *app.App, m worktree.Manager, s *session.Session, w *session.Agent) (worktree.Snapshot, error) {
	snapshot, err := m.SnapshotWithin(ctx, w.WorktreePath, "", "paw: "+w.Name+" now", scratch(h, s, w), worktree.Budget{})
	if _, lost := os.Lstat(w.WorktreePath); err != nil && errors.Is(lost, fs.ErrNotExist) {
		err = errs.New(errs.Refused, "%s: %s", w.Name, session.ReasonWorktreeGone).
			Hint("paw stop %s %s --only && paw recover %s", s.Name, w.Name, s.Name)
	}
	return snapshot, err
}

// StateNow is the commit of Now.
func StateNow(ctx context.Context, h *app.App, m worktree.Manager, s *session.Session, w *session.Agent) (string, error) {
	snapshot, err := Now(ctx, h, m, s, w)
	return snapshot.Commit, err
}

// LastRewind is what the last rewind put aside: ref and commit, "" when there was none.
func (t *Recorder) LastRewind(ctx context.Context) (ref, commit string, err error) {
	refs, err := t.M.Refs(ctx, turn.RefPrefix(t.Agent.TurnSession)+"rescue/")
	if err != nil {
		return "", "", err
	}
	for name := range refs {
		if turn.IsRewindRef(name) && name > ref {
			ref = name
		}
	}
	return ref, refs[ref], nil
}
