package app

import (
	"path/filepath"
	"slices"
	"strings"

	"paw/config"
	"paw/orchestrator/cli"
	"paw/orchestrator/cli/clis"
	"paw/session"
	"paw/worktree/gitdir"
)

// Specs tells the drivers of CLIs about agents.
type Specs struct {
	executable string
	dir        string   // current directory of the user
	env        []string // environment of the user's shell
	paths      config.Paths
	clis       clis.Set
	configured map[string]config.CLI
	look       *cli.Look
}

// Specs returns what tells the drivers of CLIs about agents.
func (h *App) Specs() Specs {
	return Specs{h.Executable, h.Dir, h.Env, h.Paths, h.CLIs, h.Config.CLIs, h.Look}
}

// WithProgram extends PATH by the folder of a program that is not on it: its interpreter may lie in the
// same folder.
func (p Specs) WithProgram(env []string, w *session.Agent, executable string) []string {
	c, known := p.clis.Get(w.CLI)
	if !known || !filepath.IsAbs(executable) {
		return env
	}
	if _, err := cli.LookPath(c.Program(), env); err == nil {
		return env
	}
	folders := append(filepath.SplitList(cli.Getenv(env, "PATH")), filepath.Dir(executable))
	return append(slices.Clip(env), "PATH="+strings.Join(folders, string(filepath.ListSeparator)))
}

// Launch returns what a CLI's driver needs for a launch of the agent.
func (p Specs) Launch(s *session.Session, w *session.Agent, executable string) cli.Spec {
	spec := p.Read(s, w, executable)
	spec.Env = p.WithProgram(spec.Env, w, executable)
	if repository, err := gitdir.Discover(w.WorktreePath); err == nil {
		spec.GitDir = repository.GitDir
	}
	return spec
}

// Read is like Launch, without the fields that need a look at the worktree: enough to read a CLI's
// files, and fast enough for status.
func (p Specs) Read(s *session.Session, w *session.Agent, executable string) cli.Spec {
	spec := cli.Spec{
		Executable: executable, Worktree: w.WorktreePath, RepoPath: s.RepoPath, GitCommonDir: s.GitCommonDir,
		StateDir: p.paths.AgentDir(s.Name, w.Name), ConversationID: w.Conversation(), Env: p.recordedEnv(w),
		Session: s.Name, Agent: w.Name, Hook: p.executable, Since: w.CreatedAt, Look: p.look,
	}
	if spec.Since.IsZero() {
		spec.Since = s.CreatedAt
	}
	p.openGit(&spec, w.CLI)
	return spec
}

// Draft returns a Spec for an agent that does not exist yet, to ask a driver whether it can
// take the prompt.
func (p Specs) Draft(c cli.CLI, executable, prompt string) cli.Spec {
	spec := cli.Spec{Executable: executable, Worktree: p.dir, RepoPath: p.dir, ConversationID: c.NewConversation(), Prompt: prompt, Env: p.env, StateDir: p.paths.AgentDir("draft", c.Name())}
	p.openGit(&spec, c.Name())
	return spec
}

func (p Specs) openGit(spec *cli.Spec, cli string) {
	// CLI adds the configured arguments.
	spec.GitWritable = p.configured[cli].GitWritable
}

// recordedEnv returns the user's environment with the variables recorded at the first launch, which
// decide where the CLI looks for its conversations.
func (p Specs) recordedEnv(w *session.Agent) []string {
	env := append([]string{}, p.env...)
	for name, value := range w.Environment {
		env = append(env, name+"="+value)
	}
	return env
}

// Remembered returns the variables to record, which a resume needs again. An unset one
// is recorded as empty: it must not be set later either.
func (p Specs) Remembered(cli cli.CLI) map[string]string {
	env, set := map[string]string{}, Variables(p.env)
	for _, name := range cli.Environment() {
		env[name] = set[name]
	}
	return env
}
