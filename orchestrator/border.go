package orchestrator

import (
	"context"
	"strings"
	"time"

	"paw/orchestrator/app"
	"paw/orchestrator/live"
	"paw/orchestrator/observe"
	"paw/session"
	"paw/tmux"
)

// borderPatience bounds how long a hook lets tmux take for a border, and a job of tmux everything.
const borderPatience = time.Second

// showOnBorder returns what writes the agent's state of now, after an event of its turns, on the border of its pane. The
// hook runs in that pane, so tmux's own variables name it; a border is only a hint, so failures do not matter.
func showOnBorder(ctx context.Context, h *app.App, w *session.Agent, sessionName string) (write func()) {
	socket, _, inside := strings.Cut(h.Getenv("TMUX"), ",")
	pane := h.Getenv("TMUX_PANE")
	last, err := h.TurnDir(sessionName, w.Name).Last()
	if !inside || pane == "" || err != nil {
		return func() {}
	}
	label := labelOf(w.Name, live.State(live.SeenByHook(w, last, h.Getenv("PAW_LAUNCH"), h.Now())))
	return func() {
		ctx, cancel := context.WithTimeout(ctx, borderPatience)
		defer cancel()
		_ = tmux.New(socket).SetLabels(ctx, map[string]tmux.Label{pane: label})
	}
}

// labelOf is what the border of an agent's pane says.
func labelOf(agentName string, st session.AgentStatus) tmux.Label {
	return tmux.Label{Text: agentName + ": " + StateWord(st), State: string(st.State)}
}

// stateWords are the states as borders and window lists have them.
var stateWords = map[session.State]string{
	session.StateIdle: "idle", session.StateRunning: "running", session.StateWaitingInput: "waits for you",
	session.StateWaitingChildren: "waits for its children", session.StateCompleted: "completed", session.StateError: "error",
	session.StateSuspended: "suspended", session.StateUnknown: "unknown",
}

// ShowStates writes the state of each agent of a session on the border of its pane where another one stands there: what
// an agent does changes also without a hook. tmux itself calls it, as long as somebody looks at the session.
func ShowStates(ctx context.Context, h *app.App, sessionName string) error {
	s, h, err := h.LoadConfigured(sessionName)
	if err != nil {
		return app.UnlessGone(err)
	}
	for i := range s.Agents {
		if w := &s.Agents[i]; endedUnseen(h, s, w) {
			follow(h, s.Name, w.Name) // what it left may be more than a border can wait for
		}
	}
	showStates(ctx, h, s)
	return nil
}

// showStates is ShowStates for a session that was read already. A border is only a hint, so failures do not matter.
func showStates(ctx context.Context, h *app.App, s *session.Session) {
	ctx, cancel := context.WithTimeout(ctx, borderPatience)
	defer cancel()
	f, err := observe.ObserveWith(ctx, h, s, askWithLabels(h), observe.WhereUnknown)
	if err != nil {
		return
	}
	labels := map[string]tmux.Label{}
	for i, st := range observe.States(h, f) {
		a := f.Agents[i]
		if a.Pane == nil {
			continue
		}
		label := labelOf(a.Record.Name, st)
		if label != a.Pane.Label {
			labels[a.Pane.ID] = label
		}
	}
	if len(labels) > 0 {
		_ = h.TmuxFor(s).SetLabels(ctx, labels)
	}
}

// askWithLabels is observe.AskTmux with what stands on the borders.
func askWithLabels(h *app.App) observe.AskPanes {
	return func(ctx context.Context, s *session.Session) observe.Panes {
		client := h.TmuxFor(s)
		client.WithLabels = true
		server, panes, err := client.Panes(ctx)
		return observe.Panes{Server: server, Panes: panes, Err: err}
	}
}

// StateWord is a state as people read it: the same on borders, in window lists and in paw status. Of a turn that was
// interrupted, and of an agent that was stopped, is just starting or has reached a usage limit, it says that.
func StateWord(st session.AgentStatus) string {
	switch {
	case st.Limit != nil:
		return limitWord(st)
	case st.Cause == session.CauseTurnCut:
		return strings.TrimPrefix(st.Reason, "turn ")
	case st.CutTurn != 0:
		return "turn cut"
	case st.Cause == session.CauseStopped:
		return "stopped"
	case st.Cause == session.CauseClosed:
		return "closed"
	case st.Cause == session.CausePrompted, st.State == session.StateUnknown && st.Reason == session.ReasonStarting:
		return "starting"
	}
	return stateWords[st.State]
}
