package children

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/launch"
	"paw/orchestrator/live"
	"paw/orchestrator/observe"
	"paw/orchestrator/turns"
	"paw/orchestrator/typing"
	"paw/session"
	"paw/session/turn"
	"paw/tmux"
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
		claim(a.App, a.Session.Name, a.Record.Name, live.Told, 0) // no end of a turn starts the delivery
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
	all, err := looksAt(a.App, a.Session.Name, ask, observe.NotAtScreens)(ctx)
	if err != nil {
		return live.Family{}, fmt.Errorf("%s: %w", a.Record.Name, err)
	}
	f, there := live.FamilyOf(all, branchOf(a.Session, a.Record))
	if !there {
		return f, fmt.Errorf("%s: %w", a.Record.Name, live.ErrNoAgent)
	}
	return f, nil
}

func branchOf(s *session.Session, w *session.Agent) live.Branch {
	return live.Branch{Repository: s.GitCommonDir, Name: w.Branch}
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

// lookInterval is how often paw looks at the children of a waiting parent without a report: a
// killed CLI calls no hook, and a killed hook reports nothing.
const lookInterval = 5 * time.Second

// needed are the variables that another paw needs to find the files of this one.
var needed = []string{
	"HOME", "PATH", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR", "TMPDIR",
}

// TimerEnv returns the environment for a timer in tmux.
func TimerEnv(h *app.App) map[string]string {
	env := map[string]string{}
	for _, name := range needed {
		if value := h.Getenv(name); value != "" {
			env[name] = value
		}
	}
	return env
}

// watchWaits sets timers in tmux that look, every few seconds while parents of a session wait, at
// their children. No process of paw stays for that. If tmux fails, the next command or event finds
// the end of a child.
func watchWaits(ctx context.Context, h *app.App, s *session.Session, parents []string) {
	if h.Watcher != nil {
		h.Watcher(parents)
		return
	}
	if len(parents) == 0 {
		return
	}
	f, err := observe.Observe(ctx, h, s)
	if err != nil {
		return
	}
	for _, a := range f.Agents {
		if a.Pane != nil && !a.Pane.Dead && slices.Contains(parents, a.Record.Name) {
			lookLater(ctx, h, s, a.Record.Name, watch{session: a.Pane.SessionID, pane: a.Pane.ID, mark: uuid.NewString()})
		}
	}
}

// watch identifies a chain of looks for one parent.
type watch struct {
	session, pane string // tmux ids of the parent's session and pane
	mark          string
}

// lookLater sets a timer for one look. Only the newest chain of a parent goes on.
func lookLater(ctx context.Context, h *app.App, s *session.Session, parent string, w watch) {
	err := h.TmuxFor(s).SetTimer(ctx, w.session, tmux.Timer{
		Pane: w.pane, Mark: w.mark, After: lookInterval, Program: h.Executable, Env: TimerEnv(h),
		Words: []string{"__look", s.Name, parent, strings.TrimPrefix(w.session, "$"), strings.TrimPrefix(w.pane, "%"), w.mark},
	})
	if err != nil && ctx.Err() == nil {
		h.HookLog().Add("paw", "look", err)
	}
}

// Look looks once at the children of a waiting parent. It sets the timer for the next look first,
// then tells the parent if results are due. A busy parent is left to the next look. args are those
// of lookLater.
func Look(ctx context.Context, h *app.App, sessionName, parent string, args []string) error {
	w := watch{session: "$" + args[0], pane: "%" + args[1], mark: args[2]}
	began, launch := h.Now(), runningLaunch(h, sessionName, parent)
	s, h, err := h.LoadConfigured(sessionName)
	if err != nil {
		return app.UnlessGone(err)
	}
	if record := s.Agent(parent); record == nil || !live.Owed(*record) || launch == 0 {
		return nil // a recover that brings the parent back starts a new chain
	}
	if mark, err := h.TmuxFor(s).TimerMark(ctx, w.pane, ""); err != nil || mark != w.mark {
		return err
	}
	lookLater(ctx, h, s, parent, w)
	d := &deliverer{App: h, session: sessionName, parent: parent, began: began, launch: launch, keyboard: typing.NewPaneWriter(h)}
	_, err = d.once(ctx, live.Unasked)
	return h.Logged("look", err)
}

// WaitsOf returns the families of a session's waiting parents, by the parent's name. It prompts
// nobody.
func WaitsOf(ctx context.Context, h *app.App, s *session.Session, ask observe.AskPanes) (map[string]live.Family, error) {
	waits := map[string]live.Family{}
	if !slices.ContainsFunc(s.Agents, func(w session.Agent) bool { return w.Wait != nil }) {
		return waits, nil
	}
	all, err := looksAt(h, s.Name, ask, observe.NotAtScreens)(ctx)
	if err != nil {
		return nil, err
	}
	for i := range s.Agents {
		w := &s.Agents[i]
		if f, there := live.FamilyOf(all, branchOf(s, w)); w.Wait != nil && there {
			waits[w.Name] = f
		}
	}
	return waits, nil
}

// WithWaits adds to each result a note about the children for which the agent still waits.
func WithWaits(results []launch.Result, waits map[string]live.Family) []launch.Result {
	for i := range results {
		family, there := waits[results[i].Agent]
		if text := live.Recall(family); there && text != "" {
			results[i].Notes = append(results[i].Notes, text)
		}
	}
	return results
}

// ResumeWaits is like WaitsOf, for a session that was brought back, and starts looks for its
// waiting parents.
func ResumeWaits(ctx context.Context, h *app.App, s *session.Session, ask observe.AskPanes) (map[string]live.Family, error) {
	waits, err := WaitsOf(ctx, h, s, ask)
	if err == nil && slices.ContainsFunc(slices.Collect(maps.Values(waits)), live.Family.Restarted) {
		err = keepResumed(ctx, h, s.Name, waits)
	}
	if err == nil {
		typed := func(name string) bool { return !live.Owed(waits[name].Parent.Record) }
		watchWaits(ctx, h, s, slices.DeleteFunc(slices.Sorted(maps.Keys(waits)), typed))
	}
	return waits, err
}

// keepResumed records which children of each relaunched parent have ended by now: these children
// alone are no reason to prompt the parent.
func keepResumed(ctx context.Context, h *app.App, sessionName string, waits map[string]live.Family) error {
	_, err := h.Update(ctx, sessionName, func(rec *session.Session) error {
		for name, family := range waits {
			w, known := rec.Agent(name), family.Parent.Record.Wait
			if w == nil || known == nil || !live.Owed(*w) || w.Wait.ID != known.ID || !family.Restarted() {
				continue
			}
			if launch := family.Parent.Launch; w.Wait.Resumed == nil || w.Wait.Resumed.Launch != launch {
				w.Wait.Resumed = &session.Resumed{Launch: launch, Ended: family.Telling()}
			}
		}
		return nil
	})
	return err
}
