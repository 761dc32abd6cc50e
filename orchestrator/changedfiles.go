package orchestrator

import (
	"context"

	"paw/orchestrator/live"
	"paw/session"
	"paw/session/turn"
)

// countFiles fills in how many files changed in the last turn of each agent that
// has finished. What cannot be counted stays unknown: it is no reason to fail.
func (p *Paw) countFiles(ctx context.Context, s *session.Session, w *Waited) {
	var results []*live.Result
	for i := range w.Agents {
		if w.Agents[i].Finished {
			results = append(results, &w.Agents[i].Result)
		}
	}
	p.countChangedFiles(ctx, s, results)
}

// countChangedFiles fills in the changed files of results, with one git process
// for each and two for all of them.
func (p *Paw) countChangedFiles(ctx context.Context, s *session.Session, results []*live.Result) {
	repository, err := discover(s)
	if err != nil {
		return
	}
	m := p.manager(repository)
	of := map[*live.Result][2]string{}
	var pairs [][2]string
	for _, r := range results {
		w := s.Worktree(r.Agent)
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
