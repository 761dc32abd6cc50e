package orchestrator

import (
	"context"
	"path/filepath"

	"paw/orchestrator/errs"
	"paw/session"
	"paw/worktree"
)

// examineLinks names links in the worktrees of a session through which files of the main checkout are read as those of the
// agent: worktree.link refuses to make them, an older paw did.
func (f *findings) examineLinks(ctx context.Context, m worktree.Manager, s *session.Session) {
	for _, w := range s.Agents {
		links, err := m.LinksToMain(ctx, w.WorktreePath)
		if err != nil {
			continue // other findings say what is wrong with the worktree
		}
		for _, l := range links {
			if l.Out == "" {
				continue
			}
			here := errs.Quote(filepath.Join(w.WorktreePath, l.Name))
			f.wrong(errs.New(errs.Failed, "%s/%s: %s is linked to %s, whose link %s leads out of it: what runs here gets files of the main checkout",
				s.Name, w.Name, l.Name, l.Target, l.Out).Hint("rm %s && cp -a %s %s", here, errs.Quote(l.Target), here))
		}
	}
}
