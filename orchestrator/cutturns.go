package orchestrator

import (
	"context"

	"paw/session"
	"paw/session/turn"
)

// cutTurn closes the turn that was open when its CLI ended without saying so:
// as the CLI's own record tells it, else aborted for the reason, with a snapshot.
// A failure is logged: it must not keep paw from stopping or recovering.
func (p *Paw) cutTurn(ctx context.Context, s *session.Session, w session.Worktree, reason turn.Reason) {
	last, err := p.turnDir(s.Name, w.Agent).Last()
	if err != nil || last == nil || last.State != turn.InProgress {
		return
	}
	err = p.withTurns(ctx, s, &w, func(t *turns) error {
		last, err := t.dir.Last()
		if err != nil || last == nil || last.State != turn.InProgress {
			return err
		}
		if ended := p.observed(ctx, s, &w, last).Ended; ended != nil {
			return t.apply(ctx, last, *ended)
		}
		one, err := t.open()
		if err != nil || one == nil {
			return err
		}
		t.abort(ctx, one, &turn.Abort{Reason: reason})
		return nil
	})
	if err != nil {
		p.logHook(w.CLI, string(reason), err)
	}
}

// closeCutTurns does what a crash kept the hooks from doing: it aborts the turns
// of agents that died in them, and tags finished turns that have no tag.
func (p *Paw) closeCutTurns(ctx context.Context, f facts) {
	for _, a := range f.agents {
		if a.lock.State == session.LockFree {
			p.cutTurn(ctx, f.session, a.record, turn.ReasonCrash)
		}
		p.tagFinished(ctx, f.session, a.record)
	}
}

// tagFinished tags the recorded commits of finished turns without a tag.
func (p *Paw) tagFinished(ctx context.Context, s *session.Session, w session.Worktree) {
	records, _ := p.turnDir(s.Name, w.Agent).Records()
	if len(records) == 0 {
		return
	}
	err := p.withTurns(ctx, s, &w, func(t *turns) error {
		tags, err := p.turnTags(ctx, t.m, w.TurnSession)
		if err != nil {
			return err
		}
		tagged := map[int]bool{}
		for _, n := range tags {
			tagged[n] = true
		}
		for _, r := range records {
			result, ok := r.Result()
			if !ok || tagged[r.Number] || r.Number <= deletedBelow(tags) {
				continue
			}
			if err := t.tag(ctx, result); err != nil {
				return err
			}
			t.remember(ctx, r.Number)
			p.Step("recover.tagged")
		}
		return nil
	})
	if err != nil {
		p.logHook(w.CLI, "recover", err)
	}
}

// deletedBelow is the highest number that has a tag: a missing tag below it was
// deleted by the user and stays so.
func deletedBelow(tags []int) int {
	highest := 0
	for _, n := range tags {
		highest = max(highest, n)
	}
	return highest
}
