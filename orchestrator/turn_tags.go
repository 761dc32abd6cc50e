package orchestrator

import (
	"context"
	"strings"

	"paw/session/turn"
	"paw/worktree"
)

// tagged tells whether turn n has a tag already.
func (t *turns) tagged(ctx context.Context, n int) (bool, error) {
	tags, err := t.p.turnTags(ctx, t.m, t.w.TurnSession)
	if err != nil {
		return false, err
	}
	for _, tagged := range tags {
		if tagged == n {
			return true, nil
		}
	}
	return false, nil
}

// turnTags are the numbers of the turn tags of one turn session.
func (p *Paw) turnTags(ctx context.Context, m worktree.Manager, turnSession string) ([]int, error) {
	numbers, ok, err := worktree.TurnTags(m.Repository.CommonDir)
	if err != nil || ok {
		return numbers[turnSession], err
	}
	refs, err := m.Refs(ctx, "refs/tags/afk-"+turnSession+"-")
	if err != nil {
		return nil, err
	}
	var found []int
	for ref := range refs {
		if name, n, ok := turn.ParseTag(strings.TrimPrefix(ref, "refs/tags/")); ok && name == turnSession {
			found = append(found, n)
		}
	}
	return found, nil
}
