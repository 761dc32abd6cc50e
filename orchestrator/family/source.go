package family

import (
	"context"
	"slices"

	"paw/orchestrator/fleet"
	"paw/orchestrator/home"
	"paw/orchestrator/live"
	"paw/orchestrator/talk"
	"paw/session/history"
)

// liveSource is where live sessions of one session come from; ask lists panes.
// Whoever waits for an agent looks at screens as well, for dialogs of which
// nothing else tells.
func liveSource(h *home.Home, name string, ask fleet.AskPanes, look fleet.Closeness) live.Source {
	return live.Source{
		Read: func(ctx context.Context, of []live.Branch) (map[live.Branch]live.Facts, error) {
			s, err := h.Load(name)
			if err != nil {
				return nil, err
			}
			f, err := fleet.ObserveWith(ctx, h, s, ask, look)
			if err != nil {
				return nil, err
			}
			found := map[live.Branch]live.Facts{}
			for _, one := range fleet.LiveFacts(h, f) {
				if slices.Contains(of, one.Branch) {
					found[one.Branch] = one
				}
			}
			return found, nil
		},
		Branches: func(context.Context) ([]live.Branch, error) {
			s, err := h.Load(name)
			if err != nil {
				return nil, err
			}
			branches := make([]live.Branch, len(s.Worktrees))
			for i, w := range s.Worktrees {
				branches[i] = live.Branch{Repository: s.GitCommonDir, Name: w.Branch}
			}
			return branches, nil
		},
		History: func(ctx context.Context, of live.Branch) (history.History, error) {
			s, err := h.Load(name)
			if err != nil {
				return nil, err
			}
			for i := range s.Worktrees {
				if w := &s.Worktrees[i]; w.Branch == of.Name {
					return talk.History(ctx, h, s, w)
				}
			}
			return nil, live.ErrNoAgent
		},
	}
}
