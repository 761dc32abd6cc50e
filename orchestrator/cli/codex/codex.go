// Package codex is what paw knows of codex.
package codex

import (
	"slices"
	"strings"

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
		Turns: "exact, from hooks; API errors from the rollout file", LateHooks: true,
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
