package session

import "slices"

// Rewound says, in numbers of turns, at the end of which one a worktree was put, 0 being its base, and at the end of which one it
// was before. It holds as long as Last is the agent's last turn, and HEAD where the rewind or an update since has put it.
type Rewound struct {
	To   int    `json:"to"`
	From int    `json:"from"`
	Last int    `json:"last"`
	Head string `json:"head,omitempty"` // "" in the record of an older paw
}

// At is the turn at the end of which a worktree is as far as rewinds tell, where last is the number of its last turn.
func (r *Rewound) At(last int) int {
	if r == nil || r.Last != last {
		return last
	}
	return r.To
}

// MovedTo notes that paw itself has moved HEAD of the worktree.
func (r *Rewound) MovedTo(head string) {
	if r != nil {
		r.Head = head
	}
}

// Stands reports whether nobody but paw has moved HEAD of the worktree since the rewind.
func (r *Rewound) Stands(head string) bool { return r != nil && (r.Head == "" || r.Head == head) }

// Shift is one move of a worktree between states that it had before, or to a newer commit of the branch that work lands on.
type Shift struct {
	Kind     ShiftKind `json:"kind"`
	To       int       `json:"to,omitempty"`       // rewind: turn at whose end the worktree was put, 0 for its base
	Last     int       `json:"last,omitempty"`     // number of the agent's last turn at that time
	Landings int       `json:"landings,omitempty"` // highest number of a landing of the session at that time
	Rescue   string    `json:"rescue,omitempty"`   // of its move of files, until that is known to have taken place
}

// ShiftKind says what a Shift was.
type ShiftKind string

// The kinds of a Shift.
const (
	ShiftRewind ShiftKind = "rewind"
	ShiftUndo   ShiftKind = "undo" // of the last Shift, which may be an undo itself
	ShiftUpdate ShiftKind = "update"
	ShiftStay   ShiftKind = "stay" // a rewind to what the worktree was already, or a worktree made anew: nothing was put aside for an undo
)

// Shifted appends a Shift of an agent to its record. A ShiftStay that is repeated is the same one.
func (s *Session) Shifted(agent string, kind ShiftKind, to, last int, rescue string) {
	w := s.Agent(agent)
	if w == nil {
		return
	}
	shift := Shift{Kind: kind, To: to, Last: last, Landings: s.NextLanding() - 1, Rescue: rescue}
	if n := len(w.Shifts); n == 0 || kind != ShiftStay || w.Shifts[n-1] != shift {
		w.Shifts = append(w.Shifts, shift)
	}
}

// SettleShift ends the last Shift of an agent whose move may have been cut short: the Shift stays where the move took place, and goes
// otherwise.
func (a *Agent) SettleShift(tookPlace func(rescue string) (bool, error)) {
	n := len(a.Shifts) - 1
	if n < 0 || a.Shifts[n].Rescue == "" {
		return
	}
	took, err := tookPlace(a.Shifts[n].Rescue)
	switch {
	case err != nil: // the worktree is gone
	case took:
		a.Shifts = slices.Clone(a.Shifts)
		a.Shifts[n].Rescue = ""
	default:
		a.Shifts = a.Shifts[:n:n]
	}
}

// LastShift returns what --undo takes back: the last shift that put something aside, and whether it is undone already, so that
// --undo brings it again. It returns nil where there is nothing to take back.
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
