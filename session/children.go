package session

import (
	"slices"
	"time"
)

// Wait records the children that a parent waits for. paw owes the parent one prompt that tells how
// they ended; the Wait stays in the record until the parent has got the prompt.
type Wait struct {
	ID       string    `json:"id"` // part of the prompt's text: a turn that starts with it proves that the prompt arrived
	Children []string  `json:"children"`
	Any      bool      `json:"any,omitempty"` // the first end of a child is enough
	Since    time.Time `json:"since"`
	// Launch is the generation of the launch that waits; 0 if written by an older paw. Generations
	// are compared since clocks can be set back.
	Launch int `json:"launch,omitempty"`
	// Resumed is set when the parent was brought back while it waited, else nil.
	Resumed *Resumed `json:"resumed,omitempty"`
	// TypedAt is when paw began to type the prompt. From then on the prompt is never typed again,
	// even if it did not arrive.
	TypedAt *time.Time `json:"typed_at,omitempty"`
	// Telling maps each child in the typed prompt to the number of its last turn at that time.
	Telling map[string]int `json:"telling,omitempty"`
}

// Resumed lists the children that had ended when a waiting parent was brought back: no later end
// will prompt the parent for them.
type Resumed struct {
	Launch int            `json:"launch"` // generation of the launch that brought the parent back
	Ended  map[string]int `json:"ended"`  // child -> number of its last turn, as in Wait.Telling
}

// Done is an agent's own statement that its work is finished. A statement holds for the turn in
// which it was made; a later turn takes the statement back.
type Done struct {
	Turn    int       `json:"turn"`
	Outcome string    `json:"outcome"`
	Message string    `json:"message,omitempty"`
	At      time.Time `json:"at"`
}

// Children returns the names of the agents whose parent is parent, in the order of the record.
func (s *Session) Children(parent string) []string {
	var names []string
	for i := range s.Agents { // By index: copying each agent would take most of the time of a status of many agents.
		if w := &s.Agents[i]; parent != "" && w.Parent == parent {
			names = append(names, w.Name)
		}
	}
	return names
}

// Descendants returns the children of an agent, their children, and so on; a parent comes before
// its children. Cycles in a damaged record are broken.
func (s *Session) Descendants(agent string) []string {
	var names []string
	for next := s.Children(agent); len(next) > 0; {
		name := next[0]
		next = next[1:]
		if name == agent || slices.Contains(names, name) {
			continue
		}
		names = append(names, name)
		next = append(next, s.Children(name)...)
	}
	return names
}

// Depth returns the number of an agent's ancestors in the session, 0 for one that the user started.
func (s *Session) Depth(agent string) int {
	seen := []string{agent}
	for {
		w := s.Agent(seen[len(seen)-1])
		if w == nil || w.Parent == "" || slices.Contains(seen, w.Parent) || s.Agent(w.Parent) == nil {
			return len(seen) - 1
		}
		seen = append(seen, w.Parent)
	}
}

// SettleWait ends a parent's wait after its prompt was typed. The children in the prompt count as
// told even if it did not arrive, since it is never typed again.
func (s *Session) SettleWait(agent string) {
	parent := s.Agent(agent)
	if parent == nil || parent.Wait == nil {
		return
	}
	for name, turn := range parent.Wait.Telling {
		child := s.Agent(name)
		if child == nil || child.Told >= turn && child.Told != 0 {
			continue
		}
		child.Told = turn
	}
	parent.Wait = nil
}
