package orchestrator

import (
	"context"
	"path/filepath"
	"strings"
	"time"

	"paw/session"
	"paw/session/turn"
	"paw/tmux"
)

// borderPatience bounds how long a hook lets tmux take for a border, and a job of tmux everything.
const borderPatience = time.Second

// showOnBorder writes what the agent does on the border of its pane, after an event of its turns. The hook runs in that
// pane, so tmux's own variables name it; a border is only a hint, so failures do not matter.
func (p *Paw) showOnBorder(ctx context.Context, s *session.Session, agentName string) {
	socket, _, inside := strings.Cut(p.getenv("TMUX"), ",")
	pane := p.getenv("TMUX_PANE")
	if !inside || pane == "" {
		return
	}
	last, err := p.turnDir(s.Name, agentName).Last()
	if err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, borderPatience)
	defer cancel()
	w := s.Worktree(agentName)
	word := borderWord(last, p.getenv("PAW_LAUNCH"), w != nil && owed(*w))
	_ = tmux.New(socket).SetLabels(ctx, map[string]string{pane: agentName + ": " + word})
}

// borderWord is the state of an agent of that launch after an event of its last turn; waits says that it waits for its
// children.
func borderWord(last *turn.Record, launch string, waits bool) string {
	switch {
	case last != nil && last.Launch == launch && last.State == turn.InProgress && last.Waiting:
		return stateWords[session.StateWaitingInput]
	case last != nil && last.Launch == launch && last.State == turn.InProgress:
		return stateWords[session.StateRunning]
	case waits:
		return stateWords[session.StateWaitingChildren]
	case last != nil && last.Launch == launch && last.State == turn.Aborted:
		return string(last.Reason)
	}
	return stateWords[session.StateIdle]
}

// stateWords are the states as borders and window lists have them.
var stateWords = map[session.State]string{
	session.StateIdle: "idle", session.StateRunning: "running", session.StateWaitingInput: "waits for you",
	session.StateWaitingChildren: "waits for its children", session.StateCompleted: "completed", session.StateError: "error",
	session.StateSuspended: "suspended", session.StateUnknown: "unknown",
}

// ShowStates writes the state of each agent of a session on the border of its pane where another one stands there: what
// an agent does changes also without a hook. tmux itself calls it, as long as somebody looks at the session.
func (p *Paw) ShowStates(ctx context.Context, sessionName string) error {
	s, err := p.load(sessionName)
	if err == nil {
		p, err = p.configuredFor(s)
	}
	if err != nil {
		return withoutGone(err)
	}
	p.showStates(ctx, s)
	return nil
}

// showStates is ShowStates for a session that was read already. A border is only a hint, so failures do not matter.
func (p *Paw) showStates(ctx context.Context, s *session.Session) {
	ctx, cancel := context.WithTimeout(ctx, borderPatience)
	defer cancel()
	f, err := p.observe(ctx, s)
	if err != nil {
		return
	}
	labels := map[string]string{}
	for i, st := range p.states(f) {
		a := f.agents[i]
		if a.pane == nil {
			continue
		}
		label := a.record.Agent + ": " + wordOf(st)
		if label != a.pane.Label {
			labels[a.pane.ID] = label
		}
	}
	if len(labels) > 0 {
		_ = p.tmuxFor(s).SetLabels(ctx, labels)
	}
}

// wordOf is a state in a word, of an interrupted turn what its hooks say.
func wordOf(st session.AgentStatus) string {
	if reason, ok := strings.CutPrefix(st.Reason, "turn "); ok && st.State == session.StateIdle {
		return reason
	}
	return stateWords[st.State]
}

// refreshCommand is the program that tmux runs to keep the borders of a session true while somebody looks at them. The
// tmux server may have another environment than this command.
func (p *Paw) refreshCommand(sessionName string) []string {
	return []string{
		"env", "HOME=" + p.getenv("HOME"),
		"XDG_CONFIG_HOME=" + filepath.Dir(filepath.Dir(p.Paths.ConfigFile)),
		"XDG_DATA_HOME=" + filepath.Dir(filepath.Dir(p.Paths.SessionsDir)),
		"XDG_STATE_HOME=" + filepath.Dir(p.Paths.StateDir),
		p.Executable, "__borders", sessionName,
	}
}
