package app

import (
	"path/filepath"

	"paw/orchestrator/cli"
	"paw/session"
	"paw/session/turn"
	"paw/worktree"
)

// Spec is what an adapter needs to know of one launch of an agent.
func (h *App) Spec(s *session.Session, w *session.Agent, executable string) cli.Spec {
	spec := h.SpecFor(s, w, executable)
	spec.Env = h.EnvFor(spec.Env, w, executable)
	if repository, err := worktree.Discover(w.WorktreePath); err == nil {
		spec.GitDir = repository.GitDir
	}
	return spec
}

// SpecFor is Spec without what has to be looked up in the worktree: enough to
// read a CLI's own files, for which status has little time.
func (h *App) SpecFor(s *session.Session, w *session.Agent, executable string) cli.Spec {
	spec := cli.Spec{
		Executable: executable, Worktree: w.WorktreePath, RepoPath: s.RepoPath, GitCommonDir: s.GitCommonDir,
		StateDir: h.StateDir(s.Name, w.Name), ConversationID: w.Conversation(), Env: h.recordedEnv(w),
		Session: s.Name, Agent: w.Name, Hook: h.Executable, Since: w.CreatedAt,
	}
	if spec.Since.IsZero() {
		spec.Since = s.CreatedAt
	}
	h.openGit(&spec, w.CLI)
	return spec
}

// DraftSpec is a spec of an agent that does not exist yet, to ask an adapter
// whether it can take a prompt.
func (h *App) DraftSpec(c cli.CLI, executable, prompt string) cli.Spec {
	spec := cli.Spec{Executable: executable, Worktree: h.Dir, RepoPath: h.Dir, ConversationID: c.NewConversation(), Prompt: prompt, Env: h.Env, StateDir: h.StateDir("draft", c.Name())}
	h.openGit(&spec, c.Name())
	return spec
}

func (h *App) openGit(spec *cli.Spec, cli string) {
	// Further arguments of the configuration are the adapters' business (cli.New).
	spec.GitWritable = h.Config.CLIs[cli].GitWritable
}

// recordedEnv is the user's environment with what was recorded at the first
// launch: it decides where the CLI looks for its conversations.
func (h *App) recordedEnv(w *session.Agent) []string {
	env := append([]string{}, h.Env...)
	for name, value := range w.Environment {
		env = append(env, name+"="+value)
	}
	return env
}

// RememberedEnvironment picks the variables that resuming needs again. One that
// was not set is remembered as empty: it must not be set later either.
func (h *App) RememberedEnvironment(cli cli.CLI) map[string]string {
	env := map[string]string{}
	for _, name := range cli.Environment() {
		env[name] = h.Getenv(name)
	}
	return env
}

// TurnDir is the folder with the turn logs of an agent.
func (h *App) TurnDir(sessionName, agentName string) turn.Dir {
	return turn.Dir{Path: filepath.Join(h.Paths.TurnsDir(), sessionName, agentName)}
}
