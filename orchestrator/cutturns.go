package orchestrator

import (
	"context"
	"errors"

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
			reason := turn.ReasonCrash
			if a.left() {
				reason = turn.ReasonInterrupted
			}
			p.cutTurn(ctx, f.session, a.record, reason)
		}
		p.tagFinished(ctx, f.session, a.record)
	}
}

// tagFinished makes the tags that are missing: those of finished turns, on their
// recorded commits, and that of the start. A hook could not make one, or a fetch
// that prunes tags deleted it.
func (p *Paw) tagFinished(ctx context.Context, s *session.Session, w session.Worktree) {
	if w.Phase == session.PhaseCreating {
		return // bringUp tags its start
	}
	err := p.withTurns(ctx, s, &w, func(t *turns) error {
		tags, err := p.turnTags(ctx, t.m, w.TurnSession)
		if err != nil {
			return err
		}
		var failed error
		for _, result := range missingTags(&w, tags, t.dir) {
			if err := t.tag(ctx, result); err != nil {
				failed = errors.Join(failed, err)
				continue
			}
			t.remember(ctx, result.Number)
			p.Step("recover.tagged")
		}
		return failed
	})
	if err != nil {
		p.say("paw: note: %s: not all tags of its turns are there: %v", w.Agent, err)
		p.logHook(w.CLI, "recover", err)
	}
}

// missingTags are the results of the finished turns, and of the start as turn 0,
// that have no tag. Logs that cannot be read have none to give.
func missingTags(w *session.Worktree, tags []int, dir turn.Dir) []turn.Result {
	tagged := map[int]bool{}
	for _, n := range tags {
		tagged[n] = true
	}
	var missing []turn.Result
	if !tagged[0] && w.BaseCommit != "" {
		missing = append(missing, turn.Result{CommitHash: w.BaseCommit})
	}
	records, _ := dir.Records()
	for _, r := range records {
		if result, ok := r.Result(); ok && !tagged[r.Number] {
			missing = append(missing, result)
		}
	}
	return missing
}
