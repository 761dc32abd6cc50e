package turns

import (
	"context"

	"paw/orchestrator/app"
	"paw/session"
	"paw/session/turn"
	"paw/worktree"
)

// State is an agent's work at one moment: a commit, and how far the turns had come.
type State struct {
	Commit   string
	Finished session.Finished // the turns that had ended well by then
	Last     int              // number of the last turn that had ended by then, well or not
}

// CurrentState returns the state of an agent at this moment. The turns are counted first: one that ends meanwhile stays to be reviewed.
func CurrentState(ctx context.Context, h *app.App, m worktree.Manager, s *session.Session, agentName string) (State, error) {
	s, err := h.Load(s.Name)
	if err != nil {
		return State{}, err
	}
	w, err := app.AgentNamed(s, agentName)
	if err != nil {
		return State{}, err
	}
	ended := 0
	if last, err := h.TurnDir(s.Name, agentName).Last(); err == nil && last != nil {
		if ended = last.Number; last.State == turn.InProgress {
			ended--
		}
	}
	commit, err := StateNow(ctx, h, m, s, w)
	return State{Commit: commit, Finished: w.Finished, Last: ended}, err
}

// FinishedUpTo counts the turns of a list that ended well, up to that of a number.
func FinishedUpTo(list []Turn, number int) session.Finished {
	var counted session.Finished
	for _, one := range list {
		if one.State == turn.Finished && one.Number <= number {
			counted.Add(one.Number)
		}
	}
	return counted
}

// LastSeen is the state that the user looked at last: the base, where there was no look yet.
func LastSeen(ctx context.Context, m worktree.Manager, w *session.Agent) (string, error) {
	ref := turn.SeenRef(w.TurnSession)
	refs, err := m.Refs(ctx, ref)
	if err != nil || refs[ref] == "" {
		return w.BaseCommit, err
	}
	return refs[ref], nil
}

// MarkSeen keeps what the user has looked at. Killed after the ref, it leaves turns to be reviewed that are seen, not the
// other way round.
func MarkSeen(ctx context.Context, h *app.App, m worktree.Manager, sessionName string, w *session.Agent, look State) error {
	if err := m.SetRef(ctx, turn.SeenRef(w.TurnSession), look.Commit); err != nil {
		return err
	}
	h.Step("seen.ref")
	return h.UpdateAgent(ctx, sessionName, w.Name, func(w *session.Agent) {
		w.Seen, w.SeenCut = look.Finished, max(look.Last, w.SeenCut)
	})
}
