package children

import (
	"errors"
	"testing"
	"time"

	"paw/orchestrator/errs"
	"paw/orchestrator/live"
	"paw/session"
)

func TestVerdictOfAWait(t *testing.T) {
	in := func(name string, state session.State, finished, failed bool) Awaited {
		return Awaited{Result: live.Result{Agent: name, Failed: failed}, Status: session.AgentStatus{State: state}, Finished: finished}
	}
	ok, bad := in("ok", session.StateIdle, true, false), in("bad", session.StateError, true, true)
	busy, asks := in("busy", session.StateRunning, false, false), in("asks", session.StateWaitingInput, false, false)
	fresh := in("fresh", session.StateIdle, false, false)
	removed := Awaited{Result: live.Removed("gone"), Finished: true}
	for name, c := range map[string]struct {
		agents []Awaited
		named  bool
		any    bool
		enough bool // nobody is waited for any longer
		asks   bool // and neither is it here
		kind   errs.Kind
		says   string
	}{
		"all finished":                {agents: []Awaited{ok, ok, removed}, enough: true},
		"one failed":                  {agents: []Awaited{ok, bad}, enough: true, kind: errs.AgentFailed, says: "bad: failed"},
		"one busy":                    {agents: []Awaited{ok, busy, bad}, kind: errs.Timeout, says: "busy: not finished after 1m0s"},
		"one busy, any":               {agents: []Awaited{ok, busy}, any: true, enough: true},
		"one failed, one busy, any":   {agents: []Awaited{bad, busy}, any: true, enough: true, kind: errs.AgentFailed, says: "bad: failed"},
		"all busy, any":               {agents: []Awaited{busy, busy}, any: true, kind: errs.Timeout, says: "busy, busy: not finished after 1m0s"},
		"one asks":                    {agents: []Awaited{ok, busy, asks}, asks: true, kind: errs.Waiting, says: "asks: waits for your answer"},
		"one asks, one finished, any": {agents: []Awaited{ok, asks}, any: true, enough: true, asks: true},
		"one asks, one busy, any":     {agents: []Awaited{busy, asks}, any: true, asks: true, kind: errs.Waiting, says: "asks: waits for your answer"},
		"one asks, one failed":        {agents: []Awaited{bad, asks}, asks: true, kind: errs.Waiting, says: "asks: waits for your answer"},
		"one was never asked":         {agents: []Awaited{ok, fresh}, enough: true},
		"one was never asked, busy":   {agents: []Awaited{busy, fresh}, kind: errs.Timeout, says: "busy: not finished after 1m0s"},
		"one was never asked, named":  {agents: []Awaited{ok, fresh}, named: true, kind: errs.Timeout, says: "fresh: not finished after 1m0s"},
		"none was asked":              {agents: []Awaited{fresh, fresh}, enough: true},
		"none was asked, named":       {agents: []Awaited{fresh, fresh}, named: true, kind: errs.Timeout, says: "fresh, fresh: not finished after 1m0s"},
		"one failed, one never asked": {agents: []Awaited{bad, fresh}, enough: true, kind: errs.AgentFailed, says: "bad: failed"},
	} {
		t.Run(name, func(t *testing.T) {
			w := &Waited{Session: "shop", Agents: c.agents, Anybody: !c.named}
			if got := w.enough(c.any); got != c.enough {
				t.Errorf("enough %t, want %t", got, c.enough)
			}
			if got := w.needsUser() != nil; got != c.asks {
				t.Errorf("somebody asks: %t, want %t", got, c.asks)
			}
			err := w.Verdict(WaitOptions{Any: c.any, Timeout: time.Minute})
			var e *errs.Error
			switch {
			case c.kind == 0 && err != nil:
				t.Errorf("got %v", err)
			case c.kind != 0 && (!errors.As(err, &e) || e.Kind != c.kind || e.Message != c.says):
				t.Errorf("got %v, want %q of kind %d", err, c.says, c.kind)
			}
		})
	}
}
