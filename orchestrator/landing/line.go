package landing

import (
	"fmt"
	"iter"
	"slices"

	"paw/session"
)

// point is a state in the life of an agent: the end of a turn, or a state that landed between
// turns.
type point struct {
	turnSession string
	turn        int // 0 with landing 0 is the beginning
	landing     int
}

func (p point) String() string {
	if p.landing > 0 {
		return fmt.Sprintf("%s landing %d", p.turnSession, p.landing)
	}
	return fmt.Sprintf("%s turn %d", p.turnSession, p.turn)
}

// life says from which state each state of an agent came.
type life struct {
	now    point           // state that the present state came from
	parent map[point]point // parent of each point; the beginning has one if the agent started from another one
	start  string          // commit of the beginning, "" if unknown
	branch string          // the agent's branch, "" if unknown
}

// lifeOf puts an agent's turns, landings and shifts into order. A rewind goes back to an earlier
// point, and the next state comes from that one.
func lifeOf(turnSession string, lastTurn int, landings []session.Landing, shifts []session.Shift, from *session.Origin, fromSession string) life {
	at := func(turn int) point { return point{turnSession: turnSession, turn: turn} }
	l := life{now: at(0), parent: map[point]point{}}
	if from != nil && fromSession != "" {
		l.parent[l.now] = point{turnSession: fromSession, turn: from.Turn}
	}
	before := l.now // point that an undo goes back to
	for turn := 0; turn <= lastTurn; turn++ {
		if turn > 0 {
			l.parent[at(turn)], l.now = l.now, at(turn)
		}
		for _, one := range eventsOf(turn, landings, shifts) {
			switch {
			case one.landing != nil:
				next := point{turnSession: turnSession, landing: one.landing.ID}
				l.parent[next], l.now = l.now, next
			case one.shift.Kind == session.ShiftUndo:
				l.now, before = before, l.now
			case one.shift.Kind == session.ShiftStay:
				l.now = at(one.shift.To)
			case one.shift.Kind == session.ShiftUpdate:
				before = l.now
			default:
				l.now, before = at(one.shift.To), l.now
			}
		}
	}
	return l
}

// points returns all points of a life, and their parents.
func (l life) points() iter.Seq[point] {
	return func(yield func(point) bool) {
		if !yield(l.now) {
			return
		}
		for p, before := range l.parent {
			if !yield(p) || !yield(before) {
				return
			}
		}
	}
}

// startWithin handles an agent that started in the midst of another agent's turn: its beginning
// becomes the parent of the end of that turn, because both agents went on from there.
func (all lives) startWithin(turnSession, fromSession string, from *session.Origin) {
	kid, parent := all[turnSession], all[fromSession]
	if parent.parent == nil {
		return
	}
	begin, end := point{turnSession: turnSession}, point{turnSession: fromSession, turn: from.Turn}
	if before, known := parent.parent[end]; known {
		kid.parent[begin], parent.parent[end] = before, begin
	} else { // the turn has not ended yet
		kid.parent[begin], parent.now = parent.now, begin
	}
	all[turnSession], all[fromSession] = kid, parent
}

// event is a landing of a state between turns, or a shift.
type event struct {
	landing *session.Landing
	shift   session.Shift
}

// eventsOf returns the events between the begin of a turn and the begin of the next one, oldest
// first.
func eventsOf(turn int, landings []session.Landing, shifts []session.Shift) []event {
	var all []event
	rest := slices.DeleteFunc(slices.Clone(landings), func(l session.Landing) bool { return l.Turn > 0 || l.LastTurn != turn })
	slices.SortFunc(rest, func(a, b session.Landing) int { return a.ID - b.ID })
	for _, shift := range shifts {
		if shift.Last != turn {
			continue
		}
		for len(rest) > 0 && rest[0].ID <= shift.Landings {
			all, rest = append(all, event{landing: &rest[0]}), rest[1:]
		}
		all = append(all, event{shift: shift})
	}
	for i := range rest {
		all = append(all, event{landing: &rest[i]})
	}
	return all
}

// lives are the lives of all agents of a repository, by turn session.
type lives map[string]life

// line returns the points that led to a point, nearest first, including those of the agent that its
// agent started from.
func (all lives) line(p point) []point {
	line := []point{p}
	for {
		next, found := all[p.turnSession].parent[p]
		if !found || slices.Contains(line, next) {
			return line
		}
		line, p = append(line, next), next
	}
}

// meeting returns the first point of one that other has too.
func meeting(one, other []point) (point, bool) {
	for _, p := range one {
		if slices.Contains(other, p) {
			return p, true
		}
	}
	return point{}, false
}
