// Package codex is what paw knows of codex.
package codex

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"paw/orchestrator/cli"
	"paw/orchestrator/cli/internal/prompts"
)

// Driver is that of codex.
var Driver cli.Driver = driver{"codex"}

type driver struct{ cli.Named }

// NewConversation returns "": codex names a conversation at its first prompt.
func (driver) NewConversation() string { return "" }

// embedded keeps codex out of its shared daemon, in which turns would run with the environment of whichever session
// started it and outlive their pane. A -c does that ("command-line configuration overrides … requires embedded mode")
// where --no-daemon is not known to every version. Not any: features.* stay with the daemon. This one also spares the
// agent the dialog about a new version, which would stand before its first prompt.
var embedded = []string{"-c", "check_for_update_on_startup=false"}

func (c driver) Launch(s cli.Spec) (cli.Command, error) {
	return c.command(s, s.Prompt, "")
}

func (c driver) Resume(s cli.Spec) (cli.Command, error) {
	return c.command(s, "", s.ConversationID, "resume")
}

// Fork lets codex choose the id of the copy.
func (c driver) Fork(s cli.Spec, from string) (cli.Command, error) {
	return c.command(s, s.Prompt, from, "fork")
}

// command is that of a subcommand, if any, with the conversation it is about and a prompt.
func (c driver) command(s cli.Spec, prompt, conversation string, subcommand ...string) (cli.Command, error) {
	hooks, err := c.hooks(s)
	if err != nil {
		return cli.Command{}, err
	}
	argv := append([]string{s.Executable}, subcommand...)
	if len(subcommand) > 0 {
		// Without -C a conversation that began elsewhere asks which directory is meant.
		argv = append(argv, "-C", s.Worktree)
	}
	argv = append(argv, c.options(s, hooks)...)
	// After the dashes neither "-x" is an option nor "resume" a subcommand.
	if conversation != "" || prompt != "" {
		argv = append(argv, "--")
	}
	if conversation != "" {
		argv = append(argv, conversation)
	}
	if prompt != "" {
		text := prompt
		if strings.HasPrefix(prompt, "!") {
			text = " " + prompt // else it is a command for the user's shell
		}
		if err := prompts.CheckArgument(c.Name(), prompt, text); err != nil {
			return cli.Command{}, err
		}
		argv = append(argv, text)
	}
	return cli.Command{Argv: argv}, nil
}

// options are those of all commands. In its sandbox codex cannot commit in a linked worktree: the index and the
// objects lie in two git directories outside of it, and both are needed.
func (c driver) options(s cli.Spec, hooks []string) []string {
	var dirs []string
	if s.GitWritable {
		dirs = slices.DeleteFunc([]string{s.GitCommonDir, s.GitDir}, func(dir string) bool { return dir == "" })
	}
	return slices.Concat(embedded, hooks, c.writable(s, dirs), s.Args)
}

// Environment has CODEX_SQLITE_HOME too: the list of conversations is a database beside the rollout files.
func (driver) Environment() []string { return []string{"CODEX_HOME", "CODEX_SQLITE_HOME"} }

func (driver) Facts() cli.Facts {
	return cli.Facts{
		Metered: true, Resume: "exact, by id",
		Turns: "exact, from hooks; API errors from the rollout file", LateHooks: true, SilentErrors: true,
	}
}

// Literal: a space before "/" or "!" is trimmed again, after it has made the text a prompt.
func (driver) Literal(prompt string) (string, error) { return prompts.Spaced(prompt), nil }

// Ready: SessionStart comes only with the first prompt, hence the composer on the screen.
func (driver) Ready() cli.Ready { return cli.Ready{Box: true, Clear: "C-u"} }

// Marks were seen with 0.169.
func (driver) Marks() []string {
	return []string{"CODEX_CI", "CODEX_SANDBOX", "CODEX_SANDBOX_NETWORK_DISABLED", "CODEX_SESSION_ID", "CODEX_THREAD_ID", "CODEX_TOOL_CALL_ID"}
}

// AwaitsEnd names the hook that codex 0.169.0 runs before it takes the next prompt.
func (driver) AwaitsEnd(hook string) bool { return hook == "Stop" }

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
