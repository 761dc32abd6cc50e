package session

import (
	"fmt"
	"slices"
	"time"
)

// LandingPhase is the progress of a landing. A phase is saved before the step it names is taken.
type LandingPhase string

// Phases of a landing. A landing that did not take place is removed from the record.
const (
	LandingBegun  LandingPhase = "landing"
	LandingDone   LandingPhase = "landed"
	LandingUndoes LandingPhase = "undoing"
	LandingUndone LandingPhase = "undone"
)

// Landing records one act of bringing an agent's state into a branch.
type Landing struct {
	ID          int          `json:"id"` // number of the landing in its session
	Agent       string       `json:"agent"`
	TurnSession string       `json:"turn_session"`
	Target      string       `json:"target"`             // branch that was landed on
	Checkout    string       `json:"checkout,omitempty"` // directory that had the target checked out, "" for none
	Before      string       `json:"before"`             // commit of the target before the landing
	After       string       `json:"after"`
	State       string       `json:"state"`           // commit of the state that landed
	Turn        int          `json:"turn,omitempty"`  // turn whose end the state is, 0 for a state between turns
	Turns       string       `json:"turns,omitempty"` // turns whose work landed, such as "1-4"
	LastTurn    int          `json:"last_turn,omitempty"`
	As          string       `json:"as"`
	Again       bool         `json:"again,omitempty"`   // it brought what reverts had taken out, too
	Without     int          `json:"without,omitempty"` // turn that it took out of the branch: it brought nothing, and has no state; 0 for none
	Files       int          `json:"files"`
	Title       string       `json:"title"`
	At          time.Time    `json:"at"`
	Phase       LandingPhase `json:"phase"`
	// Twin is the state in the agent's chain.
	Twin string `json:"twin,omitempty"`
	// Handed is a commit of Before plus those uncommitted files of the checkout that landed
	// unchanged since they were handed to the agent, "" for none. Undoing the landing puts the
	// files back.
	Handed string `json:"handed,omitempty"`
}

// Landing returns a pointer to the landing with that number, or nil.
func (s *Session) Landing(id int) *Landing {
	for i := range s.Landings {
		if s.Landings[i].ID == id {
			return &s.Landings[i]
		}
	}
	return nil
}

// NextLanding returns the number of the next landing.
func (s *Session) NextLanding() int {
	next := 1
	for _, l := range s.Landings {
		next = max(next, l.ID+1)
	}
	return next
}

// DropLanding removes a landing that did not take place.
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
	if !slices.Contains([]LandingPhase{LandingBegun, LandingDone, LandingUndoes, LandingUndone}, l.Phase) {
		return fmt.Sprintf("unknown phase %q", l.Phase)
	}
	return textFault(l.Target, l.Title)
}
