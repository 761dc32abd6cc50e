package launch

import (
	"maps"
	"os"
	"sort"
	"strings"

	"paw/orchestrator/app"
	"paw/orchestrator/cli"
	"paw/orchestrator/observe"
	"paw/session"
)

// variables are those of an environment, by name.
func variables(env []string) map[string]string {
	set := map[string]string{}
	for _, kv := range env {
		if name, value, ok := strings.Cut(kv, "="); ok {
			set[name] = value
		}
	}
	return set
}

// sortedEnv lists variables as KEY=value, in a stable order.
func sortedEnv(set map[string]string) []string {
	env := make([]string, 0, len(set))
	for name, value := range set {
		env = append(env, name+"="+value)
	}
	sort.Strings(env)
	return env
}

// Environment is what a CLI sees: the environment of the shell the user typed
// in, without git's variables and the CLIs' own marks of nesting, with what was
// recorded at the first launch and what the CLI's adapter asks for.
func Environment(h *app.App, s *session.Session, w *session.Agent, generation int, c cli.Command) []string {
	set := variables(h.EnvFor(cli.Scrub(h.Env), w, c.Argv[0]))
	for name, value := range w.Environment {
		if set[name] = value; value == "" {
			delete(set, name)
		}
	}
	maps.Copy(set, variables(c.Env))
	for _, name := range c.Unset {
		delete(set, name)
	}
	set["PAW_SESSION"], set["PAW_AGENT"] = s.Name, w.Name
	set["PAW_LAUNCH"] = observe.LaunchID(s.Name, w.Name, generation)
	set["PWD"] = w.WorktreePath
	return sortedEnv(set)
}

// terminalVariables describe the pane, not the shell the user typed in.
var terminalVariables = []string{"TERM", "TERM_PROGRAM", "TERM_PROGRAM_VERSION", "TMUX", "TMUX_PANE", "COLUMNS", "LINES"}

// paneEnvironment replaces the terminal variables of the user's shell with those of this pane.
func paneEnvironment(env []string) []string {
	set := variables(env)
	for _, name := range terminalVariables {
		if value, ok := os.LookupEnv(name); ok {
			set[name] = value
		} else {
			delete(set, name)
		}
	}
	return sortedEnv(set)
}
