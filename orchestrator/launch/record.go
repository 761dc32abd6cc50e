package launch

import (
	"cmp"
	"slices"

	"paw/session"
)

// Intend writes the plan for one agent into its record, before anything is
// made. Ids are only ever added; the one of the plan is dropped when another paw
// chose in the meantime.
func Intend(w *session.Agent, j Job) {
	if w == nil || j.Result == ResultRefused || j.Result == ResultStopped {
		return
	}
	if j.Result == ResultCompleted {
		if w.Phase == session.PhaseLive {
			w.Phase = session.PhaseExited
		}
		return
	}
	if w.Conversation() == j.planned {
		w.AddConversation(cmp.Or(j.found, j.chosen))
	}
	if w.Phase == session.PhaseStopping || w.Phase == session.PhaseStopped || w.Phase == session.PhaseExited {
		w.Phase = session.PhaseLive
	}
}

// DropAgent takes an agent out of a record.
func DropAgent(s *session.Session, name string) {
	s.Agents = slices.DeleteFunc(s.Agents, func(w session.Agent) bool { return w.Name == name })
	for i := range s.Agents {
		// A later agent of that name has not started them.
		if s.Agents[i].Parent == name {
			s.Agents[i].Parent = ""
		}
	}
}
