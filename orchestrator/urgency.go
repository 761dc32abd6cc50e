package orchestrator

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/observe"
	"paw/session"
)

// Group says what an agent needs from the user, the most urgent group first.
type Group int

// Groups of agents, in order of urgency.
const (
	NeedsYou Group = iota // the agent waits for an answer, has failed, has crashed, or has reached a usage limit
	ToReview              // the agent has finished turns that the user has not seen
	Working
	Quiet
)

// GroupOf returns the group of an agent.
func GroupOf(ag observe.AgentStatus) Group {
	if ag.Limit != nil || ag.CutTurn != 0 {
		return NeedsYou
	}
	switch ag.State {
	case session.StateWaitingInput, session.StateError:
		return NeedsYou
	case session.StateSuspended:
		if ag.Cause != session.CauseStopped && ag.Cause != session.CauseClosed { // the user knows of a stop
			return NeedsYou
		}
	case session.StateRunning, session.StateWaitingChildren, session.StateUnknown:
		return Working
	case session.StateIdle, session.StateCompleted:
	}
	if ag.ToReview > 0 {
		return ToReview
	}
	return Quiet
}

// Urgent is an agent that needs the user and can be attached to.
type Urgent struct {
	Session *session.Session
	Agent   observe.AgentStatus
	Group   Group
}

// Urgents returns the agents that need the user or have turns to review, and that have a pane or
// are on another host. Those that wait for an answer come first, and within a group the longest
// wait.
func Urgents(statuses []observe.SessionStatus) []Urgent {
	var all []Urgent
	for _, st := range statuses {
		for _, ag := range st.Agents {
			group := GroupOf(ag)
			if group <= ToReview && (ag.PaneID != "" || st.Session.Host != "") && st.Status == session.StatusActive {
				all = append(all, Urgent{Session: st.Session, Agent: ag, Group: group})
			}
		}
	}
	waits := func(u Urgent) int {
		if u.Agent.State == session.StateWaitingInput {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(all, func(a, b Urgent) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(waits(a), waits(b)), sinceOf(a).Compare(sinceOf(b)))
	})
	return all
}

// sinceOf returns the time since which an agent is in its state, a far future one if unknown.
func sinceOf(u Urgent) time.Time {
	if u.Agent.Since == nil {
		return time.Unix(1<<40, 0)
	}
	return *u.Agent.Since
}

// Next returns the agent of any session that needs the user most, or nil and a sentence about the
// agents of this repository. If the current pane is that of an urgent agent, it returns the one
// after it, so that repeated calls visit all of them. far returns the sessions of other machines.
func Next(ctx context.Context, h *app.App, far func() []observe.SessionStatus) (next *Urgent, nobody string, problems []error, err error) {
	statuses, problems, err := Status(ctx, h, StatusOptions{All: true})
	if err != nil {
		return nil, "", problems, err
	}
	statuses = append(statuses, far()...)
	if next = nextOf(Urgents(statuses), h.Getenv("TMUX_PANE")); next != nil {
		return next, "", problems, nil
	}
	here, _ := h.Place().Sessions()
	return nil, nobodyNeedsYou(statuses, here), problems, nil
}

// nobodyNeedsYou returns the sentence that no agent needs the user, with the states of the agents
// in the sessions of this repository, or of all sessions if it has none.
func nobodyNeedsYou(statuses []observe.SessionStatus, here []*session.Session) string {
	shown := slices.DeleteFunc(slices.Clone(statuses), func(st observe.SessionStatus) bool {
		return !slices.ContainsFunc(here, func(s *session.Session) bool { return s.Name == st.Session.Name })
	})
	if len(shown) == 0 {
		shown = statuses
	}
	var words []string
	by := map[string][]string{}
	for _, st := range shown {
		for _, ag := range st.Agents {
			word := StateWord(ag.AgentStatus)
			if by[word] == nil {
				words = append(words, word)
			}
			by[word] = append(by[word], ag.Record.Name)
		}
	}
	text := "nobody needs you"
	for i, word := range words {
		names := by[word]
		who := strings.Join(names, ", ")
		if len(names) > maxNamed {
			who = errs.Counted(len(names), "agent")
		}
		sign := ", "
		if i == 0 {
			sign = "; "
		}
		text += sign + who + ": " + word
	}
	return text
}

// maxNamed limits the agents that a sentence names; more are only counted.
const maxNamed = 3

// nextOf returns the first of the agents or, if one of them has the pane here, the one after it.
func nextOf(all []Urgent, here string) *Urgent {
	if len(all) == 0 {
		return nil
	}
	at := slices.IndexFunc(all, func(u Urgent) bool { return here != "" && u.Agent.PaneID == here })
	return &all[(at+1)%len(all)]
}

// WaitingIn returns the agent of a session that has waited longest for an answer, "" if none waits.
func WaitingIn(ctx context.Context, h *app.App, s *session.Session) string {
	statuses, _, err := Status(ctx, h, StatusOptions{Name: s.Name})
	if err != nil {
		return ""
	}
	for _, u := range Urgents(statuses) {
		if u.Agent.State == session.StateWaitingInput {
			return u.Agent.Record.Name
		}
	}
	return ""
}
