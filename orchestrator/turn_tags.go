package orchestrator

import (
	"context"
	"maps"
	"slices"
	"strings"

	"paw/session"
	"paw/session/turn"
	"paw/worktree"
)

// tagged tells whether turn n has a tag already.
func (t *turns) tagged(ctx context.Context, n int) (bool, error) {
	tags, err := t.p.turnTags(ctx, t.m, t.w.TurnSession)
	return slices.Contains(tags, n), err
}

// turnTags are the numbers of the turn tags of one turn session, read without git where refs are files.
func (p *Paw) turnTags(ctx context.Context, m worktree.Manager, turnSession string) ([]int, error) {
	numbers, ok, err := worktree.TurnTags(m.Repository.CommonDir)
	if err != nil || ok {
		return numbers[turnSession], err
	}
	refs, err := m.Refs(ctx, tagPrefix(turnSession))
	return slices.Collect(maps.Keys(tagsIn(refs, turnSession))), err
}

// tagPrefix is what the tags of a turn session begin with.
func tagPrefix(turnSession string) string { return "refs/tags/afk-" + turnSession + "-" }

// tagsIn picks the turn tags of one turn session out of refs: what each is on, by number.
func tagsIn(refs map[string]string, turnSession string) map[int]string {
	found := map[int]string{}
	for ref, oid := range refs {
		if name, n, ok := turn.ParseTag(strings.TrimPrefix(ref, "refs/tags/")); ok && name == turnSession {
			found[n] = oid
		}
	}
	return found
}

// tagElsewhere is what is wrong with a tag that is there, nil when it is on the commit that its turn ended on.
func (p *Paw) tagElsewhere(s *session.Session, w session.Worktree, n int, at, commit string) error {
	name := turn.TagName(w.TurnSession, n)
	switch {
	case at == commit:
		return nil
	case commit == "":
		return failf(KindError, "%s: turn %d: tag %s is on %.12s, and the turn has not finished", w.Agent, n, name, at).
			hint("git -C %s tag -d %s", Quote(s.GitCommonDir), name)
	}
	return failf(KindError, "%s: turn %d: tag %s is on %.12s, not on its commit %.12s", w.Agent, n, name, at, commit).
		hint("git -C %s update-ref %s %s %s", Quote(s.GitCommonDir), turn.TagRef(w.TurnSession, n), commit, at)
}
