package landing

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"paw/orchestrator/turns"
	"paw/session"
	"paw/worktree"
)

// Standing says what the tip of a branch has of a landing.
type Standing string

// Standings of a landing.
const (
	InForce    Standing = "landed"     // the tip has the landing, as it landed or changed since
	Rewritten  Standing = "rewritten"  // the tip has the landing in another commit: amended, rebased or squashed
	Undone     Standing = "undone"     // undone by paw land --undo
	Dropped    Standing = "dropped"    // the branch was moved to a commit before the landing, as by git reset
	Reverted   Standing = "reverted"   // the tip's history has the landing, and the tip's files have nothing of the work
	Superseded Standing = "superseded" // the tip has nothing of the landing, because the agent has taken the work out
	Elsewhere  Standing = "elsewhere"  // another branch has the landing
	Offered    Standing = "offered"    // a state that was offered for a merge by hand, and is not merged
)

// landingFacts are the facts about a landing in the history and the files of a tip.
type landingFacts struct {
	inTip     bool   // the landing's commit is the tip, or an ancestor of the tip
	rewritten string // commit in the tip's history with the same change as the landing, "" for none
	lost      bool   // the tip's files have nothing of the landing
	whole     bool   // the tip's files have all of the landing
	elsewhere bool   // the landing was into another branch
	takenOut  bool   // the agent's last state that the tip has is without the landing
	anew      bool   // a later landing has made the same commit, as within the same second
}

// there reports whether the tip's history has the landing, in its own commit or in another one.
func (f landingFacts) there() bool { return f.inTip || f.rewritten != "" }

// standing decides how a landing stands. What the tip has counts, not what was done to the tip: the
// record only tells Undone from Dropped.
func (s *Stand) standing() Standing {
	switch {
	case s.anew && s.Phase == session.LandingUndone:
		return Undone
	case s.anew:
		return Dropped
	case s.there() && s.lost && s.takenOut:
		return Superseded
	case s.there() && s.lost && s.Phase == session.LandingUndone:
		return Undone // the landing came back with another history, without its files
	case s.there() && s.lost:
		return Reverted
	case s.inTip || s.there() && s.offered():
		return InForce
	case s.there() || s.whole && !s.elsewhere && s.Phase == session.LandingDone:
		return Rewritten
	case s.offered():
		return Offered
	case s.elsewhere:
		return Elsewhere
	case s.Phase == session.LandingUndone:
		return Undone
	}
	return Dropped
}

// Stand is a landing, with its standing at the tip of a branch.
type Stand struct {
	session.Landing
	landingFacts
	Session  string // "" if the record of its session is gone
	Standing Standing
	Commit   string // commit of the tip's history that brings the landing: After, or what After was rewritten to; "" for none
	Revert   string // commit that says it reverts the landing, "" for none
	ByFiles  bool   // the tip has all files of the landing, but no commit

	merges bool   // Commit is a merge
	tip    string // tip of the branch, "" if the branch is gone
}

// picked reports whether a landing was offered as a commit to cherry-pick, instead of to merge.
func (s *Stand) picked() bool { return s.offered() && s.As == string(Squash) }

// offered reports whether a landing was only offered for a merge by hand.
func (s *Stand) offered() bool { return s.Phase == session.LandingOffered }

// stands reports whether the tip's history has the landing, whatever became of its files.
func (s *Stand) stands() bool {
	switch s.Standing {
	case InForce, Rewritten, Superseded, Reverted:
		return true
	case Undone, Dropped, Offered, Elsewhere:
	}
	return false
}

// keeps reports whether the tip has the files of the landing.
func (s *Stand) keeps() bool { return s.Standing == InForce || s.Standing == Rewritten }

// ledger lists all that has landed in a branch, seen from its tip.
type ledger struct {
	target
	m        *worktree.Manager
	sessions []*session.Session
	all      []*Stand // by agent, oldest first
	lives    lives
	refs     map[string]string // refs of landings
	files    []string          // turn sessions whose landings were compared with the tip's files
	past     []string          // commits that the branch has left, as by git reset
	base     string            // commit from which git's history is read first, "" for none
	also     func() []string   // commits that are asked for later, nil for none
}

// lostFor reports whether the branch has lost the work of a landing up to a point for good. It has
// not where another landing has that work and stands: a later landing that brought the work again
// or, for work that the lost landing itself had brought again, the earlier landing of it. Of two
// reverted landings, neither has the work in place of the other, unless both made the same commit.
func (led *ledger) lostFor(to point, one *Stand) bool {
	if one.Standing != Undone && one.Standing != Dropped && one.Standing != Reverted {
		return false
	}
	return !slices.ContainsFunc(led.all, func(by *Stand) bool {
		return by.stands() && (by.Standing != Reverted || one.Standing != Reverted || by.After == one.After) && by.Session == one.Session &&
			(slices.Contains(by.Instead, one.ID) || one.Standing != Reverted && slices.Contains(one.Instead, by.ID)) && slices.Contains(led.lives.line(by.point()), to)
	})
}

// coversPart reports whether a landing has brought a part of another landing's work again, but not
// all of it.
func (led *ledger) coversPart(by, one *Stand) bool {
	return by.Session == one.Session && slices.Contains(by.Instead, one.ID) && !slices.Contains(led.lives.line(by.point()), one.point())
}

// meeting returns the last point of a line whose work a landing brought. It is an earlier point
// than the landing's own if the agent was rewound since.
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

// of returns the landings of an agent.
func (led *ledger) of(turnSession string) (own []*Stand) {
	for _, one := range led.all {
		if one.TurnSession == turnSession {
			own = append(own, one)
		}
	}
	return own
}

// point returns the point of a landing in its agent's life.
func (s *Stand) point() point {
	if s.Turn > 0 {
		return point{turnSession: s.TurnSession, turn: s.Turn}
	}
	return point{turnSession: s.TurnSession, landing: s.ID}
}

// ranges formats the numbers of turns: "1-4", "2", "1-2,5".
func ranges(list []turns.Turn) string {
	var parts []string
	for i := 0; i < len(list); {
		k := i
		for k+1 < len(list) && list[k+1].Number == list[k].Number+1 {
			k++
		}
		part := strconv.Itoa(list[i].Number)
		if k > i {
			part += "-" + strconv.Itoa(list[k].Number)
		}
		parts, i = append(parts, part), k+1
	}
	return strings.Join(parts, ",")
}

// numbersIn parses numbers in the format of ranges.
func numbersIn(words string) (numbers []int) {
	for part := range strings.SplitSeq(words, ",") {
		first, last, several := strings.Cut(part, "-")
		from, err := strconv.Atoi(first)
		if err != nil {
			continue
		}
		to := from
		if several {
			to, _ = strconv.Atoi(last)
		}
		for n := from; n <= to; n++ {
			numbers = append(numbers, n)
		}
	}
	return numbers
}

func turnWords(turns string) string {
	if strings.ContainsAny(turns, "-,") {
		return "turns " + turns
	}
	return "turn " + turns
}

func landingWords(one *Stand) string { return fmt.Sprintf("landing %d", one.ID) }
