package observe

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"paw/orchestrator/errs"
	"paw/session"
)

// TestInterruptedLookIsNoSilence: tmux that was not heard because the user has interrupted the command says nothing of the agent.
func TestInterruptedLookIsNoSilence(t *testing.T) {
	f := Facts{
		Session: &session.Session{Name: "s"}, Tmux: session.TmuxUnknown, TmuxErr: fmt.Errorf("tmux list-panes: %w", context.Canceled),
		Agents: []Agent{{Record: session.Agent{Name: "a"}, Lock: session.AgentLock{State: session.LockHeld}}},
	}
	var said *errs.Error
	if err := RefuseSilent(f, []string{"a"}); !errors.Is(err, context.Canceled) || errors.As(err, &said) {
		t.Errorf("%v", err)
	}
	f.TmuxErr = errors.New("no answer")
	if err := RefuseSilent(f, []string{"a"}); !errors.As(err, &said) || said.Kind != errs.Refused {
		t.Errorf("%v", err)
	}
}
