package live

import (
	"testing"

	"paw/session"
	"paw/session/turn"
)

func TestResult(t *testing.T) {
	finished := func(outcome string) *turn.Record {
		return &turn.Record{Number: 3, State: turn.Finished, Outcome: outcome, Message: "Add it"}
	}
	aborted := func(reason turn.Reason) *turn.Record {
		return &turn.Record{Number: 3, State: turn.Aborted, Reason: reason, ErrorMessage: "what went wrong", Message: "no"}
	}
	open := &turn.Record{Number: 3, State: turn.InProgress}
	idle := session.AgentStatus{State: session.StateIdle}
	suspended := func(reason string) session.AgentStatus {
		return session.AgentStatus{State: session.StateSuspended, Reason: reason}
	}
	closed := func(reason string) session.AgentStatus {
		return session.AgentStatus{State: session.StateSuspended, Reason: session.ReasonClosed + reason, Cause: session.CauseClosed}
	}
	stopped := session.AgentStatus{State: session.StateSuspended, Reason: "stopped", Cause: session.CauseStopped}
	killed := session.AgentStatus{State: session.StateError, Reason: "killed by signal 9 (SIGKILL)"}
	done := func(outcome, message string) *session.Done {
		return &session.Done{Turn: 3, Outcome: outcome, Message: message}
	}
	for name, c := range map[string]struct {
		status  session.AgentStatus
		exited  bool
		last    *turn.Record
		done    *session.Done
		outcome string
		message string
		failed  bool
	}{
		"finished":                     {status: idle, last: finished("success"), outcome: "success", message: "Add it"},
		"finished, its footer":         {status: idle, last: finished("partial"), outcome: "partial", message: "Add it"},
		"finished, its footer failure": {status: idle, last: finished("failure"), outcome: "failure", message: "Add it", failed: true},
		"interrupted":                  {status: idle, last: aborted(turn.ReasonInterrupted), outcome: "interrupted", message: "what went wrong", failed: true},
		"error":                        {status: session.AgentStatus{State: session.StateError, Reason: "x"}, last: aborted(turn.ReasonError), outcome: "error", message: "what went wrong", failed: true},
		"stopped in a turn":            {status: stopped, last: aborted(turn.ReasonStopped), outcome: "stopped", message: "what went wrong", failed: true},
		"stopped between turns":        {status: stopped, last: finished("success"), outcome: "success", message: "Add it"},
		"crashed in a turn":            {status: suspended("crash, in turn 3"), last: open, outcome: "crash", failed: true},
		"crashed between turns":        {status: suspended("crash"), last: finished("success"), outcome: "crash", failed: true},
		"closed between turns":         {status: closed(""), last: finished("success"), outcome: "success", message: "Add it"},
		"closed before any turn":       {status: closed(""), outcome: "closed"},
		"closed in a turn":             {status: closed(", in turn 3"), last: open, outcome: "closed", failed: true},
		"rebooted":                     {status: suspended("reboot"), outcome: "crash", failed: true},
		"stopped without a turn":       {status: stopped, outcome: "stopped"},
		"crashed and recovered":        {status: idle, last: aborted(turn.ReasonCrash), outcome: "crash", message: "what went wrong", failed: true},
		"exited":                       {status: session.AgentStatus{State: session.StateCompleted}, exited: true, outcome: "exited"},
		"exited after a turn":          {status: session.AgentStatus{State: session.StateCompleted}, exited: true, last: finished("success"), outcome: "success", message: "Add it"},
		"exited in a turn":             {status: session.AgentStatus{State: session.StateCompleted}, exited: true, last: aborted(turn.ReasonInterrupted), outcome: "interrupted", message: "what went wrong", failed: true},
		"killed":                       {status: killed, exited: true, last: open, outcome: "killed by signal 9 (SIGKILL)", failed: true},
		"killed in a turn":             {status: killed, exited: true, last: aborted(turn.ReasonInterrupted), outcome: "killed by signal 9 (SIGKILL)", message: "what went wrong", failed: true},
		"killed after a turn":          {status: killed, exited: true, last: finished("success"), outcome: "killed by signal 9 (SIGKILL)", message: "Add it", failed: true},
		"done":                         {status: idle, last: finished("success"), done: done("success", "all there"), outcome: "success", message: "all there"},
		"done, without a message":      {status: idle, last: finished("success"), done: done("good", ""), outcome: "good", message: "Add it"},
		"done with failure":            {status: idle, last: finished("success"), done: done("failure", "no"), outcome: "failure", message: "no", failed: true},
		"done with error":              {status: idle, last: finished("success"), done: done("error", "no"), outcome: "error", message: "no", failed: true},
		"done, the turn's outcome":     {status: idle, last: finished("partial"), done: done("", "all there"), outcome: "partial", message: "all there"},
		"done, then interrupted":       {status: idle, last: aborted(turn.ReasonInterrupted), done: done("success", "all there"), outcome: "success", message: "all there"},
		"done, then killed":            {status: killed, exited: true, last: open, done: done("success", "all there"), outcome: "killed by signal 9 (SIGKILL)", message: "all there", failed: true},
		"done, then asked for more":    {status: idle, last: finished("partial"), done: &session.Done{Turn: 2, Outcome: "success"}, outcome: "partial", message: "Add it"},
		"at work":                      {status: session.AgentStatus{State: session.StateRunning}, last: open},
	} {
		t.Run(name, func(t *testing.T) {
			f := Facts{
				Branch: Branch{"/r", "paw/s/a"}, Record: session.Agent{Name: "a", CLI: "demo", Done: c.done},
				Status: c.status, Exited: c.exited, Last: c.last,
			}
			want := Result{Agent: "a", CLI: "demo", Branch: "paw/s/a", Outcome: c.outcome, Failed: c.failed, Message: c.message}
			if c.last != nil && name != "crashed between turns" {
				want.Turn = 3
			}
			if got := f.Result(); got != want {
				t.Errorf("got  %+v\nwant %+v", got, want)
			}
		})
	}
}
