package codex

import (
	"encoding/json"
	"path/filepath"
	"slices"

	"github.com/BurntSushi/toml"

	"paw/orchestrator/cli"
)

// ownConfig is what paw reads of codex's own configuration; it never writes there.
type ownConfig struct {
	SandboxMode string `toml:"sandbox_mode"`
	Sandbox     struct {
		Roots []string `toml:"writable_roots"`
	} `toml:"sandbox_workspace_write"`
	Projects map[string]struct {
		Trust string `toml:"trust_level"`
	} `toml:"projects"`
}

// writable are the options that open directories to codex's sandbox. With --add-dir codex ends at once where its sandbox
// allows no further directories at all, as in each repository that it does not trust yet: it could never ask for trust.
// A list in its configuration waits until it is of use, but stands in place of the user's own.
func (driver) writable(s cli.Spec, dirs []string) []string {
	if len(dirs) == 0 {
		return nil
	}
	var config ownConfig
	if _, err := toml.DecodeFile(filepath.Join(cli.Folder(s.Env, "CODEX_HOME", ".codex"), "config.toml"), &config); err != nil {
		config = ownConfig{} // it trusts nothing that paw knows of
	}
	var options []string
	if config.trusts(s.Worktree, s.RepoPath) && config.SandboxMode != "read-only" {
		for _, dir := range dirs {
			options = append(options, "--add-dir", dir)
		}
		return options
	}
	roots, err := json.Marshal(slices.Concat(config.Sandbox.Roots, dirs)) // a list of texts is the same in TOML
	if err != nil {
		return nil
	}
	return []string{"-c", "sandbox_workspace_write.writable_roots=" + string(roots)}
}

// trusts reports whether the user trusts one of the folders: codex keeps the answer under the main worktree.
func (c ownConfig) trusts(folders ...string) bool {
	for path, project := range c.Projects {
		if project.Trust == "trusted" && slices.ContainsFunc(folders, func(f string) bool { return f != "" && cli.Resolved(f) == cli.Resolved(path) }) {
			return true
		}
	}
	return false
}
