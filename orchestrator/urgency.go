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

// Group says what an agent asks of the user. They are in the order in which they matter.
type Group int

// The groups.
const (
	NeedsYou Group = iota // waits for an answer, has failed, has crashed, or has reached a usage limit
	ToReview              // has finished turns that the user has not seen
	Working
	Quiet
)

// GroupOf is the group of an agent.
func GroupOf(ag observe.AgentStatus) Group {
	if ag.Limit != nil || ag.CutTurn != 0 {
		return NeedsYou
	}
	switch ag.State {
	case session.StateWaitingInput, session.StateError:
		return NeedsYou
	case session.StateSuspended:
		if ag.Cause != session.CauseStopped && ag.Cause != session.CauseClosed { // which the user knows
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

// Urgent is an agent that asks something of the user, and can be looked at.
type Urgent struct {
	Session *session.Session
	Agent   observe.AgentStatus
	Group   Group
}

// Urgents are the agents that need the user or have something to review, and a pane: those that wait for an answer first,
// of several the one that has waited longest.
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

// sinceOf is since when an agent is as it is; one of which nobody knows comes last.
func sinceOf(u Urgent) time.Time {
	if u.Agent.Since == nil {
		return time.Unix(1<<40, 0)
	}
	return *u.Agent.Since
}

// Next is the agent of any session that needs the user most, or nil and what the agents of this place do instead. Whoever looks at
// one of them already gets the one behind it, so that each comes up in turn. far are the sessions of other machines.
func Next(ctx context.Context, h *app.App, far func() []observe.SessionStatus) (next *Urgent, nobody string, problems []error, err error) {
	statuses, problems, err := Status(ctx, h, StatusOptions{All: true})
	if err != nil {
		return nil, "", problems, err
	}
	statuses = append(statuses, far()...)
	if next = nextOf(Urgents(statuses), h.Getenv("TMUX_PANE")); next != nil {
		return next, "", problems, nil
	}
	here, _ := h.SessionsHere()
	return nil, nobodyNeedsYou(statuses, here), problems, nil
}

// nobodyNeedsYou says that, and what the agents of the sessions of this place do, or those of all sessions where none is of this place.
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

// maxNamed limits the agents that are named in a sentence.
const maxNamed = 3

// nextOf is the first of the agents or, where one of them has the pane here, the one behind that.
func nextOf(all []Urgent, here string) *Urgent {
	if len(all) == 0 {
		return nil
	}
	at := slices.IndexFunc(all, func(u Urgent) bool { return here != "" && u.Agent.PaneID == here })
	return &all[(at+1)%len(all)]
}

// WaitingIn is the agent of a session that has waited longest for an answer, "" where none waits.
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
