package orchestrator

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/landing"
	"paw/orchestrator/observe"
	"paw/session"
	"paw/session/turn"
	"paw/worktree"
)

// Operation is something that paw has done to a branch or a worktree, and can take back: a landing, or a rewind or
// an update of an agent's worktree.
type Operation struct {
	Agent   string
	Landing int // number of the landing, 0 for a move of the worktree
	At      time.Time
}

// NewestOperation returns the newest operation of a session, or of one agent in it, that was not taken back. What
// was begun last may be cut: then the error is a refusal.
func NewestOperation(ctx context.Context, h *app.App, s *session.Session, agent string) (Operation, error) {
	m, err := h.ManagerOf(ctx, s)
	if err != nil {
		return Operation{}, err
	}
	about := func(name string) bool { return agent == "" || name == agent }
	var done []Operation
	all, err := landing.Standings(ctx, h, s)
	if err != nil {
		return Operation{}, err
	}
	for _, one := range all {
		if about(one.Agent) && (one.Standing == landing.InForce || landing.Unfinished(one.Landing)) {
			done = append(done, Operation{one.Agent, one.ID, one.At})
		}
	}
	moves, err := lastMoves(ctx, m, s)
	if err != nil {
		return Operation{}, err
	}
	for _, w := range s.Agents {
		if !about(w.Name) {
			continue
		}
		if err := observe.RefuseHalfMoved(ctx, h, s, w.Name); err != nil {
			return Operation{}, err
		}
		if op, moved := moves[w.TurnSession]; moved && !op.Undone {
			done = append(done, Operation{w.Name, 0, op.Time})
		}
	}
	if _, err := app.AgentNamed(s, agent); agent != "" && len(done) == 0 && err != nil {
		return Operation{}, err
	}
	if len(done) == 0 {
		return Operation{}, errs.New(errs.NotFound, "%s: nothing has landed and nothing was rewound that could be undone", cmp.Or(agent, s.Name)).
			Hint("paw land --list --session %s", s.Name)
	}
	return slices.MaxFunc(done, func(a, b Operation) int { return a.At.Compare(b.At) }), nil
}

// lastMoves returns the newest move of each agent's worktree by paw, by the agents' turn sessions.
func lastMoves(ctx context.Context, m *worktree.Manager, s *session.Session) (map[string]*turn.Op, error) {
	ask := []string{"for-each-ref", "--format=%(refname) %(contents:body)"}
	for _, w := range s.Agents {
		ask = append(ask, turn.OpPrefix(w.TurnSession))
	}
	moves, newest := map[string]*turn.Op{}, map[string]int{}
	out, err := m.Objects().Home().Output(ctx, ask...)
	if err != nil || len(s.Agents) == 0 {
		return nil, err
	}
	for line := range strings.Lines(out) {
		ref, text, _ := strings.Cut(line, " ")
		of := strings.TrimSuffix(strings.TrimPrefix(path.Dir(ref), turn.HiddenPrefix), "/op")
		n, err := strconv.Atoi(path.Base(ref))
		if err != nil || n < newest[of] {
			continue
		}
		if moves[of], err = turn.ParseOp("\n\n" + text); err != nil {
			return nil, fmt.Errorf("%s: %w", ref, err)
		}
		newest[of] = n
	}
	return moves, nil
}
