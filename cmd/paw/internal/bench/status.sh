# The status of a session the obvious way: ask tmux and git about each agent.
# Usage: status.sh REPOSITORY SOCKET SESSION
repo=$1 socket=$2 session=$3
for dir in "$repo.paw/$session"/*/; do
	dir=${dir%/}
	agent=${dir##*/}
	pane=$(tmux -S "$socket" list-panes -a -F '#{pane_id} #{pane_start_command}' |
		sed -n "s/^\(%[0-9]*\) .* __agent $session $agent .*/\1/p")
	state=gone
	if [ -n "$pane" ]; then
		state=dead
		if [ "$(tmux -S "$socket" display-message -p -t "$pane" '#{pane_dead}')" = 0 ]; then
			state=alive
		fi
	fi
	tag=$(git -C "$repo" tag --list "afk-${session}_$agent-*" --sort=-version:refname | head -n 1)
	branch=$(git -C "$dir" branch --show-current)
	printf '%s  %s  %s  %s\n' "$agent" "$state" "${tag:--}" "$branch"
done
