package landing

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"paw/orchestrator/app"
	"paw/orchestrator/checks"
	"paw/session"
)

// CheckOptions are the options of paw check.
type CheckOptions struct {
	Turn     string
	Commands []string // in place of the configured checks
	Fresh    bool
	Handed   map[string]Handed // states of the agents of another machine, by name
}

// Checked is the result of paw check.
type Checked struct {
	Session, Agent string
	Commit, Place  string
	Commands       []string
}

// Check runs the project's checks on the exact state of an agent, in the check worktree.
func Check(ctx context.Context, h *app.App, s *session.Session, agentName string, o CheckOptions) (*Checked, error) {
	w, src, err := workToCheck(ctx, h, s, agentName, o)
	if err != nil {
		return nil, err
	}
	c := w.checker(o.Fresh)
	if c.Commands, err = checks.Some(h, agentName, o.Commands, fmt.Sprintf("paw check %s --shell", w.name())); err != nil {
		return nil, err
	}
	err = c.Run(ctx, src.State)
	if failed, ok := errors.AsType[*checks.Error](err); ok {
		return nil, failed.Of(w.name())
	}
	if err != nil {
		return nil, err
	}
	return &Checked{Session: s.Name, Agent: agentName, Commit: src.State, Commands: c.Commands}, nil
}

func (c *Checked) String() string {
	return fmt.Sprintf("%s/%s: passed %s", c.Session, c.Agent, strings.Join(c.Commands, ", "))
}

// Show brings the check worktree to the exact state of an agent, for the user to look at.
func Show(ctx context.Context, h *app.App, s *session.Session, agentName string, o CheckOptions) (*Checked, error) {
	w, src, err := workToCheck(ctx, h, s, agentName, o)
	if err != nil {
		return nil, err
	}
	place, unlock, err := w.checker(o.Fresh).Open(ctx, src.State)
	var failed *checks.Error
	switch {
	case errors.As(err, &failed): // the user looks at it all the same
		h.Notef("%v", failed)
		place = failed.Place
	case err != nil:
		return nil, err
	default:
		unlock()
	}
	return &Checked{Session: s.Name, Agent: agentName, Commit: src.State, Place: place}, nil
}

func workToCheck(ctx context.Context, h *app.App, s *session.Session, agentName string, o CheckOptions) (work, *source, error) {
	w, err := workOf(ctx, h, s, agentName, "check")
	if err != nil {
		return w, nil, err
	}
	w.handed, w.turn = o.Handed, o.Turn
	src, err := w.lookAtSource(ctx)
	return w, src, err
}

// checker returns what runs checks on the agent's work. fresh runs them also on what has passed them.
func (a asked) checker(fresh bool) *checks.Checker {
	return &checks.Checker{App: a.App, Session: a.Session, Repo: a.Repo, Fresh: fresh, Agent: a.Record.Name}
}
