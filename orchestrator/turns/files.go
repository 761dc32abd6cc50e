package turns

import (
	"context"

	"paw/orchestrator/app"
	"paw/orchestrator/live"
	"paw/session"
	"paw/session/turn"
)

// CountFiles fills in the changed files of results, with one git process
// for each and two for all of them.
func CountFiles(ctx context.Context, h *app.App, s *session.Session, results []*live.Result) {
	repository, err := app.Discover(s)
	if err != nil {
		return
	}
	m := h.Manager(repository)
	of := map[*live.Result][2]string{}
	var pairs [][2]string
	for _, r := range results {
		w := s.Agent(r.Agent)
		if w == nil || r.Turn < 1 {
			continue
		}
		refs, err := m.Refs(ctx, turn.RefPrefix(w.TurnSession))
		if err != nil {
			return
		}
		pair := [2]string{refs[turn.BeforeRef(w.TurnSession, r.Turn)], refs[turn.TurnRef(w.TurnSession, r.Turn)]}
		if pair[0] != "" && pair[1] != "" {
			of[r], pairs = pair, append(pairs, pair)
		}
	}
	counts, err := m.CountChanges(ctx, pairs)
	if err != nil {
		return
	}
	for r, pair := range of {
		if n, counted := counts[pair]; counted {
			r.Files = &n
		}
	}
}
