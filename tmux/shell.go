package tmux

// worktreeOption is the folder of an agent, on its pane.
const worktreeOption = "@paw_worktree"

// shellCommand is what a pane runs that the user splits off beside an agent: a shell in that agent's worktree, where tmux
// itself would start it in the folder of the session, which is the user's own checkout. Beside a pane of the user it is the
// folder which that one is in. A window of its own starts where the session does, and one for which a folder was named there.
const shellCommand = `/bin/sh -c 'ask() { tmux display-message -p -t "$TMUX_PANE" "$1" 2>/dev/null; }; ` +
	`beside="#{?@paw_worktree,#{@paw_worktree},#{pane_current_path}}"; ` +
	`if [ . -ef "$(ask "#{session_path}")" ]; then ` +
	`dir=$(ask "#{?pane_active,#{P:#{?pane_last,$beside,}},#{P:#{?pane_active,$beside,}}}"); ` +
	`if [ -n "$dir" ]; then cd "$dir"; fi; fi; exec "${SHELL:-/bin/sh}" -l'`

// shellOption has the user's own panes in a session started by shellCommand, unless the user has a default-command.
func shellOption(session string) command {
	return command{"if-shell", "-F", "-t", session, "#{default-command}", "",
		unaliased("set-option") + " -t '" + session + "' default-command " + quoted(shellCommand)}
}
