package orchestrator

import (
	"slices"
	"strings"

	"paw/orchestrator/fleet"
	"paw/orchestrator/home"
	"paw/session"
)

// Stopped is what stop found and did.
type Stopped struct {
	Session *session.Session
	Named   []string // what it was asked to stop
	Agents  []string // whose panes were ended
	GoOn    []string // agents that the named ones have started and that still run
	Whole   bool     // the session, not only some agents
	Already bool     // nothing was running
	Others  []string // tmux windows of the user that stay
}

// targets are the agents that end, in the order of the record.
func (o StopOptions) targets(s *session.Session) []string {
	all := home.AgentNames(s)
	if len(o.Agents) == 0 {
		return all
	}
	named := slices.Clone(o.Agents)
	if !o.Only {
		for _, name := range o.Agents {
			named = append(named, s.Descendants(name)...)
		}
	}
	return slices.DeleteFunc(all, func(name string) bool { return !slices.Contains(named, name) })
}

// goOn are the running descendants of agents that end, which do not end themselves.
func goOn(f fleet.Facts, targets []string) []string {
	var names []string
	for _, target := range targets {
		for _, name := range f.Session.Descendants(target) {
			a := f.Agent(name)
			if a.Lock.State != session.LockFree && !slices.Contains(targets, name) && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// String says in one line what stop did.
func (s *Stopped) String() string {
	var named, children []string
	for _, name := range s.Agents {
		if slices.Contains(s.Named, name) {
			named = append(named, name)
		} else {
			children = append(children, name)
		}
	}
	var text string
	switch {
	case s.Already:
		return s.Session.Name + " is stopped already; paw recover " + s.Session.Name + " brings it back"
	case s.Whole:
		return s.Session.Name + " stopped; branches, worktrees and conversations stay"
	case len(s.Agents) == 0:
		text = strings.Join(s.Named, ", ") + " did not run; paw recover " + strings.Join(append([]string{s.Session.Name}, s.Named...), " ") + kinds(len(s.Named), " brings it back", " brings them back")
	case len(children) == 0:
		text = strings.Join(named, ", ") + " stopped; branch, worktree and conversation stay"
	case len(named) == 0:
		text = strings.Join(s.Named, ", ") + " did not run; stopped " + kin(s.Named, children) + "; branches, worktrees and conversations stay"
	default:
		text = strings.Join(named, ", ") + " stopped, with " + kin(named, children) + "; branches, worktrees and conversations stay"
	}
	if len(s.GoOn) > 0 {
		text += "; still at work: " + kin(s.Named, s.GoOn)
	}
	return text
}

// kinds is one or many, by a number.
func kinds(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// kin names the children of agents.
func kin(parents, children []string) string {
	whose, what := "its", "child"
	if len(parents) > 1 {
		whose = "their"
	}
	if len(children) > 1 {
		what = "children"
	}
	return whose + " " + what + " " + strings.Join(children, ", ")
}

// StopOptions selects what to stop.
type StopOptions struct {
	Agents []string // none for the whole session
	Only   bool     // not the agents that these have started
}
