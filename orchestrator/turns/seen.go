package turns

import (
	"context"

	"paw/orchestrator/app"
	"paw/session"
	"paw/session/turn"
	"paw/worktree"
)

// Look is a state of an agent that somebody looks at.
type Look struct {
	Commit   string
	Finished session.Finished // the turns that had ended well by then
	Last     int              // number of the last turn that had ended by then, well or not
}

// LookNow is the agent as it is at this moment. Its turns are counted first: one that ends meanwhile stays to be reviewed.
func LookNow(ctx context.Context, h *app.App, m worktree.Manager, s *session.Session, agentName string) (Look, error) {
	s, err := h.Load(s.Name)
	if err != nil {
		return Look{}, err
	}
	w, err := app.AgentNamed(s, agentName)
	if err != nil {
		return Look{}, err
	}
	ended := 0
	if last, err := h.TurnDir(s.Name, agentName).Last(); err == nil && last != nil {
		if ended = last.Number; last.State == turn.InProgress {
			ended--
		}
	}
	commit, err := StateNow(ctx, h, m, s, w)
	return Look{Commit: commit, Finished: w.Finished, Last: ended}, err
}

// FinishedUpTo counts the turns of a list that ended well, up to that of a number.
func FinishedUpTo(list []Listed, number int) session.Finished {
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
func MarkSeen(ctx context.Context, h *app.App, m worktree.Manager, sessionName string, w *session.Agent, look Look) error {
	if err := m.SetRef(ctx, turn.SeenRef(w.TurnSession), look.Commit); err != nil {
		return err
	}
	h.Step("seen.ref")
	return h.UpdateAgent(ctx, sessionName, w.Name, func(w *session.Agent) {
		w.Seen, w.SeenCut = look.Finished, max(look.Last, w.SeenCut)
	})
}
