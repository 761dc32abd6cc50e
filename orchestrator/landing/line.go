package landing

import (
	"fmt"
	"iter"
	"slices"

	"paw/session"
)

// point is a state in the life of an agent that others came from: the end of a turn, or what a landing took between turns.
type point struct {
	turnSession string
	turn        int // 0 with landing 0: the beginning
	landing     int
}

func (p point) String() string {
	if p.landing > 0 {
		return fmt.Sprintf("%s landing %d", p.turnSession, p.landing)
	}
	return fmt.Sprintf("%s turn %d", p.turnSession, p.turn)
}

// life is what is known of the states of an agent: which came from which.
type life struct {
	now    point           // what the state of the moment came from
	parent map[point]point // of all points but the beginning
	start  string          // commit of the beginning, "" where that is not known
	branch string          // "" where that is not known
}

// lifeOf puts turns, landings and shifts of an agent into the order in which they were. A rewind goes back to an earlier point,
// and what comes next begins there.
func lifeOf(turnSession string, lastTurn int, landings []session.Landing, shifts []session.Shift, from *session.Origin, fromSession string) life {
	at := func(turn int) point { return point{turnSession: turnSession, turn: turn} }
	l := life{now: at(0), parent: map[point]point{}}
	if from != nil && fromSession != "" {
		l.parent[l.now] = point{turnSession: fromSession, turn: from.Turn}
	}
	before := l.now // what an undo goes back to
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

// points returns all that is known of the states of an agent.
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

// startWithin puts the beginning of an agent that started in the midst of another one's turn between that turn and what came
// before it: both went on from there.
func (all lives) startWithin(turnSession, fromSession string, from *session.Origin) {
	kid, parent := all[turnSession], all[fromSession]
	if parent.parent == nil {
		return
	}
	begin, end := point{turnSession: turnSession}, point{turnSession: fromSession, turn: from.Turn}
	if before, known := parent.parent[end]; known {
		kid.parent[begin], parent.parent[end] = before, begin
	} else { // the end of that turn is not known of yet
		kid.parent[begin], parent.now = parent.now, begin
	}
	all[turnSession], all[fromSession] = kid, parent
}

// event is a landing of the state of a moment, or a shift.
type event struct {
	landing *session.Landing
	shift   session.Shift
}

// eventsOf are those after the begin of a turn and before that of the next one, oldest first.
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

// lives are those of all agents of a repository, by turn session.
type lives map[string]life

// line are the points that lead to a point, nearest first, with those of the agent that its agent started from.
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

// meeting is the point nearest to the first one that both lines have.
func meeting(one, other []point) (point, bool) {
	for _, p := range one {
		if slices.Contains(other, p) {
			return p, true
		}
	}
	return point{}, false
}
