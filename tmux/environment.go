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

// wantsEnvironment reports whether one of the commands takes over variables of the client that runs it: new-session, which may
// start the server as well, and those that show a session to a terminal (update-environment). A tmux client sends the whole of its
// environment with whatever it is asked, so no other command gets to see that of the user.
func wantsEnvironment(commands []command) bool {
	return slices.ContainsFunc(commands, func(c command) bool {
		return c[0] == "new-session" || c[0] == "attach-session" || c[0] == "switch-client"
	})
}

// starts reports whether the commands start a server where there is none.
func starts(commands []command) bool {
	return slices.ContainsFunc(commands, func(c command) bool { return c[0] == "new-session" })
}

// own are the variables with which the tmux program, or a wrapper of it, finds its files and writes text. PATH goes on to what
// tmux starts in a new pane.
var own = []string{"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "TZ", "TMPDIR", "TMUX_TMPDIR", "LANG", "LANGUAGE", "LD_LIBRARY_PATH",
	"DYLD_LIBRARY_PATH", "DYLD_FALLBACK_LIBRARY_PATH", "TERMINFO", "TERMINFO_DIRS", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR"}

// ownEnvironment returns what the tmux program itself needs of env.
func ownEnvironment(env []string) []string {
	kept := make([]string, 0, len(own))
	for _, kv := range env {
		name, _, _ := strings.Cut(kv, "=")
		if slices.Contains(own, name) || strings.HasPrefix(name, "LC_") {
			kept = append(kept, kv)
		}
	}
	return kept
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
