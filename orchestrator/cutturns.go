package orchestrator

import (
	"context"
	"errors"

	"paw/session"
	"paw/session/turn"
)

// cutTurn closes the turn that was open when its CLI ended without saying so, and those behind it that no hook told of:
// as the CLI's own record tells it, else aborted for the reason, with a snapshot. A failure is logged: it must not keep
// paw from stopping or recovering.
func (p *Paw) cutTurn(ctx context.Context, s *session.Session, w session.Worktree, reason turn.Reason) {
	last, err := p.turnDir(s.Name, w.Agent).Last()
	if err != nil || last == nil || last.State != turn.InProgress && len(p.observed(ctx, s, &w, last).Later) == 0 {
		return
	}
	err = p.withTurns(ctx, s, &w, func(t *turns) error {
		if err := t.takeMissed(ctx); err != nil {
			return err
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
		results := finishedTurns(&w, t.dir)
		counted := countFinished(results)
		t.remember(ctx, counted.Last, func(f *session.Finished) {
			if counted.Last >= f.Last { // logs may be gone
				*f = counted
			}
		})
		refs, err := t.m.Refs(ctx, tagPrefix(w.TurnSession))
		if err != nil {
			return err
		}
		tags := tagsIn(refs, w.TurnSession)
		var failed error
		for _, result := range results {
			commit, there := tags[result.Number]
			switch {
			case result.CommitHash == "":
			case there:
				failed = errors.Join(failed, p.tagElsewhere(s, w, result.Number, commit, result.CommitHash))
			default:
				failed = errors.Join(failed, t.tag(ctx, result))
				p.Step("recover.tagged")
			}
		}
		return failed
	})
	if err != nil {
		p.note("%s: not all tags of its turns are as they should be: %v", w.Agent, err)
		p.logHook(w.CLI, "recover", err)
	}
}

// countFinished counts what finishedTurns found.
func countFinished(results []turn.Result) session.Finished {
	counted := session.Finished{}
	for _, r := range results {
		counted.Add(r.Number)
	}
	return counted
}

// finishedTurns are the results of the start, as turn 0, and of the finished turns. Logs that cannot be read give none.
func finishedTurns(w *session.Worktree, dir turn.Dir) []turn.Result {
	results := []turn.Result{{CommitHash: w.BaseCommit}}
	records, _ := dir.Records()
	for _, r := range records {
		if result, ok := r.Result(); ok {
			results = append(results, result)
		}
	}
	return results
}
