package landing

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"paw/orchestrator/errs"
	"paw/session"
	"paw/session/turn"
	"paw/worktree"
)

// known is the newest state of an agent that is known without a look at its worktree.
type known struct {
	commit string
	turn   int    // turn whose end it is, 0 for another state
	whole  bool   // the state has what was not committed
	left   string // last whole state, if the branch has moved since; its uncommitted files may still exist
	leftAt int    // turn before that state
}

// newestStates returns the newest known states of agents: the last snapshot of a turn, an update or
// a landing or, if the branch has moved since, the branch.
func newestStates(ctx context.Context, m *worktree.Manager, agents []work) ([]known, error) {
	if len(agents) > 0 && agents[0].Session.Host != "" {
		return handedStates(agents)
	}
	var prefixes, branches []string
	for _, w := range agents {
		prefixes = append(prefixes, turn.RefPrefix(w.Record.TurnSession)+"turn/", turn.UpdatedPrefix(w.Record.TurnSession))
		branches = append(branches, w.Record.Branch)
	}
	refs, err := m.Refs().List(ctx, prefixes...)
	if err != nil {
		return nil, err
	}
	tips, err := m.Refs().Branches(ctx, branches)
	if err != nil {
		return nil, err
	}
	var last []lastSnapshots
	var snapshots []string
	for i := range agents {
		one := lastSnapshots{ended: lastOf(refs, prefixes[2*i]), updated: lastOf(refs, prefixes[2*i+1]), landed: agents[i].lastLanded()}
		last = append(last, one)
		for _, s := range one.newestFirst() {
			snapshots = append(snapshots, s.commit)
		}
	}
	heads, err := m.Objects().SnapshotHeads(ctx, snapshots)
	if err != nil {
		return nil, err
	}
	var all []known
	for i, w := range agents {
		one := last[i].known(tips[w.Record.Branch], heads)
		if one.commit == "" {
			return nil, errs.New(errs.Failed, "%s: its branch %s is gone", w.Record.Name, w.Record.Branch).Hint("git branch %s %s", errs.Quote(w.Record.Branch), w.Record.BaseCommit)
		}
		all = append(all, one)
	}
	return all, nil
}

// handedStates returns the states that another machine has sent.
func handedStates(agents []work) (all []known, err error) {
	for _, w := range agents {
		one := w.handed[w.Record.Name]
		if one.Err != nil {
			return nil, one.Err
		}
		all = append(all, known{commit: one.State, turn: one.Turn, whole: one.Whole})
	}
	return all, nil
}

// numbered is a snapshot with the number of a turn.
type numbered struct {
	turn   int
	commit string // "" for none
}

// lastOf returns the snapshot with the highest number among refs with a prefix.
func lastOf(refs map[string]string, prefix string) numbered {
	last := numbered{turn: -1}
	for ref, commit := range refs {
		number, ok := strings.CutPrefix(ref, prefix)
		if n, err := strconv.Atoi(number); ok && err == nil && n > last.turn {
			last = numbered{n, commit}
		}
	}
	return last
}

// lastLanded returns the present state that an agent landed last, unless its worktree was moved
// since.
func (w work) lastLanded() numbered {
	moved := 0
	for _, shift := range w.Record.Shifts {
		if shift.Kind != session.ShiftStay {
			moved = shift.Landings
		}
	}
	for _, l := range slices.Backward(w.Session.Landings) {
		if l.TurnSession == w.Record.TurnSession && l.Turn == 0 && l.Phase != session.LandingBegun && l.ID > moved {
			return numbered{l.LastTurn, l.State}
		}
	}
	return numbered{}
}

// lastSnapshots are the last snapshots of a turn's end, of an update, and of a landing.
type lastSnapshots struct{ ended, updated, landed numbered }

// newestFirst returns the existing snapshots. An update after turn n is newer than the end of turn
// n, and a landing after the update is newer still.
func (l lastSnapshots) newestFirst() (all []numbered) {
	both := []numbered{l.ended, l.updated}
	if l.updated.turn >= l.ended.turn {
		slices.Reverse(both)
		if l.landed.turn >= l.updated.turn {
			both = append([]numbered{l.landed}, both...)
		}
	}
	for _, one := range both {
		if one.commit != "" {
			all = append(all, one)
		}
	}
	return all
}

// known decides which state counts: the newest snapshot taken at the branch's tip, else the tip.
func (l lastSnapshots) known(tip string, heads map[string]string) known {
	all := l.newestFirst()
	for _, one := range all {
		if tip == "" && one == l.ended || tip != "" && heads[one.commit] == tip {
			k := known{commit: one.commit, whole: true}
			if one == l.ended {
				k.turn = one.turn
			}
			return k
		}
	}
	k := known{commit: tip}
	if len(all) > 0 && heads[all[0].commit] != all[0].commit {
		k.left, k.leftAt = all[0].commit, all[0].turn
	}
	return k
}

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
	last   int             // highest known number of a turn
	start  string          // commit of the beginning, "" if unknown
	branch string          // the agent's branch, "" if unknown
}

// lifeOf puts an agent's turns, landings and shifts into order. A rewind goes back to an earlier
// point, and the next state comes from that one.
func lifeOf(s *session.Session, w *session.Agent, landings []session.Landing) life {
	at := func(turn int) point { return point{turnSession: w.TurnSession, turn: turn} }
	l := life{now: at(0), last: w.TurnHighWater, parent: map[point]point{}, start: w.Start(), branch: w.Branch}
	for _, one := range landings {
		l.last = max(l.last, one.LastTurn, one.Turn)
	}
	if origin := originOf(s, w.From); origin != "" {
		l.parent[l.now] = point{turnSession: origin, turn: w.From.Turn}
	}
	before := l.now // point that an undo goes back to
	for turn := 0; turn <= l.last; turn++ {
		if turn > 0 {
			l.parent[at(turn)], l.now = l.now, at(turn)
		}
		for _, one := range eventsOf(turn, landings, w.Shifts) {
			switch {
			case one.landing != nil:
				next := point{turnSession: w.TurnSession, landing: one.landing.ID}
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

// handedSession returns the name of a made-up turn session: the common origin of all agents that
// began with the same uncommitted changes of the user.
func handedSession(snapshot string) string { return "not committed " + snapshot }

// originOf returns the turn session of an agent's origin, "" for none.
func originOf(s *session.Session, from *session.Origin) string {
	switch {
	case from == nil:
		return ""
	case from.Agent == "":
		return handedSession(from.Snapshot)
	}
	if w := s.Agent(from.Agent); w != nil {
		return w.TurnSession
	}
	return s.TurnSessionOf(from.Agent)
}

// began returns the origin of an agent that is no longer in the record. It is nil if the agent
// began at a commit, or if that is unknown.
func began(landings []session.Landing) *session.Origin {
	for _, l := range landings {
		if l.Began != "" {
			return &session.Origin{Snapshot: l.Began}
		}
	}
	return nil
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

// line returns a point and its ancestors, nearest first. If the agent was started from another
// agent's state, the ancestors continue with points of that agent.
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
