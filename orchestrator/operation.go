package orchestrator

import (
	"cmp"
	"context"
	"slices"
	"time"

	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/landing"
	"paw/orchestrator/observe"
	"paw/orchestrator/turns"
	"paw/session"
)

// Operation is something that paw has done to a branch or a worktree, and can take back: a landing, or a rewind or
// an update of an agent's worktree.
type Operation struct {
	Agent   string
	Landing int // number of the landing, 0 for a rewind or an update
	At      time.Time
}

// NewestOperation returns the newest operation of a session, or of one agent if agent is not "", that was not taken back. It
// refuses while a rewind or an update is cut short.
func NewestOperation(ctx context.Context, h *app.App, s *session.Session, agent string) (newest Operation, err error) {
	m, err := h.ManagerOf(ctx, s)
	if err != nil {
		return newest, err
	}
	landings, err := landing.Standings(ctx, h, s)
	if err != nil {
		return newest, err
	}
	var done []Operation
	for _, one := range landings {
		if one.Standing == landing.InForce || landing.Unfinished(one.Landing) {
			done = append(done, Operation{one.Agent, one.ID, one.At})
		}
	}
	for i := range s.Agents {
		w := &s.Agents[i]
		if agent != "" && w.Name != agent {
			continue
		}
		if err := observe.RefuseHalfMoved(ctx, h, s, w.Name); err != nil {
			return newest, err
		}
		op, _, err := turns.Position(ctx, h.Agent(s, w).In(m), 0)
		if err != nil {
			return newest, err
		}
		if op != nil && !op.Undone {
			done = append(done, Operation{w.Name, 0, op.Time})
		}
	}
	if agent != "" {
		done = slices.DeleteFunc(done, func(one Operation) bool { return one.Agent != agent })
		if _, err := app.AgentNamed(s, agent); err != nil && len(done) == 0 { // an agent that was removed may have landed
			return newest, err
		}
	}
	if len(done) == 0 {
		return newest, errs.New(errs.NotFound, "%s: nothing has landed and nothing was rewound that could be undone", cmp.Or(agent, s.Name)).
			Hint("paw land --list%s", h.Place().Of(s.Name))
	}
	return slices.MaxFunc(done, func(a, b Operation) int { return a.At.Compare(b.At) }), nil
}
