package landing

import (
	"cmp"
	"slices"

	"paw/session"
)

// Standing says what the tip of a branch has of a landing.
type Standing string

// The standings.
const (
	InForce    Standing = "landed"     // the tip has it, as it landed or changed since
	Rewritten  Standing = "rewritten"  // the tip has it by another commit: amended, rebased or squashed
	Undone     Standing = "undone"     // taken back by paw land --undo
	Dropped    Standing = "dropped"    // the branch was moved to before it, as by git reset
	Reverted   Standing = "reverted"   // it is in the history of the tip, and the tip has nothing of it any more
	Superseded Standing = "superseded" // the tip has nothing of it, since the agent has taken it out itself
	Elsewhere  Standing = "elsewhere"  // it is in another branch
	Offered    Standing = "offered"    // its state was offered for a merge by hand, and is not merged
)

// landingFacts is what was found of a landing in the history and in the files of a tip.
type landingFacts struct {
	phase     session.LandingPhase
	inTip     bool   // what it made of the branch is the tip, or came before it
	rewritten string // commit in the history of the tip that does the same, "" for none
	lost      bool   // the files of the tip have nothing of it
	whole     bool   // the files of the tip have all of it
	elsewhere bool   // it landed in another branch
	takenOut  bool   // the last state of the agent that the tip has is without it
}

// standing decides how a landing stands. What the tip has counts, and not what was done to it: the record only tells undone from
// dropped.
func (f landingFacts) standing() Standing {
	there := f.inTip || f.rewritten != ""
	switch {
	case there && f.lost && f.takenOut:
		return Superseded
	case there && f.lost && f.phase == session.LandingUndone:
		return Undone // it came back with the history of something else, and without its files
	case there && f.lost:
		return Reverted
	case f.inTip || f.rewritten != "" && f.phase == session.LandingOffered:
		return InForce
	case f.rewritten != "" || f.whole && !f.elsewhere && f.phase == session.LandingDone:
		return Rewritten
	case f.phase == session.LandingOffered:
		return Offered
	case f.elsewhere:
		return Elsewhere
	case f.phase == session.LandingUndone:
		return Undone
	}
	return Dropped
}

// Stand is a landing with how it stands to the tip of its branch.
type Stand struct {
	session.Landing
	Session  string // "" where the record of its session is gone
	Standing Standing
	Commit   string // in the history of the tip, that brings it: After, or the commit that it was rewritten to; "" where none does
	Revert   string // commit that has taken it out again, where one says so
	ByFiles  bool   // the tip has all of its files, and no commit of it

	merges bool   // Commit is a merge, as it was rewritten
	tip    string // of the branch, "" where that is gone
}

// picked reports whether what was offered to be brought by hand is a commit to be picked, and not to be merged.
func (s *Stand) picked() bool { return s.Phase == session.LandingOffered && s.As == string(Squash) }

// offered reports whether a landing was only offered for a merge by hand.
func (s *Stand) offered() bool { return s.Phase == session.LandingOffered }

// stands reports whether the tip has the landing behind it, whatever became of its files.
func (s *Stand) stands() bool {
	switch s.Standing {
	case InForce, Rewritten, Superseded, Reverted:
		return true
	case Undone, Dropped, Offered, Elsewhere:
	}
	return false
}

// ledger is all that has landed in a branch, as its tip has it.
type ledger struct {
	target, tip string
	all         []Stand // oldest first of each agent
	lives       lives
	files       []string // turn sessions whose landings were looked for in the files of the tip
	past        []string // commits that the branch was at and has left, as by git reset
	looker      *looker  // that can look further, nil where nothing landed
}

// lostFor reports whether the branch has lost what a landing brought up to a state, and nothing that stands has brought that again: neither after the
// landing nor, where the landing brought again what an earlier one had, that one, which has come back.
func (led *ledger) lostFor(to point, one *Stand) bool {
	if one.Standing != Undone && one.Standing != Dropped && one.Standing != Reverted {
		return false
	}
	return !slices.ContainsFunc(led.all, func(by Stand) bool {
		return by.stands() && (by.Standing != Reverted || one.Standing != Reverted || by.After == one.After) && by.Session == one.Session &&
			(slices.Contains(by.Instead, one.ID) || one.Standing != Reverted && slices.Contains(one.Instead, by.ID)) && slices.Contains(led.lives.line(by.point()), to)
	})
}

// coversPart reports whether a landing has brought a part of the work of another one again, and not all of it.
func (led *ledger) coversPart(by, one *Stand) bool {
	return by.Session == one.Session && slices.Contains(by.Instead, one.ID) && !slices.Contains(led.lives.line(by.point()), one.point())
}

// meeting is the last point of a line whose work a landing brought: its own or, where the agent was rewound since, one before.
func (led *ledger) meeting(line []point, one *Stand) (point, bool) {
	met, found := meeting(line, led.lives.line(one.point()))
	return met, found && (met == one.point() || one.brought(met))
}

// brought reports whether a landing brought the work of a point before its own.
func (s *Stand) brought(p point) bool {
	if p.turnSession != s.TurnSession {
		return false
	}
	return slices.Contains(numbersIn(s.Turns), p.turn) || slices.Contains(s.Instead, p.landing)
}

// of are the landings of an agent.
func (led *ledger) of(turnSession string) (own []*Stand) {
	for i := range led.all {
		if led.all[i].TurnSession == turnSession {
			own = append(own, &led.all[i])
		}
	}
	return own
}

// point is where a landing stands in the life of its agent.
func (s *Stand) point() point {
	if s.Turn > 0 {
		return point{turnSession: s.TurnSession, turn: s.Turn}
	}
	return point{turnSession: s.TurnSession, landing: s.ID}
}

// byAge orders landings of the same agent.
func byAge(a, b Stand) int {
	return cmp.Or(cmp.Compare(a.TurnSession, b.TurnSession), cmp.Compare(a.ID, b.ID))
}
