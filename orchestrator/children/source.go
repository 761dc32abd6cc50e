package children

import (
	"context"

	"paw/orchestrator/app"
	"paw/orchestrator/live"
	"paw/orchestrator/observe"
	"paw/orchestrator/transcript"
	"paw/session"
)

// liveSource is where live sessions of one session come from; ask lists panes.
// Whoever waits for an agent looks at screens as well, for dialogs of which
// nothing else tells.
func liveSource(h *app.App, name string, ask observe.AskPanes, look observe.ScreenPolicy) live.Source {
	return live.Source{
		Look: func(ctx context.Context) ([]live.Facts, error) {
			s, err := h.Load(name)
			if err != nil {
				return nil, err
			}
			f, err := observe.ObserveWith(ctx, h, s, ask, look)
			if err != nil {
				return nil, err
			}
			return observe.LiveFacts(h, f), nil
		},
		History: conversations(h, name),
	}
}

// Session is one agent as a live session of which only the record was looked at: for whoever asks for its conversation.
func Session(ctx context.Context, h *app.App, s *session.Session, w *session.Agent) (*live.Session, error) {
	branch := live.Branch{Repository: s.GitCommonDir, Name: w.Branch}
	registry := live.NewRegistry(live.Source{
		Look: func(context.Context) ([]live.Facts, error) {
			return []live.Facts{{Branch: branch, Record: *w, Status: live.State(live.Observation{})}}, nil
		},
		History: conversations(h, s.Name),
	})
	return registry.Load(ctx, branch)
}

// conversations reads the newest conversation of an agent.
func conversations(h *app.App, sessionName string) func(context.Context, live.Branch) (live.Conversation, error) {
	return func(ctx context.Context, of live.Branch) (live.Conversation, error) {
		s, err := h.Load(sessionName)
		if err != nil {
			return live.Conversation{}, err
		}
		for i := range s.Agents {
			if w := &s.Agents[i]; w.Branch == of.Name {
				return transcript.History(ctx, h, s, w)
			}
		}
		return live.Conversation{}, live.ErrNoAgent
	}
}
