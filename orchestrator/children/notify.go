package children

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/live"
	"paw/orchestrator/observe"
	"paw/orchestrator/turns"
	"paw/session"
	"paw/session/turn"
)

// Notified tells for whom an agent waits from now on.
type Notified struct {
	Session  string
	Agent    string
	Children []string
	Ended    []string // children that have ended already
	Any      bool
}

// Notify records that the calling agent waits for its children, whose results come as a prompt. It
// returns at once and types nothing, since the caller is in the middle of a turn; the end of that
// turn delivers the results that are due then.
func Notify(ctx context.Context, h *app.App, o WaitOptions) (*Notified, error) {
	s, w, err := h.Place().Caller("wait --notify", "paw wait")
	if err != nil {
		return nil, err
	}
	if h, err = h.ConfiguredFor(s); err != nil {
		return nil, err
	}
	if err := app.RequireWritable(w, h.OwnDirs(), nil, ""); err != nil {
		return nil, err
	}
	return notify(ctx, h.Agent(s, w), o, observe.AskTmux(h))
}

// notify is Notify for a given agent; ask lists the panes.
func notify(ctx context.Context, a app.Agent, o WaitOptions, ask observe.AskPanes) (*Notified, error) {
	if err := childrenNamed(a.Session, a.Record.Name, o.Agents); err != nil {
		return nil, err
	}
	if a.Record.Wait != nil && a.Record.Wait.TypedAt != nil { // settle the earlier wait: its results must not come twice
		if err := turns.SettleWait(ctx, a.App, a.Session.Name, a.Record.Name, a.Record.Wait.ID); err != nil {
			return nil, err
		}
	}
	family, err := familyOf(ctx, a, ask)
	if err != nil {
		return nil, err
	}
	names := o.Agents
	if len(names) == 0 {
		names = family.Awaitable()
	}
	if len(names) == 0 {
		return nil, errs.New(errs.Failed, "%s: no child is at work", a.Record.Name).Hint("paw status %s", a.Session.Name)
	}
	wait := session.Wait{ID: uuid.Must(uuid.NewV7()).String(), Children: app.Once(names), Any: o.Any, Since: a.App.Now().UTC(), Launch: family.Parent.Launch}
	err = recordWait(ctx, a.App, a.Session.Name, a.Record.Name, wait)
	if errors.Is(err, turns.ErrSettled) { // the results of an earlier wait were typed just now
		if a.Session, err = a.App.Load(a.Session.Name); err == nil {
			a.Record, err = app.AgentNamed(a.Session, a.Record.Name)
		}
		if err == nil {
			return notify(ctx, a, o, ask)
		}
	}
	if err != nil {
		return nil, err
	}
	watchWaits(ctx, a.App, a.Session, []string{a.Record.Name})
	// The log is read after the wait was recorded: a hook that ended the turn before found no wait.
	if last, err := a.TurnDir().Last(); err != nil || last == nil || last.State != turn.InProgress || family.Parent.TurnsUnseen {
		a.App.Detach("deliver", live.Claim{}.Arguments(a.Session.Name, a.Record.Name)...) // no end of a turn starts the delivery
	}
	family.Parent.Record.Wait = &wait
	return &Notified{Session: a.Session.Name, Agent: a.Record.Name, Children: wait.Children, Ended: family.Ended(), Any: wait.Any}, nil
}

// childrenNamed refuses names that are no children of the agent.
func childrenNamed(s *session.Session, agentName string, names []string) error {
	for _, name := range names {
		w, err := app.AgentNamed(s, name)
		if err != nil {
			return err
		}
		if w.Parent != agentName {
			return errs.New(errs.Usage, "%s: is not a child of %s", name, agentName).Hint("paw wait %s", name)
		}
	}
	return nil
}

func familyOf(ctx context.Context, a app.Agent, ask observe.AskPanes) (live.Family, error) {
	branches := []live.Branch{{Repository: a.Session.GitCommonDir, Name: a.Record.Branch}}
	for _, child := range a.Session.Children(a.Record.Name) {
		branches = append(branches, live.Branch{Repository: a.Session.GitCommonDir, Name: a.Session.Agent(child).Branch})
	}
	sessions, err := live.NewRegistry(liveSource(a.App, a.Session.Name, ask, observe.NotAtScreens)).LoadAll(ctx, branches)
	if err != nil {
		return live.Family{}, fmt.Errorf("%s: %w", a.Record.Name, err)
	}
	return sessions[0].Family(), nil
}

// recordWait records the wait in place of an earlier one. The error is turns.ErrSettled when the
// results of the earlier one were typed.
func recordWait(ctx context.Context, h *app.App, sessionName, agentName string, wait session.Wait) error {
	_, err := h.Update(ctx, sessionName, func(rec *session.Session) error {
		w, err := app.AgentNamed(rec, agentName)
		if err != nil {
			return err
		}
		if w.Wait != nil && w.Wait.TypedAt != nil {
			return turns.ErrSettled
		}
		w.Wait = &wait
		return nil
	})
	if err == nil {
		h.Step("wait.recorded")
	}
	return err
}

// String says what was recorded, and what the agent has to do now.
func (n *Notified) String() string {
	text, come := n.Agent+": waits for ", "their results come"
	switch {
	case len(n.Children) == 1:
		come = "its result comes"
	case n.Any:
		text, come = text+"the first of ", "its result comes"
	}
	text += strings.Join(n.Children, ", ")
	if len(n.Ended) > 0 {
		text += fmt.Sprintf(" (%d of %d ended already)", len(n.Ended), len(n.Children))
	}
	return text + "; " + come + " as a prompt when this turn is over, so end it now"
}
