package orchestrator

import (
	"context"
	"path/filepath"

	"paw/orchestrator/app"
	"paw/session"
)

// adopt records where the repository of a session is now, when it was moved to
// where the user stands. Links between its worktrees and it are mended by repair.
func adopt(ctx context.Context, h *app.App, s *session.Session) (*session.Session, error) {
	here, places := h.MovedHere(ctx, s)
	if len(places) == 0 {
		return s, nil
	}
	m := h.Manager(here)
	for _, w := range s.Agents {
		if path := places[w.Name]; path != "" {
			if err := m.Follow(ctx, app.PlanOf(s, w), path); err != nil {
				return nil, err
			}
		}
	}
	h.Step("adopt.followed")
	saved, err := h.Update(ctx, s.Name, func(rec *session.Session) error {
		rec.RepoPath, rec.GitCommonDir, rec.ProjectName = app.RootIn(here), here.CommonDir, filepath.Base(app.RootIn(here))
		for i := range rec.Agents {
			w := &rec.Agents[i]
			if path := places[w.Name]; path != "" {
				w.WorktreePath = path
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	h.Step("adopt.recorded")
	h.Notef("%s: its repository is at %s now", s.Name, app.RootIn(here))
	return saved, nil
}
