package orchestrator

import (
	"fmt"
	"slices"
	"time"

	"paw/config/display"
	"paw/orchestrator/observe"
	"paw/session"
	"paw/session/turn"
)

// Happened is one thing that has happened to an agent, for people.
type Happened struct {
	At    time.Time
	Agent string
	What  string // one line, such as "landed in main: Fuzzy search"
	Bad   bool   // the agent has failed, was cut or stands still
}

// HappenedIn returns what a look at a session shows of the past, the oldest first: its landings, and
// what the last turn of each agent has met. It reads nothing.
func HappenedIn(st observe.SessionStatus) []Happened {
	var all []Happened
	for _, l := range st.Session.Landings {
		switch l.Phase {
		case session.LandingDone:
			all = append(all, Happened{l.At, l.Agent, fmt.Sprintf("landed in %s: %s", l.Target, display.OneLine(l.Title)), false})
		case session.LandingUndone:
			all = append(all, Happened{l.At, l.Agent, fmt.Sprintf("landed in %s, and was taken back: %s", l.Target, display.OneLine(l.Title)), false})
		case session.LandingBegun, session.LandingUndoes:
		}
	}
	for _, a := range st.Seen.Agents {
		if last := a.Turns.Last; last != nil {
			all = append(all, happenedIn(a.Record.Name, last)...)
		}
	}
	slices.SortStableFunc(all, func(a, b Happened) int { return a.At.Compare(b.At) })
	return all
}

func happenedIn(agent string, last *turn.Record) (all []Happened) {
	if one := last.Answered; one != nil {
		all = append(all, Happened{one.Since, agent, "was answered: " + display.OneLine(one.Question), false})
	}
	switch {
	case last.Waiting && last.WaitingSince != nil:
		all = append(all, Happened{*last.WaitingSince, agent, "asks: " + display.OneLine(last.Question), false})
	case last.Limit != nil && last.LimitedSince != nil:
		all = append(all, Happened{*last.LimitedSince, agent, "usage limit: " + display.OneLine(display.FirstLine(last.ErrorMessage)), true})
	case last.EndedAt == nil:
	case last.State == turn.Finished:
		all = append(all, Happened{*last.EndedAt, agent, fmt.Sprintf("turn %d done: %s", last.Number, display.OneLine(display.FirstLine(last.Message))), false})
	case last.Reason == turn.ReasonError:
		all = append(all, Happened{*last.EndedAt, agent, fmt.Sprintf("turn %d failed: %s", last.Number, display.OneLine(display.FirstLine(last.ErrorMessage))), true})
	default:
		all = append(all, Happened{*last.EndedAt, agent, fmt.Sprintf("turn %d: %s", last.Number, last.Reason), last.Cut()})
	}
	return all
}
