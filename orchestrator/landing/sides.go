package landing

import "slices"

// sides are a branch and a state of an agent as two commits. To merge these brings exactly what the
// state has beyond the branch.
type sides struct {
	ours   string // the tip, as a commit on top of what both have
	theirs string // the state, as a commit on top of what both have
	state  string // commit of the state

	line     []point    // points that led to the state
	h        *history   // nil if git's own history is enough: nothing has landed, and the branch has left nothing
	tip      string     // node of the branch with all that has landed in it
	now      string     // node of the state
	bases    []string   // newest common nodes
	left     []string   // newest commits that the agent got from the branch and the branch has left
	near     *Stand     // landing nearest to the state among those that stand, nil for none
	lost     []lostWork // lost work of the state
	rewound  []*Stand   // landings of work that the agent was rewound from
	askedFor bool       // the lost work lands, too
}

// had returns the points of the line, with true for those that the branch has. If it has a point,
// it has all earlier ones.
func (s *sides) had() map[point]bool {
	had := map[point]bool{}
	if s.h == nil {
		return had
	}
	tip, older := s.h.of(s.tip), false
	for _, p := range s.line {
		older = older || tip[p.String()]
		had[p] = older
	}
	return had
}

// lostWork is work that led to a state, has landed, and is lost although the branch has that
// landing or a later one: by a revert, or by a rebase that left it out. It lands again only with
// --again.
type lostWork struct {
	*Stand
	to   []string // newest nodes of the landing's work that led to the state
	line []point  // points that led to these nodes
}

func (s *sides) hasLost(one *Stand) bool {
	for _, lost := range s.lost {
		if lost.Stand == one {
			return true
		}
	}
	return false
}

// instead returns the numbers of earlier landings whose work a landing of the state contains:
// landings that it brings again, that the branch does not have, or of which the branch has only the
// files.
func (a *asker) instead(s *sides) (ids []int) {
	if s.h == nil {
		return nil
	}
	had := s.had()
	for i := range a.led.all {
		one := &a.led.all[i]
		to, shared := a.led.meeting(s.line, one)
		switch {
		case a.again && s.hasLost(one):
			ids = append(ids, one.ID)
		case !shared || one.Session != a.session.Name || one.offered() || one.Standing == Elsewhere:
		case one.ByFiles, !one.stands() && !had[to]:
			ids = append(ids, one.ID)
		}
	}
	return ids
}

// lookForRewound finds landings of work that the agent was rewound from, unless a later landing of
// the agent replaces them: those that the tip keeps, and those that the agent got and the tip lost.
func (a *asker) lookForRewound(h *history, s *sides) {
	got := h.from.history(s.state)
	own := func(one *Stand) bool {
		return one.TurnSession == a.agent.TurnSession && !one.offered() && one.Standing != Elsewhere
	}
	for i := range a.led.all {
		one := &a.led.all[i]
		if !own(one) || slices.Contains(s.line, one.point()) || one.Standing == Superseded || !one.keeps() && !got[one.After] {
			continue
		}
		if !slices.ContainsFunc(a.led.all, func(by Stand) bool {
			return own(&by) && by.ID > one.ID && by.stands() && (slices.Contains(s.line, by.point()) || slices.Contains(by.Instead, one.ID))
		}) {
			s.rewound = append(s.rewound, one)
		}
	}
}

// lookForNear finds the landing that stands and is nearest to the state.
func (a *asker) lookForNear(h *history, s *sides) {
	near := len(s.line)
	for i := range a.led.all {
		one := &a.led.all[i]
		met, found := meeting(s.line, a.led.lives.line(one.point()))
		if at := slices.Index(s.line, met); one.stands() && found && (at < near || at == near && s.near != nil && one.ID > s.near.ID) {
			near, s.near = at, one
		}
	}
}
