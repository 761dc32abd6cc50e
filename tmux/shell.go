package tmux

// worktreeOption is the folder of an agent, on its pane.
const worktreeOption = "@paw_worktree"

// shellCommand is what a pane runs that the user splits off beside an agent: a shell in that agent's worktree, where tmux
// itself would start it in the folder of the session, which is the user's own checkout. Beside a pane of the user it is the
// folder which that one is in, and a window of its own starts where the session does.
const shellCommand = `/bin/sh -c 'beside="#{?@paw_worktree,#{@paw_worktree},#{pane_current_path}}"; ` +
	`dir=$(tmux display-message -p -t "$TMUX_PANE" "#{?pane_active,#{P:#{?pane_last,$beside,}},#{P:#{?pane_active,$beside,}}}" 2>/dev/null); ` +
	`if [ -n "$dir" ]; then cd "$dir"; fi; exec "${SHELL:-/bin/sh}" -l'`

// shellOption has the user's own panes in a session started by shellCommand, unless the user has a default-command.
func shellOption(session string) command {
	return command{"if-shell", "-F", "-t", session, "#{default-command}", "",
		unaliased("set-option") + " -t '" + session + "' default-command " + quoted(shellCommand)}
}
