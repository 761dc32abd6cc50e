package orchestrator

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"paw/orchestrator/app"
	"paw/orchestrator/cli"
	"paw/orchestrator/errs"
	"paw/tmux"
)

// TmuxBindings are lines for a tmux.conf that call paw by the name it was called by, or by its path where that name is not
// found on PATH.
func TmuxBindings(h *app.App, called string) string {
	program := filepath.Base(called)
	if found, err := cli.LookPath(program, h.Env); err != nil || !sameFile(found, h.Executable) {
		program = h.Executable
	}
	quoted := strings.ReplaceAll(errs.Quote(program), "'", `'\''`) // for tmux, in a word that ' begins and ends
	expanded := strings.ReplaceAll(quoted, "#", "##")              // where tmux reads formats
	return fmt.Sprintf(`# P: who needs you, in a popup that goes away when you leave it
bind-key P display-popup -E -w 90%% -h 85%% -d '#{pane_current_path}' '%[1]s ui'
# N: to the agent that needs you most; again: to the next one
bind-key N run-shell 'TMUX_PANE=#{pane_id} %[2]s next'
# W: all panes of agents that wait for you, to choose from
bind-key W choose-tree -Zf '#{==:#{@paw_state},waiting_input}'
`, quoted, expanded)
}

// TellInTmux shows a line in the tmux client of the user for a moment. It reports whether there is one.
func TellInTmux(ctx context.Context, h *app.App, text string) bool {
	socket, _, inside := strings.Cut(h.Getenv("TMUX"), ",")
	return inside && tmux.New(socket).Tell(ctx, text) == nil
}
