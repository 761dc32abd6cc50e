package orchestrator

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
)

// snapshot saves the worktree within the budget. Beyond it, or when it fails,
// HEAD stands in and the note says what is missing.
func (t *turns) snapshot(ctx context.Context, ref, message string) (commit, note string) {
	s, err := t.m.SnapshotWithin(ctx, t.w.WorktreePath, ref, message, t.scratch(), t.budget)
	if err == nil {
		if len(s.NotSaved) > 0 {
			note = "not in the snapshot: " + strings.Join(s.NotSaved, ", ")
		}
		return s.Commit, note
	}
	head, headErr := t.head(ctx)
	if headErr == nil {
		_, headErr = t.m.CreateRef(ctx, ref, head)
	}
	note = fmt.Sprintf("no snapshot, HEAD stands in for it: %v", err)
	if headErr != nil {
		note += fmt.Sprintf(" (%v)", headErr)
	}
	return head, note
}

// scratch is where the scratch index of the agent's snapshots is kept.
func (t *turns) scratch() string {
	return filepath.Join(t.p.stateDir(t.s.Name, t.w.Agent), "snapshot")
}

func (t *turns) head(ctx context.Context) (string, error) {
	return t.m.WorktreeHead(ctx, t.w.WorktreePath)
}
