package orchestrator

import (
	"context"
	"strings"
	"time"

	"paw/session"
	"paw/session/turn"
	"paw/tmux"
)

// borderPatience bounds how long a hook lets tmux take for a border.
const borderPatience = time.Second

// showOnBorder writes what the agent does on the border of its pane. The hook
// runs in that pane, so tmux's own variables name it; a border is only a hint,
// so failures do not matter.
func (p *Paw) showOnBorder(ctx context.Context, s *session.Session, agentName string) {
	socket, _, inside := strings.Cut(p.getenv("TMUX"), ",")
	pane := p.getenv("TMUX_PANE")
	if !inside || pane == "" {
		return
	}
	last, err := p.turnDir(s.Name, agentName).Last()
	if err != nil || last == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, borderPatience)
	defer cancel()
	w := s.Worktree(agentName)
	_ = tmux.New(socket).SetLabel(ctx, pane, agentName+": "+borderWord(*last, w != nil && owed(*w)))
}

// borderWord is the state of an agent after an event of its last turn; waits says
// that it waits for its children.
func borderWord(last turn.Record, waits bool) string {
	switch {
	case last.State != turn.InProgress && waits:
		return "waits for its children"
	case last.State == turn.InProgress && last.Waiting:
		return "waits for you"
	case last.State == turn.InProgress:
		return "running"
	case last.State == turn.Aborted:
		return string(last.Reason)
	}
	return "idle"
}
