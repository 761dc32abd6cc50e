package orchestrator

import (
	"context"
	"slices"

	"paw/orchestrator/live"
	"paw/session"
	"paw/session/history"
)

// liveSource is where live sessions of one session come from; ask lists panes.
// Whoever waits for an agent looks at screens as well, for dialogs of which
// nothing else tells.
func (p *Paw) liveSource(name string, ask askPanes, look closeness) live.Source {
	return live.Source{
		Read: func(ctx context.Context, of []live.Branch) (map[live.Branch]live.Facts, error) {
			s, err := p.load(name)
			if err != nil {
				return nil, err
			}
			f, err := p.observeWith(ctx, s, ask, look)
			if err != nil {
				return nil, err
			}
			found := map[live.Branch]live.Facts{}
			for _, one := range p.liveFacts(f) {
				if slices.Contains(of, one.Branch) {
					found[one.Branch] = one
				}
			}
			return found, nil
		},
		Branches: func(context.Context) ([]live.Branch, error) {
			s, err := p.load(name)
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
			s, err := p.load(name)
			if err != nil {
				return nil, err
			}
			for i := range s.Worktrees {
				if w := &s.Worktrees[i]; w.Branch == of.Name {
					return p.historyOf(ctx, s, w)
				}
			}
			return nil, live.ErrNoAgent
		},
	}
}

// historyOf is the newest conversation of an agent, from its CLI's own record.
func (p *Paw) historyOf(ctx context.Context, s *session.Session, w *session.Worktree) (history.History, error) {
	records, _ := p.turnDir(s.Name, w.Agent).Records()
	found, err := p.conversation(ctx, s, w, "", records)
	if err != nil {
		return nil, err
	}
	talk := history.New()
	for _, message := range found.Messages {
		talk.AddMessage(message)
	}
	return talk, nil
}
