package orchestrator

import (
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"

	"paw/orchestrator/agent"
	"paw/session"
	"paw/worktree"
)

// spec is what an adapter needs to know of one launch of an agent.
func (p *Paw) spec(s *session.Session, w *session.Worktree, executable string) agent.Spec {
	spec := p.specFor(s, w, executable)
	if repository, err := worktree.Discover(w.WorktreePath); err == nil {
		spec.GitDir = repository.GitDir
	}
	return spec
}

// specFor is spec without what has to be looked up in the worktree: enough to
// read a CLI's own files, for which status has little time.
func (p *Paw) specFor(s *session.Session, w *session.Worktree, executable string) agent.Spec {
	spec := agent.Spec{
		Executable: executable, Worktree: w.WorktreePath, RepoPath: s.RepoPath, GitCommonDir: s.GitCommonDir,
		StateDir: p.stateDir(s.Name, w.Agent), ConversationID: w.Conversation(), Env: p.recordedEnv(w),
		Session: s.Name, Agent: w.Agent, Hook: p.Executable, Since: w.CreatedAt,
	}
	if spec.Since.IsZero() {
		spec.Since = s.CreatedAt
	}
	p.openGit(&spec, w.CLI)
	return spec
}

// draftSpec is a spec of an agent that does not exist yet, to ask an adapter
// whether it can take a prompt.
func (p *Paw) draftSpec(cli agent.CLI, executable, prompt string) agent.Spec {
	spec := agent.Spec{Executable: executable, Worktree: p.Dir, RepoPath: p.Dir, ConversationID: cli.NewConversation(), Prompt: prompt, Env: p.Env, StateDir: p.stateDir("draft", cli.Name())}
	p.openGit(&spec, cli.Name())
	return spec
}

func (p *Paw) openGit(spec *agent.Spec, cli string) {
	// Further arguments of the configuration are the adapters' business (agent.New).
	spec.GitWritable = p.Config.CLIs[cli].GitWritable
}

// recordedEnv is the user's environment with what was recorded at the first
// launch: it decides where the CLI looks for its conversations.
func (p *Paw) recordedEnv(w *session.Worktree) []string {
	env := append([]string{}, p.Env...)
	for name, value := range w.Environment {
		env = append(env, name+"="+value)
	}
	return env
}

// rememberedEnvironment picks the variables that resuming needs again. One that
// was not set is remembered as empty: it must not be set later either.
func (p *Paw) rememberedEnvironment(cli agent.CLI) map[string]string {
	env := map[string]string{}
	for _, name := range cli.Environment() {
		env[name] = p.getenv(name)
	}
	return env
}

// writePrivate saves a file only the user may read, with its folder.
func writePrivate(path string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return renameio.WriteFile(path, content, 0o600, renameio.WithTempDir(filepath.Dir(path)))
}
