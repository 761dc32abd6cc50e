package launch

import (
	"path/filepath"
	"slices"
	"strings"

	"paw/orchestrator/app"
	"paw/orchestrator/cli/clis"
	"paw/session"
)

// AsAgent returns h with the environment in which the agent's CLI was started, and the
// configuration for it, so that a new agent finds the same programs and keys. paw's own environment
// is that of a command of the CLI, whose PATH and marks are the CLI's.
func AsAgent(h *app.App, s *session.Session, w *session.Agent) (*app.App, error) {
	other := *h
	env := EnvironmentOf(h, s, w)
	if env == nil {
		env = withProgramOf(w, h.Env)
	}
	own := h.Config.CLIs[w.CLI].Env // the variables of the parent's CLI are not for the child
	other.Env = slices.DeleteFunc(h.WithoutProject(clis.Inherited(env), s, w), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		_, configured := own[name]
		return configured
	})
	root := ""
	if repository, err := app.Discover(s); err == nil {
		root = repository.Path
	}
	return &other, other.Configure(root)
}

// withProgramOf appends the folder of the agent's program to PATH: the shell in which a CLI runs
// commands may have another PATH.
func withProgramOf(w *session.Agent, env []string) []string {
	if len(w.Command) == 0 {
		return env
	}
	path := filepath.Dir(w.Command[0])
	for _, kv := range env {
		if value, ok := strings.CutPrefix(kv, "PATH="); ok && value != "" {
			path = value + string(filepath.ListSeparator) + filepath.Dir(w.Command[0])
		}
	}
	env = slices.DeleteFunc(slices.Clone(env), func(kv string) bool { return strings.HasPrefix(kv, "PATH=") })
	return append(env, "PATH="+path)
}

// EnvironmentOf reads the environment of the agent's CLI process, nil when it cannot be read, for
// example in a sandbox that hides other processes.
func EnvironmentOf(h *app.App, s *session.Session, w *session.Agent) []string {
	lock, err := h.Locks.ProbeAgent(s.Name, w.Name)
	if err != nil || lock.PID() == 0 {
		return nil
	}
	env, err := session.Environ(lock.PID())
	// A program may overwrite its environment to change its process name.
	if err != nil || !slices.Contains(env, "PAW_SESSION="+s.Name) || !slices.Contains(env, "PAW_AGENT="+w.Name) {
		return nil
	}
	return env
}
