package tmux

import (
	"path/filepath"
	"slices"
	"strings"

	"paw/worktree/git"
)

// unwanted are variables that a server started by paw must not hand to every pane it will ever have, beside those that tie
// git to a repository: what marks a child of a CLI or an agent of paw, and TMUX, since the server is always named by a flag.
var unwanted = []string{"CLAUDE_CODE_CHILD_SESSION", "PAW_SESSION", "PAW_AGENT", "PAW_LAUNCH", "TMUX", "TMUX_PANE"}

// environment returns env as a tmux client gets it.
func environment(env []string) []string {
	env = git.Unbound(env)
	clean := make([]string, 0, len(env))
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		if slices.Contains(unwanted, name) {
			continue
		}
		if name == "TMUX_TMPDIR" {
			kv = name + "=" + absolute(value)
		}
		clean = append(clean, kv)
	}
	return clean
}

// absolute makes a directory independent of where the tmux client runs, which is not where paw was called.
func absolute(dir string) string {
	if dir == "" {
		return dir
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return dir
	}
	return abs
}
