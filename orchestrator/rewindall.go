package orchestrator

import (
	"cmp"
	"context"
	"slices"
	"time"

	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/turns"
	"paw/session"
	"paw/session/turn"
)

// RewindAll puts the worktrees of all agents back to what they were at a time. All are looked at as for a dry run before the first one changes;
// after an error it returns those before it. Agents in which nothing has happened since are left out.
func RewindAll(ctx context.Context, h *app.App, s *session.Session, at time.Time, dryRun bool) (done []*Rewound, err error) {
	m, err := h.ManagerOf(ctx, s)
	if err != nil {
		return nil, err
	}
	if !dryRun {
		turns.CloseDead(ctx, h, s, app.AgentNames(s)...)
	}
	var all []*rewinding
	for i := range s.Agents {
		a := h.Agent(s, &s.Agents[i])
		goal, err := aimAt(ctx, a.In(m.Remembering()), at)
		if err != nil {
			return nil, err
		}
		if goal != nil {
			r := &rewinding{Agent: a, again: a.Line("rewind", "")}
			r.aim = func(*turns.Recorder, *turn.Op) (aim, error) {
				r.remembers(goal.op.At)
				return *goal, nil
			}
			all = append(all, r)
		}
	}
	for _, dry := range slices.Compact([]bool{true, dryRun}) {
		done = nil
		for _, r := range all {
			r.dryRun = dry
			one, err := r.run(ctx)
			if err != nil {
				return done, err
			}
			done = append(done, one)
		}
	}
	return done, nil
}

// aimAt returns the snapshot that an agent's worktree is to be put back to for a time: the files that paw saved when the next turn, or the
// next rewind or update, began after that time. For a time within a turn they are those of the turn's begin. The result is nil where
// nothing has begun since.
func aimAt(ctx context.Context, a app.Agent, at time.Time) (goal *aim, err error) {
	list, _, err := turns.List(ctx, a)
	if err != nil {
		return nil, err
	}
	ops, err := turns.Ops(ctx, a)
	if err != nil {
		return nil, err
	}
	var next *turns.Turn // that had not ended
	last := 0            // the turn before it
	for i := 0; i < len(list.Turns) && next == nil; i++ {
		if one := list.Turns[i]; one.LogGone || one.EndedAt != nil && !one.EndedAt.After(at) {
			last = one.Number
		} else {
			next = &one
		}
	}
	goal = &aim{op: turn.Op{Kind: turn.OpRewind, At: last}, words: "as it was at " + at.Local().Format("2 Jan 15:04:05")}
	for _, op := range ops {
		if op.Time.After(at) && (next == nil || op.Last < next.Number) {
			goal.commit, goal.op.At, goal.state = op.Files, op.From, func(c *turns.Chain) (string, error) { return c.Back(ctx, op) }
			return goal, nil
		} else if op.Last == last && !op.Time.After(at) {
			goal.op.At = op.At
		}
	}
	if next == nil {
		return nil, nil
	}
	if goal.commit = next.Before; goal.commit == "" && next.State != turn.InProgress { // that is refused with the others that run
		return nil, errs.New(errs.Refused, "%s/%s: turn %d has no snapshot of its begin, nothing is rewound", a.Session.Name, a.Record.Name, next.Number).
			Hint("paw turns %s/%s", a.Session.Name, a.Record.Name)
	}
	goal.state = func(c *turns.Chain) (string, error) {
		same, err := c.Repo.States().WithTree(ctx, cmp.Or(c.End(next.Number), c.Now().Twin), next.Before)
		if same != "" || err != nil {
			return same, err
		}
		return c.Back(ctx, turn.Op{Before: cmp.Or(c.End(last), c.End(0)), Files: next.Before, Last: next.Number - 1})
	}
	return goal, nil
}
