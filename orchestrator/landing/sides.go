package landing

import (
	"maps"
	"slices"

	"paw/worktree/objects"
)

// sides are a branch and a state of an agent as two commits. To merge these brings exactly what the
// state has beyond the branch.
type sides struct {
	ours   string // the tip, as a commit on top of what both have
	theirs string // the state, as a commit on top of what both have
	state  string // commit of the state

	line    []point    // points that led to the state
	h       *history   // nil if git's own history is enough: nothing has landed, and the branch has left nothing
	tip     string     // node of the branch with all that has landed in it
	now     string     // node of the state
	bases   []string   // newest common nodes
	left    []string   // newest commits that the agent got from the branch and the branch has left
	near    *Stand     // landing nearest to the state among those that stand, nil for none
	lost    []lostWork // lost work of the state
	rewound []*Stand   // landings of work that the agent was rewound from
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

// instead returns the numbers of earlier landings whose work a landing of the state contains:
// landings that it brings again, that the branch does not have, or of which the branch has only the
// files.
func (a *asker) instead(s *sides) (ids []int) {
	if s.h == nil {
		return nil
	}
	had := s.had()
	for _, one := range a.led.all {
		to, shared := a.led.meeting(s.line, one)
		switch {
		case a.again && slices.ContainsFunc(s.lost, func(lost lostWork) bool { return lost.Stand == one }):
			ids = append(ids, one.ID)
		case !shared || one.Session != a.Session.Name || one.offered() || one.Standing == Elsewhere:
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
		return one.TurnSession == a.Record.TurnSession && !one.offered() && one.Standing != Elsewhere
	}
	for _, one := range a.led.all {
		if !own(one) || slices.Contains(s.line, one.point()) || one.Standing == Superseded || !one.keeps() && !got[one.After] {
			continue
		}
		if !slices.ContainsFunc(a.led.all, func(by *Stand) bool {
			return own(by) && by.ID > one.ID && by.stands() && (slices.Contains(s.line, by.point()) || slices.Contains(by.Instead, one.ID))
		}) {
			s.rewound = append(s.rewound, one)
		}
	}
}

// lookForNear finds the landing that stands and is nearest to the state.
func (a *asker) lookForNear(s *sides) {
	near := len(s.line)
	for _, one := range a.led.all {
		met, found := meeting(s.line, a.led.lives.line(one.point()))
		if at := slices.Index(s.line, met); one.stands() && found && (at < near || at == near && s.near != nil && one.ID > s.near.ID) {
			near, s.near = at, one
		}
	}
}

// lookForLeft finds commits that the branch, or the session's target, once had and the branch lacks
// now. If an agent has them, it got them from there. Only first parents count, because a merge
// brings commits that were made elsewhere. Commits that the agent made itself are its work, also if
// the branch had them for a while.
func (a *asker) lookForLeft(h *history, kin map[string]bool) error {
	h.gone, h.left = map[string]bool{}, map[string]bool{}
	for _, commit := range a.led.past {
		for h.parents[commit] != nil && !h.inTip[commit] && !h.gone[commit] {
			h.gone[commit] = true
			if len(h.parents[commit]) == 0 {
				break
			}
			commit = h.parents[commit][0]
		}
	}
	if err := a.lookForMade(h, kin, len(h.gone) > 0); err != nil || len(h.gone) == 0 {
		return err
	}
	maps.Copy(h.left, h.gone)
	maps.DeleteFunc(h.left, func(one string, _ bool) bool { return h.made[h.agent][one] })
	return nil
}

// leftOf returns the newest commits in a commit's history that the branch has left. The one the
// agent got last comes first.
func (h *history) leftOf(commit string) []string {
	got := h.from.history(commit)
	maps.DeleteFunc(got, func(one string, _ bool) bool { return !h.left[one] })
	left := objects.Newest(h.real, got)
	last := h.real.history(h.gotLast(commit))
	first := slices.DeleteFunc(slices.Clone(left), func(one string) bool { return !last[one] })
	return append(first, slices.DeleteFunc(left, func(one string) bool { return last[one] })...)
}

// hasLeft reports whether git's history of a commit has commits that the branch has left, also if
// an update has taken them out since.
func (h *history) hasLeft(commit string) bool {
	has := h.real.history(commit)
	for left := range h.left {
		if has[left] {
			return true
		}
	}
	return false
}

// gotLast returns the commit that an agent got from the branch last, following the first parents of
// its commits; "" if unknown.
func (h *history) gotLast(commit string) string {
	had := func(one string) bool { return h.inTip[one] || h.left[one] }
	for {
		if had(commit) {
			return commit
		}
		from := h.parents[commit]
		for _, merged := range from[min(1, len(from)):] {
			if had(merged) {
				return merged
			}
		}
		if len(from) == 0 {
			return ""
		}
		commit = from[0]
	}
}

// gotWith returns what came with the commits that the branch has left: their history, without
// commits that the agent made itself.
func (h *history) gotWith(commit string) map[string]bool {
	got := h.real.history(commit)
	maps.DeleteFunc(got, func(one string, _ bool) bool { return !h.left[one] })
	got = h.real.history(slices.Collect(maps.Keys(got))...)
	maps.DeleteFunc(got, func(one string, _ bool) bool { return h.made[h.agent][one] })
	return got
}
