# start.sh REPO SOCKET AGENTS: what a script does to start agents, each in a worktree and a pane of its own.
set -e
cd "$1"
for i in $(seq "$3"); do
	git worktree add -q -b "shell/a$i" "$1.shell/a$i"
	if [ "$i" = 1 ]; then
		tmux -f /dev/null -S "$2.shell" new-session -d -s shell -x 220 -y 60 -c "$1.shell/a$i" sleep 100000
	else
		tmux -S "$2.shell" split-window -d -t shell: -c "$1.shell/a$i" sleep 100000
		tmux -S "$2.shell" select-layout -t shell: tiled >/dev/null
	fi
done
