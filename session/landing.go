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
	// LandingOffered is no landing: an older paw wrote it for a state that it offered for a merge by hand.
	LandingOffered LandingPhase = "offered"
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
	Files       int          `json:"files"`
	Title       string       `json:"title"`
	At          time.Time    `json:"at"`
	Phase       LandingPhase `json:"phase"`
	// Twin is the state in the agent's chain, "" if written by an older paw.
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
	if !slices.Contains([]LandingPhase{LandingBegun, LandingDone, LandingUndoes, LandingUndone, LandingOffered}, l.Phase) {
		return fmt.Sprintf("unknown phase %q", l.Phase)
	}
	return textFault(l.Target, l.Title)
}

// Rewound records the last rewind of a worktree: the turn to whose end it was put (0 for its base),
// and the turn at whose end it was before. The record is valid while Last is still the agent's last
// turn, and HEAD is still where the rewind, or an update since, has put it.
type Rewound struct {
	To   int    `json:"to"`
	From int    `json:"from"`
	Last int    `json:"last"`
	Head string `json:"head,omitempty"` // HEAD after the rewind, "" if written by an older paw
}

// At returns the turn at whose end the worktree is; last is the number of the agent's last turn.
func (r *Rewound) At(last int) int {
	if r == nil || r.Last != last {
		return last
	}
	return r.To
}

// MovedTo records that paw itself has moved HEAD of the worktree.
func (r *Rewound) MovedTo(head string) {
	if r != nil {
		r.Head = head
	}
}

// Stands reports whether only paw has moved HEAD since the rewind.
func (r *Rewound) Stands(head string) bool { return r != nil && (r.Head == "" || r.Head == head) }

// Shift records one move of a worktree: a rewind, an undo, or an update to a newer commit of the
// target.
type Shift struct {
	Kind     ShiftKind `json:"kind"`
	To       int       `json:"to,omitempty"`       // rewind: turn to whose end the worktree was put, 0 for its base
	Last     int       `json:"last,omitempty"`     // number of the agent's last turn at that time
	Landings int       `json:"landings,omitempty"` // highest landing number of the session at that time
	Rescue   string    `json:"rescue,omitempty"`   // rescue ref of the move, until the move is known to have taken place
	Head     string    `json:"head,omitempty"`     // HEAD after the move, as long as Rescue is set; of an update "" where it moves no rewound worktree
	Was      string    `json:"was,omitempty"`      // newest state in the chain before the move, "" for none, as long as Rescue is set
	Now      string    `json:"now,omitempty"`      // newest state in the chain after the move, as long as Rescue is set
}

// ShiftKind is the kind of a Shift.
type ShiftKind string

// Kinds of a Shift.
const (
	ShiftRewind ShiftKind = "rewind"
	ShiftUndo   ShiftKind = "undo" // undoes the last Shift, which may itself be an undo
	ShiftUpdate ShiftKind = "update"
	ShiftStay   ShiftKind = "stay" // nothing was put aside: a rewind to the current state, or a worktree made anew
)

// Shifted appends a Shift, with the highest landing number, to an agent's record. A repeated
// ShiftStay is not added again.
func (s *Session) Shifted(agent string, shift Shift) {
	w := s.Agent(agent)
	if w == nil {
		return
	}
	shift.Landings = s.NextLanding() - 1
	if n := len(w.Shifts); n == 0 || shift.Kind != ShiftStay || w.Shifts[n-1] != shift {
		w.Shifts = append(w.Shifts, shift)
	}
}

// Moving returns the last Shift while it is not known whether its move has taken place, else nil.
func (a *Agent) Moving() *Shift {
	if n := len(a.Shifts) - 1; n >= 0 && a.Shifts[n].Rescue != "" {
		return &a.Shifts[n]
	}
	return nil
}

// DropShift removes the last Shift, whose move did not take place.
func (a *Agent) DropShift() { a.Shifts = a.Shifts[:max(len(a.Shifts)-1, 0)] }

// SettleShift ends the last Shift if its move may have been interrupted: the Shift is kept, and
// sets Rewound, if the move took place; else the Shift is removed.
func (a *Agent) SettleShift(tookPlace func(rescue string) (bool, error)) {
	n := len(a.Shifts) - 1
	if n < 0 || a.Shifts[n].Rescue == "" {
		return
	}
	took, err := tookPlace(a.Shifts[n].Rescue)
	switch {
	case err != nil: // The worktree is gone.
	case took:
		a.rewoundBy(a.Shifts[n])
		a.Shifts = slices.Clone(a.Shifts)
		a.Shifts[n].Rescue, a.Shifts[n].Head, a.Shifts[n].Was, a.Shifts[n].Now = "", "", "", ""
	default:
		a.Shifts = a.Shifts[:n:n]
	}
}

// rewoundBy sets Rewound after the last Shift took place. An update, and undoing one, leave the
// worktree at the same turn.
func (a *Agent) rewoundBy(shift Shift) {
	switch last, _ := a.LastShift(); {
	case shift.Kind == ShiftUpdate && shift.Head == "":
	case shift.Kind == ShiftUpdate, shift.Kind == ShiftUndo && last != nil && last.Kind == ShiftUpdate:
		if a.Rewound != nil {
			moved := *a.Rewound
			moved.MovedTo(shift.Head)
			a.Rewound = &moved
		}
	case shift.Kind == ShiftRewind || shift.Kind == ShiftUndo:
		a.Rewound = &Rewound{To: shift.To, From: a.Rewound.At(shift.Last), Last: shift.Last, Head: shift.Head}
	}
}

// LastShift returns the Shift that --undo takes back, the last one that put something aside; undone
// says that --undo would redo it. LastShift returns nil if there is nothing to take back.
func (a *Agent) LastShift() (last *Shift, undone bool) {
	for i := len(a.Shifts) - 1; i >= 0; i-- {
		switch a.Shifts[i].Kind {
		case ShiftUndo:
			undone = !undone
		case ShiftStay:
		default:
			return &a.Shifts[i], undone
		}
	}
	return nil, false
}
