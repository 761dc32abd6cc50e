package orchestrator

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"paw/orchestrator/app"
	"paw/orchestrator/cli"
	"paw/orchestrator/errs"
	"paw/orchestrator/live"
	"paw/orchestrator/observe"
	"paw/session"
	"paw/tmux"
)

// borderPatience bounds how long a hook waits for tmux to change a border, and how long a job of
// tmux takes.
const borderPatience = time.Second

// showOnBorder returns a function that writes the agent's present state on the border of its pane.
// A hook runs in that pane, so that tmux's variables name it. Failures are ignored: a border is
// only a hint.
func showOnBorder(ctx context.Context, a app.Agent) (write func()) {
	socket, _, inside := strings.Cut(a.App.Getenv("TMUX"), ",")
	pane := a.App.Getenv("TMUX_PANE")
	last, err := a.TurnDir().Last()
	if !inside || pane == "" || err != nil {
		return func() {}
	}
	label := labelOf(a.Record.Name, live.State(live.SeenByHook(a.Record, last, a.App.Getenv("PAW_LAUNCH"), a.App.Now())))
	return func() {
		ctx, cancel := context.WithTimeout(ctx, borderPatience)
		defer cancel()
		_ = tmux.New(socket).SetLabels(ctx, map[string]tmux.Label{pane: label})
	}
}

// labelOf returns the text on the border of an agent's pane.
func labelOf(agentName string, st session.AgentStatus) tmux.Label {
	return tmux.Label{Text: agentName + ": " + StateWord(st), State: string(st.State)}
}

// stateWords are the words for states on borders and in window lists.
var stateWords = map[session.State]string{
	session.StateIdle: "idle", session.StateRunning: "running", session.StateWaitingInput: "waits for you",
	session.StateWaitingChildren: "waits for its children", session.StateCompleted: "completed", session.StateError: "error",
	session.StateSuspended: "suspended", session.StateUnknown: "unknown",
}

// showStates is ShowStates for a loaded session. Failures are ignored: a border is only a hint.
func showStates(ctx context.Context, h *app.App, s *session.Session) {
	ctx, cancel := context.WithTimeout(ctx, borderPatience)
	defer cancel()
	f, err := observe.With(ctx, h, s, askWithLabels(h), observe.WhereUnknown)
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

// askWithLabels is like observe.AskTmux, but also reads the labels on the borders.
func askWithLabels(h *app.App) observe.AskPanes {
	return func(ctx context.Context, s *session.Session) observe.Panes {
		client := h.TmuxFor(s)
		client.WithLabels = true
		server, panes, err := client.Panes(ctx)
		return observe.Panes{Server: server, Panes: panes, Err: err}
	}
}

// StateWord returns the word for a state on borders, in window lists and in paw status. Interrupted
// turns, stopped or starting agents, and usage limits have words of their own.
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

// TmuxBindings returns lines for a tmux.conf that call paw, by the name it was called by if that is
// on PATH, else by its path.
func TmuxBindings(h *app.App, called string) string {
	program := filepath.Base(called)
	if found, err := cli.LookPath(program, h.Env); err != nil || !sameFile(found, h.Executable) {
		program = h.Executable
	}
	quoted := strings.ReplaceAll(errs.Quote(program), "'", `'\''`) // quoted for tmux, within single quotes
	expanded := strings.ReplaceAll(quoted, "#", "##")              // escaped for tmux, where it expands formats
	return fmt.Sprintf(`# P: who needs you, in a popup that goes away when you leave it
bind-key P display-popup -E -w 90%% -h 85%% -d '#{pane_current_path}' '%[1]s ui'
# N: to the agent that needs you most; again: to the next one
bind-key N run-shell 'TMUX_PANE=#{pane_id} %[2]s next'
# W: all panes of agents that wait for you, to choose from
bind-key W choose-tree -Zf '#{==:#{@paw_state},waiting_input}'
`, quoted, expanded)
}

// TellInTmux shows a line in the user's tmux client for a moment, and reports whether there is one.
func TellInTmux(ctx context.Context, h *app.App, text string) bool {
	socket, _, inside := strings.Cut(h.Getenv("TMUX"), ",")
	return inside && tmux.New(socket).Tell(ctx, text) == nil
}

// Screen returns the present content of a pane, with colours as escape sequences.
func Screen(ctx context.Context, h *app.App, s *session.Session, pane string) (string, error) {
	shot, err := h.TmuxFor(s).Screenshot(ctx, pane)
	return shot.Text, app.TmuxError(err)
}

// limitWord says until when an agent is limited, in local time, with the date if the limit was
// reached on another day.
func limitWord(st session.AgentStatus) string {
	until := st.Limit.Until.Local()
	switch {
	case st.Limit.Until.IsZero():
		return "limited"
	case st.Since != nil && st.Since.Local().Format(time.DateOnly) == until.Format(time.DateOnly):
		return "limited until " + until.Format("15:04")
	}
	return "limited until " + until.Format("2 Jan 15:04")
}
