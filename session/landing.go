package session

import (
	"fmt"
	"slices"
	"time"
)

// LandingPhase is how far a landing is; it is saved before the deed.
type LandingPhase string

// The phases of a landing. One that did not take place is not in the record.
const (
	LandingBegun  LandingPhase = "landing"
	LandingDone   LandingPhase = "landed"
	LandingUndoes LandingPhase = "undoing"
	LandingUndone LandingPhase = "undone"
	// LandingOffered is a state that collided with its target and was offered for a merge by hand.
	LandingOffered LandingPhase = "offered"
)

// Landing is one act of bringing the state of an agent into a branch.
type Landing struct {
	ID          int          `json:"id"` // counts in the session
	Agent       string       `json:"agent"`
	TurnSession string       `json:"turn_session"`
	Target      string       `json:"target"`             // branch
	Checkout    string       `json:"checkout,omitempty"` // directory that had the target checked out, "" for none
	Before      string       `json:"before"`             // commit of the target
	After       string       `json:"after"`
	State       string       `json:"state"`           // commit of what landed
	Turn        int          `json:"turn,omitempty"`  // the state is that of its end, 0 for that of the moment
	Turns       string       `json:"turns,omitempty"` // that it brought, such as "1-4"
	LastTurn    int          `json:"last_turn,omitempty"`
	As          string       `json:"as"`
	Files       int          `json:"files"`
	Title       string       `json:"title"`
	At          time.Time    `json:"at"`
	Phase       LandingPhase `json:"phase"`
	// Began is what the user had not committed and the agent began with, "" for none: the agent may be gone when others land.
	Began string `json:"began,omitempty"`
	// Handed is a commit of Before with the files of the checkout that were not committed and landed as they were handed over to the
	// agent, "" for none: to undo the landing puts them back.
	Handed string `json:"handed,omitempty"`
	// Instead are the numbers of earlier landings of the agent that its target had lost, whose work this one brings again.
	Instead []int `json:"instead,omitempty"`
}

// Landing returns the landing of that number for reading or changing in place, or nil.
func (s *Session) Landing(id int) *Landing {
	for i := range s.Landings {
		if s.Landings[i].ID == id {
			return &s.Landings[i]
		}
	}
	return nil
}

// NextLanding is the number of the next landing.
func (s *Session) NextLanding() int {
	next := 1
	for _, l := range s.Landings {
		next = max(next, l.ID+1)
	}
	return next
}

// DropLanding takes a landing that did not take place out of the record.
func (s *Session) DropLanding(id int) {
	s.Landings = slices.DeleteFunc(s.Landings, func(l Landing) bool { return l.ID == id })
}

func landingFault(host string, l *Landing) string {
	if nameFault(l.Agent) != "" || turnSessionFault(host, l.TurnSession) != "" {
		return "agent: " + nameFault(l.Agent) + turnSessionFault(host, l.TurnSession)
	}
	if reason := pathFault(l.Checkout); reason != "" {
		return "checkout: " + reason
	}
	if !slices.Contains([]LandingPhase{LandingBegun, LandingDone, LandingUndoes, LandingUndone, LandingOffered}, l.Phase) {
		return fmt.Sprintf("unknown phase %q", l.Phase)
	}
	return textFault(l.Target, l.Title)
}
