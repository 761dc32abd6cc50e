package states

import (
	"context"
	"maps"
	"slices"
)

// Ahead is what the chain of a state has that a branch has not.
type Ahead struct {
	Steps []Step   // oldest first
	Left  []string // commits that the chain has got and the branch has no more, newest first
	Root  string   // the commit with which the chain begins, if the branch does not have it
	Along []Step   // steps of other agents whose states the chain has got
	Later []string // of Question.Once, twins that a state of the chain led to
	led   []string // of those, the agent's own, and those that the state itself led to
	parts []line   // commits that the chain has got a part of
	has   map[string]bool
}

// Step is one step of a chain.
type Step struct {
	From, To string // twins, or the commit with which the chain begins
	Got      string // the commit that the step has got, "" for work
	Made     string // the twin of what the worktree's own commits have of To, "" for nothing
	Commit   string // the commit of Made
	Of       string // first word of the name of To: whose state it is
	Subject  string // of the commit To
	Instead  string // the state whose work To has, without what a branch has left; "" for any other
}

// None reports whether the branch has the state.
func (a Ahead) None() bool { return len(a.Steps) == 0 && a.Root == "" }

// Has reports whether a twin is one of those that the branch has not.
func (a Ahead) Has(twin string) bool { return a.has[twin] }

// Ahead finds what states have that a tip has not, with one git process for all of them. After it the trees of
// the tip, and of what the branch has of the chains, are known.
func (s *Store) Ahead(ctx context.Context, tip string, states ...string) ([]Ahead, error) {
	if len(states) == 0 {
		return nil, nil
	}
	all, err := s.lines(ctx, s.objects, slices.Concat([]string{"--topo-order", "--boundary", tip, "^" + tip + "^@"}, states, []string{"--"})...)
	if err != nil {
		return nil, err
	}
	known := map[string]line{}
	for _, one := range all {
		if !one.beyond && one.id != tip {
			known[one.id] = one
		}
	}
	var ahead []Ahead
	for _, state := range states {
		ahead = append(ahead, chainOf(known, state))
	}
	return ahead, nil
}

// chainOf follows a chain through the commits that a tip has not.
func chainOf(known map[string]line, state string) Ahead {
	a := Ahead{has: map[string]bool{}}
	at, there := known[state]
	for there && at.own && len(at.parents) > 0 {
		step, parents := Step{From: at.parents[0], To: at.id, Of: at.by, Subject: at.subject, Instead: at.of}, at.parents
		a.has[at.id], a.has[at.of] = true, at.of != ""
		if at.commit != "" {
			step.Made, step.Commit = at.id, at.commit
		}
		if at.partly {
			step.Made, parents = parents[len(parents)-1], parents[:len(parents)-1]
			a.has[step.Made] = known[step.Made].id != ""
			if _, ahead := known[step.From]; !a.has[step.Made] && ahead { // the branch has what was committed
				step = Step{From: step.Made, To: at.id, Of: at.by, Subject: at.subject}
			}
		}
		for _, got := range parents[1:] {
			switch step.Got = got; {
			case known[got].own: // another agent's work comes along
				other := chainOf(known, got)
				maps.Copy(a.has, other.has)
				a.Along = slices.Concat(a.Along, other.Steps, other.Along)
				a.Left, a.parts = append(a.Left, other.Left...), append(a.parts, other.parts...)
				if other.Root != "" {
					a.Left = append(a.Left, other.Root)
				}
			case known[got].id != "":
				if a.Left = append(a.Left, got); known[got].of != "" {
					a.parts = append(a.parts, known[got])
				}
			}
		}
		a.Steps = append(a.Steps, step)
		at, there = known[step.From]
	}
	if there {
		a.Root = at.id
	}
	slices.Reverse(a.Steps)
	return a
}

// whose returns the first word of the name of the newest step, "" for none.
func (a Ahead) whose() string {
	if len(a.Steps) == 0 {
		return ""
	}
	return a.Steps[len(a.Steps)-1].Of
}

// onTheWay reports whether a twin is one of the steps, or in led.
func (a Ahead) onTheWay(twin string) bool {
	return slices.Contains(a.led, twin) || slices.ContainsFunc(a.Steps, func(step Step) bool { return step.To == twin || step.Made == twin || step.Instead == twin })
}
