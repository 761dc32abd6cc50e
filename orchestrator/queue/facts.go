package queue

import (
	"cmp"
	"time"

	"paw/orchestrator/live"
	"paw/session"
	"paw/session/turn"
)

// Facts is everything that a decision about a queue is made from, beside the queue itself.
type Facts struct {
	Agents map[string]Agent
	CLIs   map[string]CLI // those that a task or a hand-over may be started with
	Max    int            // agents that the queue keeps at work at the same time
	Starts int            // launches and prompts of the queue in one session
	Limits Limits
	Pace   Pace
	Down   string // why nothing can begin in the session, "" for nothing
	// Looking: whoever asks changes nothing, and another process may be starting or typing just now.
	Looking bool
}

// Limits is what to do about a turn that a usage limit has ended.
type Limits struct {
	Continue bool     // type Prompt once the limit is lifted
	HandOver []string // CLIs of which one takes over instead
	Times    int      // how often in a row
}

// Pace is how long a queue waits. Only tests change it.
type Pace struct {
	Delay  time.Duration // behind the end of a limit
	Spread time.Duration // further, up to so long, by the name of the agent
	Every  time.Duration // between two looks while something is due later
	Again  time.Duration // behind a limit of which nobody tells the end
	GiveUp time.Duration // behind the first of such limits
}

// UsualPace is what a queue waits for its users.
var UsualPace = Pace{Delay: time.Minute, Spread: 30 * time.Second, Every: time.Minute, Again: 15 * time.Minute, GiveUp: 6 * time.Hour}

// CLI is a CLI that an agent could be started with now.
type CLI struct {
	Installed bool
	Account   string // whose usage limit it has
}

// Agent is what is known of one agent.
type Agent struct {
	CLI      string
	Account  string
	Status   session.AgentStatus
	Ready    live.Verdict // whether a prompt may be typed
	Running  bool         // its CLI runs
	Exited   bool         // its CLI has ended by itself, as its dead pane or its record shows
	Gone     bool         // nothing of it runs, and it has no pane
	Starting bool         // its first prompt is on the way, or it is being made
	Silent   time.Time    // when its CLI was launched, if that runs and no hook has reported since
	SeenCut  int          // number of the last cut turn that its user has marked as seen
	Turns    []Turn       // those that began since the queue knows the agent, and the last one, oldest first
}

// Turn is one turn of an agent.
type Turn struct {
	turn.Record
	Task     string // id of the task that began it, "" for none
	Person   bool   // somebody asked for it, who is not the queue
	Answered bool   // of a turn that a limit has ended: the model had begun to answer
	Now      bool   // it is of the launch that runs
}

// of is the turn of a task, nil where none is known.
func (a Agent) of(t *session.Task) *Turn {
	for i := range a.Turns {
		one := &a.Turns[i]
		if t.Turn != 0 && one.Number == t.Turn || t.Turn == 0 && one.Task == t.ID && one.Number > t.Before {
			return one
		}
	}
	return nil
}

// last is the last turn, nil without turns.
func (a Agent) last() *Turn {
	if len(a.Turns) == 0 {
		return nil
	}
	return &a.Turns[len(a.Turns)-1]
}

// number is that of the last turn, 0 without turns.
func (a Agent) number() int {
	if last := a.last(); last != nil {
		return last.Number
	}
	return 0
}

// ended is when a turn was over; of a turn that goes on it is the time of its last event.
func (t Turn) ended() time.Time {
	if t.EndedAt != nil {
		return *t.EndedAt
	}
	return cmp.Or(t.LastEventAt, t.StartedAt)
}
