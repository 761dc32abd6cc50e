package turns

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"paw/orchestrator/app"
	"paw/session"
	"paw/session/turn"
)

// snapshotBefore saves the worktree at the begin of turn n, see snapshot. The claim
// of the number keeps HEAD.
func (t *Recorder) snapshotBefore(ctx context.Context, n int) (note string) {
	_, note = t.snapshot(ctx, turn.BeforeRef(t.Agent.TurnSession, n), fmt.Sprintf("paw: %s before turn %d", t.Agent.Name, n))
	return note
}

// snapshotAfter saves the worktree at the end of turn n, see snapshot. Without a
// snapshot a ref of another name keeps HEAD.
func (t *Recorder) snapshotAfter(ctx context.Context, n int, how string) (commit, note string) {
	commit, note = t.snapshot(ctx, turn.TurnRef(t.Agent.TurnSession, n), fmt.Sprintf("paw: %s after turn %d%s", t.Agent.Name, n, how))
	if commit != "" {
		return commit, note
	}
	head, err := t.head(ctx)
	if err == nil {
		_, err = t.M.CreateRef(ctx, turn.HeadRef(t.Agent.TurnSession, n), head)
	}
	if err != nil {
		note += fmt.Sprintf(" (%v)", err)
	}
	return "", note
}

// snapshot saves the worktree within the budget. Beyond it, or when it fails, there
// is none, and the note says why: HEAD in its place would look like all there was.
func (t *Recorder) snapshot(ctx context.Context, ref, message string) (commit, note string) {
	s, err := t.M.SnapshotWithin(ctx, t.Agent.WorktreePath, ref, message, scratch(t.app, t.Session, t.Agent), t.budget)
	if err == nil {
		if len(s.NotSaved) > 0 {
			note = "not in the snapshot: " + strings.Join(s.NotSaved, ", ")
		}
		return s.Commit, note
	}
	return "", fmt.Sprintf("no snapshot: %v", err)
}

// scratch is where the scratch index of an agent's snapshots is kept.
func scratch(h *app.App, s *session.Session, w *session.Agent) string {
	return filepath.Join(h.StateDir(s.Name, w.Name), "snapshot")
}

func (t *Recorder) head(ctx context.Context) (string, error) {
	return t.M.WorktreeHead(ctx, t.Agent.WorktreePath)
}
