package landing

import (
	"slices"
	"strings"

	"paw/orchestrator/errs"
)

// asker finds what a branch and an agent's states have in common.
type asker struct {
	work
	led *ledger
	t   target

	again  bool    // lost work lands, too
	region *region // part of git's history that was read before, nil for none
	line   []point
	handed string // commit of the uncommitted changes the agent began with that the branch has by now; "" for none
}

// newAsker returns an asker for a branch whose landings are known.
func newAsker(w work, led *ledger, t target, again bool) *asker {
	return &asker{work: w, led: led, t: t, again: again, line: led.lives.line(led.lives[w.agent.TurnSession].now)}
}

// mine reports whether a landing is by the agent, or by an agent whose work it goes on with.
func (a *asker) mine(one *Stand) bool {
	return one.TurnSession == a.agent.TurnSession || slices.Contains(a.line, one.point())
}

// point returns the point at the end of a turn, or for 0 the point that the present state came
// from.
func (a *asker) point(turn int) point {
	if turn > 0 {
		return point{turnSession: a.agent.TurnSession, turn: turn}
	}
	return a.led.lives[a.agent.TurnSession].now
}

// lineOf returns the points that led to a state.
func (a *asker) lineOf(one state) []point {
	if one.at == nil {
		return nil
	}
	return a.led.lives.line(*one.at)
}

// tipNode returns the node of the branch with all that has landed in it.
func (a *asker) tipNode() string { return "tip for " + a.agent.Name }

// state is a state of an agent that is asked about.
type state struct {
	commit string
	at     *point // place of the state in the agent's life; nil for a commit that is known by its own history only
}

// region is the part of git's history between some commits and a common ancestor.
type region struct {
	tips    []string
	root    string // common ancestor, "" for none
	parents map[string][]string
}

// unrelated returns the error for a state without a common ancestor with the branch.
func (a *asker) unrelated() error {
	if a.session.Host != "" {
		return notAClone(a.name(), a.t)
	}
	return errs.New(errs.Refused, "%s: has no history in common with %s", a.name(), a.t.branch).Hint("git log %s", errs.Quote(a.agent.Branch))
}

// notAClone returns the error for work of another machine without a common commit with the branch.
func notAClone(name string, t target) error {
	host, _, _ := strings.Cut(name, ":")
	return errs.New(errs.Refused, "%s: no common commit with %s: is it a clone of this repository?", name, t.branch).Hint("paw host doctor %s", host)
}
