package tmux

import (
	"path/filepath"
	"slices"
	"strings"
)

// unwanted are variables that a server started by paw must not hand to every pane it will ever have: those of
// `git rev-parse --local-env-vars` and its relatives, which make git work on another repository than the one it stands
// in; what marks a child of a CLI or an agent of paw; and TMUX, since the server is always named by a flag.
var unwanted = []string{
	"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_CONFIG", "GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT",
	"GIT_OBJECT_DIRECTORY", "GIT_DIR", "GIT_WORK_TREE", "GIT_IMPLICIT_WORK_TREE", "GIT_GRAFT_FILE", "GIT_INDEX_FILE",
	"GIT_NO_REPLACE_OBJECTS", "GIT_REPLACE_REF_BASE", "GIT_PREFIX", "GIT_SHALLOW_FILE", "GIT_COMMON_DIR",
	"GIT_INTERNAL_SUPER_PREFIX", "GIT_NAMESPACE", "GIT_CEILING_DIRECTORIES", "GIT_EXEC_PATH", "GIT_QUARANTINE_PATH",
	"CLAUDE_CODE_CHILD_SESSION", "PAW_SESSION", "PAW_AGENT", "PAW_LAUNCH",
	"TMUX", "TMUX_PANE",
}

// environment returns env as a tmux client gets it.
func environment(env []string) []string {
	clean := make([]string, 0, len(env))
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		if slices.Contains(unwanted, name) ||
			strings.HasPrefix(name, "GIT_CONFIG_KEY_") || strings.HasPrefix(name, "GIT_CONFIG_VALUE_") {
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
