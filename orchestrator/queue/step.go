package queue

import (
	"fmt"
	"time"
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
	switch s.Do {
	case StepPrompt, StepStart, StepContinue, StepHandover:
		return true
	case StepCheck, StepArm, StepLook, StepFinish, StepHold, StepBegun, StepWait:
	}
	return false
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
