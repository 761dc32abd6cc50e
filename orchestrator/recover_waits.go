package orchestrator

import (
	"context"

	"paw/orchestrator/live"
	"paw/session"
)

// withWaits adds to what became of agents whom they still wait for. It loads the
// active ones of the session and their children, and prompts nobody.
func (p *Paw) withWaits(ctx context.Context, s *session.Session, results []Result) []Result {
	registry := live.NewRegistry(p.liveSource(s.Name, p.askTmux))
	loaded := false
	for i := range results {
		r := &results[i]
		w := s.Worktree(r.Agent)
		if w == nil || w.Wait == nil {
			continue
		}
		if !loaded && registry.LoadActive(ctx) != nil {
			return results
		}
		loaded = true
		parent, err := registry.Load(ctx, live.Branch{Repository: s.GitCommonDir, Name: w.Branch})
		if err != nil {
			continue
		}
		if text := live.Recall(parent.Family()); text != "" {
			r.Notes = append(r.Notes, text)
		}
	}
	return results
}
