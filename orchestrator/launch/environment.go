package launch

import (
	"path/filepath"
	"slices"
	"strings"

	"paw/orchestrator/app"
	"paw/orchestrator/cli/clis"
	"paw/session"
)

// AsAgent is paw with the environment in which an agent's CLI was started, and
// the configuration that goes with it: what is started then finds the same
// programs and keys. The environment of paw itself is that of a command which the
// CLI runs, with a PATH and marks of the CLI's own.
func AsAgent(h *app.App, s *session.Session, w *session.Agent) (*app.App, error) {
	other := *h
	env := EnvironmentOf(h, s, w)
	if env == nil {
		env = withProgramOf(w, h.Env)
	}
	own := h.Config.CLIs[w.CLI].Env // the settings of its CLI are not the child's
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

// withProgramOf is env with the folder of an agent's program at the end of PATH:
// the shells in which CLIs run commands may have read another one.
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

// EnvironmentOf is the environment of an agent's CLI, nil when it cannot be
// read, such as from inside a sandbox that hides other processes.
func EnvironmentOf(h *app.App, s *session.Session, w *session.Agent) []string {
	lock, err := h.Locks.ProbeAgent(s.Name, w.Name)
	if err != nil || lock.PID() == 0 {
		return nil
	}
	env, err := session.Environ(lock.PID())
	// A program may write over its environment, to show another name.
	if err != nil || !slices.Contains(env, "PAW_SESSION="+s.Name) || !slices.Contains(env, "PAW_AGENT="+w.Name) {
		return nil
	}
	return env
}
