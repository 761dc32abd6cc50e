package session

import (
	"maps"
	"slices"
	"time"
)

// Wait is what a parent waits for, and is owed: one prompt that tells how its children ended. It stays in the record
// until the parent has that prompt.
type Wait struct {
	ID       string    `json:"id"` // is in the text of the prompt: the start of a turn with it proves that it arrived
	Children []string  `json:"children"`
	Any      bool      `json:"any,omitempty"` // the first end is enough
	Since    time.Time `json:"since"`
	// Launch is the generation of the launch that waits, 0 where an older paw wrote this. Clocks can be set back.
	Launch int `json:"launch,omitempty"`
	// Resumed is what had ended when the parent was brought back while it waited, nil when it was not.
	Resumed *Resumed `json:"resumed,omitempty"`
	// TypedAt is when paw began to type the prompt. From then on it is never typed again, whatever became of it.
	TypedAt *time.Time `json:"typed_at,omitempty"`
	// Telling is what the typed prompt says of each child: the number of its last turn then.
	Telling map[string]int `json:"telling,omitempty"`
}

// Resumed is what a parent finds that is brought back: nobody prompts it for that by itself.
type Resumed struct {
	Launch int            `json:"launch"` // the generation in which the parent came back
	Ended  map[string]int `json:"ended"`  // the last turns of the children that had ended, as in Wait.Telling
}

// Clone makes a copy that shares nothing with w; that of nil is nil.
func (w *Wait) Clone() *Wait {
	if w == nil {
		return nil
	}
	c := *w
	c.Children, c.Telling = slices.Clone(w.Children), maps.Clone(w.Telling)
	if w.Resumed != nil {
		c.Resumed = &Resumed{Launch: w.Resumed.Launch, Ended: maps.Clone(w.Resumed.Ended)}
	}
	if w.TypedAt != nil {
		at := *w.TypedAt
		c.TypedAt = &at
	}
	return &c
}

// Done is an agent's own word that its work is finished. It holds for the turn in which it was said; a later turn takes
// it back.
type Done struct {
	Turn    int       `json:"turn"`
	Outcome string    `json:"outcome"`
	Message string    `json:"message,omitempty"`
	At      time.Time `json:"at"`
}

// Children returns the agents that name parent as theirs, in the order of the record.
func (s *Session) Children(parent string) []string {
	var names []string
	for i := range s.Agents { // by index: a copy of each is what status of many agents would take longest for
		if w := &s.Agents[i]; parent != "" && w.Parent == parent {
			names = append(names, w.Name)
		}
	}
	return names
}

// Descendants returns the children of an agent, their children, and so on; a parent comes before its children. A record
// in which agents are their own ancestors does no harm.
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

// Depth is how many ancestors an agent has in the session, 0 for one that the user started.
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

// SettleWait ends what an agent waits for, once its prompt was typed: the children it tells of have been told, whether
// or not it arrived, since it is never typed again.
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
