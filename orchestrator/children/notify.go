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
	return notify(ctx, h, s, w, o, observe.AskTmux(h))
}

// notify is Notify for a given agent; ask lists the panes.
func notify(ctx context.Context, h *app.App, s *session.Session, w *session.Agent, o WaitOptions, ask observe.AskPanes) (*Notified, error) {
	if err := childrenNamed(s, w.Name, o.Agents); err != nil {
		return nil, err
	}
	if w.Wait != nil && w.Wait.TypedAt != nil { // settle the earlier wait: its results must not come twice
		if err := turns.SettleWait(ctx, h, s.Name, w.Name, w.Wait.ID); err != nil {
			return nil, err
		}
	}
	family, err := familyOf(ctx, h, s, w, ask)
	if err != nil {
		return nil, err
	}
	names := o.Agents
	if len(names) == 0 {
		names = family.Awaitable()
	}
	if len(names) == 0 {
		return nil, errs.New(errs.Failed, "%s: no child is at work", w.Name).Hint("paw status %s", s.Name)
	}
	wait := session.Wait{ID: uuid.Must(uuid.NewV7()).String(), Children: app.Once(names), Any: o.Any, Since: h.Now().UTC(), Launch: family.Parent.Launch}
	err = recordWait(ctx, h, s.Name, w.Name, wait)
	if errors.Is(err, turns.ErrSettled) { // the results of an earlier wait were typed just now
		return notifyAgain(ctx, h, s, w, o, ask)
	}
	if err != nil {
		return nil, err
	}
	watchWaits(ctx, h, s, []string{w.Name})
	// The log is read after the wait was recorded: a hook that ended the turn before found no wait.
	if last, err := h.TurnDir(s.Name, w.Name).Last(); err != nil || last == nil || last.State != turn.InProgress || family.Parent.TurnsUnseen {
		claim(h, s.Name, w.Name, live.Claim{}) // no end of a turn starts the delivery
	}
	family.Parent.Record.Wait = &wait
	return &Notified{Session: s.Name, Agent: w.Name, Children: wait.Children, Ended: family.Ended(), Any: wait.Any}, nil
}

// notifyAgain repeats notify with the present record.
func notifyAgain(ctx context.Context, h *app.App, s *session.Session, w *session.Agent, o WaitOptions, ask observe.AskPanes) (*Notified, error) {
	s, err := h.Load(s.Name)
	if err != nil {
		return nil, err
	}
	if w, err = app.AgentNamed(s, w.Name); err != nil {
		return nil, err
	}
	return notify(ctx, h, s, w, o, ask)
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

func familyOf(ctx context.Context, h *app.App, s *session.Session, w *session.Agent, ask observe.AskPanes) (live.Family, error) {
	branches := []live.Branch{{Repository: s.GitCommonDir, Name: w.Branch}}
	for _, child := range s.Children(w.Name) {
		branches = append(branches, live.Branch{Repository: s.GitCommonDir, Name: s.Agent(child).Branch})
	}
	sessions, err := live.NewRegistry(liveSource(h, s.Name, ask, observe.NotAtScreens)).LoadAll(ctx, branches)
	if err != nil {
		return live.Family{}, fmt.Errorf("%s: %w", w.Name, err)
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
