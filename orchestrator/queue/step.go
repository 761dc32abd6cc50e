package queue

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"paw/orchestrator/live"
	"paw/session"
	"paw/session/turn"
)

// Kind is the kind of a step.
type Kind string

// The kinds of steps. Those before StepFinish do something outside of the queue, one at a time; the
// others are only recorded.
const (
	StepPrompt   Kind = "prompt"   // type the text of a task to an agent
	StepStart    Kind = "start"    // start the agent of a task
	StepContinue Kind = "continue" // prompt an agent whose limit is lifted
	StepHandover Kind = "handover" // start an agent that takes over from a limited one
	StepCheck    Kind = "check"    // run the check of a task
	StepAsk      Kind = "ask"      // ask the server for the checks of the agent's pull request
	StepArm      Kind = "arm"      // set a timer, since something is due later
	StepLook     Kind = "look"     // look again at once: an agent is about to begin, to end or to take a prompt

	StepFinish Kind = "finish" // the task is done or has failed
	StepHold   Kind = "hold"   // the task, agent or account begins nothing for now
	StepBegun  Kind = "begun"  // the turn of a task has begun
	StepWait   Kind = "wait"   // the task waits again
)

// Step is one action of a queue.
type Step struct {
	Do    Kind
	ID    string // id of the task
	Agent string
	CLI   string
	Why   string
	Until time.Time // for StepArm, when something is due; zero for unknown
}

// Acts reports whether a step does something outside of the queue that must happen at most once.
func (s Step) Acts() bool {
	return slices.Contains([]Kind{StepPrompt, StepStart, StepContinue, StepHandover}, s.Do)
}

// String describes a step for the user.
func (s Step) String() string {
	switch s.Do {
	case StepPrompt:
		return fmt.Sprintf("type %s to %s", s.ID, s.Agent)
	case StepStart:
		return fmt.Sprintf("start %s for %s", s.CLI, s.ID)
	case StepContinue:
		return fmt.Sprintf("%s goes on with %s: its limit is lifted", s.Agent, s.ID)
	case StepHandover:
		return fmt.Sprintf("start %s, which takes %s over from %s", s.CLI, s.ID, s.Agent)
	case StepCheck:
		return fmt.Sprintf("run the check of %s on the work of %s", s.ID, s.Agent)
	case StepAsk:
		return fmt.Sprintf("ask for the checks of the pull request of %s, for %s", s.Agent, s.ID)
	case StepArm:
		if s.Until.IsZero() {
			return "look again while something runs"
		}
		return "look again until " + s.Until.Local().Format("2 Jan 15:04")
	case StepLook:
		if s.ID == "" {
			return "look again at once: " + s.Why
		}
		return fmt.Sprintf("look at %s again at once, for %s: %s", s.Agent, s.ID, s.Why)
	case StepFinish, StepHold, StepBegun, StepWait:
	}
	of := s.ID
	if of == "" {
		of = s.Agent + s.CLI
	}
	return fmt.Sprintf("%s: %s", of, s.Why)
}

// Facts holds the input of a decision about a queue, apart from the queue itself.
type Facts struct {
	Agents map[string]Agent
	CLIs   map[string]CLI // CLIs with which a task or a hand-over may start an agent
	Max    int            // number of agents that the queue keeps at work
	Cap    int            // number of agents that may run at the same time in all sessions, 0 for no limit
	Runs   int            // number of agents that run, where Cap is set
	Starts int            // number of launches and prompts that the queue may make in one session
	Limits Limits
	Pace   Pace
	Down   string // why nothing can begin in the session, "" if something can
	// Looking means that the caller changes nothing: another process may be starting an agent or
	// typing just now.
	Looking bool
}

// Limits configures what happens to a turn that a usage limit has ended.
type Limits struct {
	Continue bool     // type the configured prompt once the limit is lifted
	HandOver []string // CLIs of which the first installed one takes the task over
	Times    int      // maximal number of attempts in a row
}

// Pace has the delays of a queue; only tests change them.
type Pace struct {
	Delay  time.Duration // delay after the end of a limit
	Spread time.Duration // maximal addition to Delay; the addition depends on the agent's name
	Every  time.Duration // time between two looks while a task is due later
	Again  time.Duration // delay after a limit with an unknown end
	GiveUp time.Duration // time after the first of several such limits, or questions without an answer, until the queue gives up
	Proof  time.Duration // time that a turn must last so that its start has not failed
	Ask    time.Duration // time between two questions to the server of a pull request
}

// UsualPace has the delays outside of tests.
var UsualPace = Pace{Delay: time.Minute, Spread: 30 * time.Second, Every: time.Minute, Again: 15 * time.Minute, GiveUp: 6 * time.Hour, Proof: quickly, Ask: 3 * time.Minute}

// CLI describes a CLI that could be started now.
type CLI struct {
	Installed bool
	Account   string // account whose usage limit applies to the CLI
}

// Agent has the facts about one agent.
type Agent struct {
	CLI      string
	Account  string
	Status   session.AgentStatus
	Ready    live.Verdict // whether a prompt may be typed
	Running  bool         // the agent's CLI runs
	Exited   bool         // the CLI exited by itself, according to its dead pane or the record
	Gone     bool         // no process of the agent runs, and it has no pane
	Starting bool         // the agent is being made, or its first prompt has not begun a turn
	Launched time.Time    // launch time of a running CLI, zero when none runs
	Silent   time.Time    // launch time of a running CLI whose hooks have not reported yet
	SeenCut  int          // number of the last cut turn that the user has marked as seen
	Turns    []Turn       // turns since the queue knows the agent, at least the last one, oldest first
}

// Turn is one turn of an agent.
type Turn struct {
	turn.Record
	Task     string // id of the task that began the turn, "" for none
	Person   bool   // a person's prompt began the turn
	Answered bool   // the model had begun to answer, in a turn that a limit has ended
	Now      bool   // the turn belongs to the running launch
}

// of returns the turn of a task, nil where it is not known.
func (a Agent) of(t *session.Task) *Turn {
	for i := range a.Turns {
		one := &a.Turns[i]
		if t.Turn != 0 && one.Number == t.Turn || t.Turn == 0 && one.Task == t.ID && one.Number > t.Before {
			return one
		}
	}
	return nil
}

// ended reports whether the agent's CLI certainly does not run.
func (a Agent) ended() bool { return a.Exited || a.Gone }

// last returns the last turn, nil without turns.
func (a Agent) last() *Turn {
	if len(a.Turns) == 0 {
		return nil
	}
	return &a.Turns[len(a.Turns)-1]
}

// number returns the number of the last turn, 0 without turns.
func (a Agent) number() int {
	if last := a.last(); last != nil {
		return last.Number
	}
	return 0
}

// ended returns when a turn ended; for an open turn, the time of its last event.
func (t Turn) ended() time.Time {
	if t.EndedAt != nil {
		return *t.EndedAt
	}
	return cmp.Or(t.LastEventAt, t.StartedAt)
}
