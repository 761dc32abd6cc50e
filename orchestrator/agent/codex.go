package agent

import (
	"context"
	"strings"
)

type codex struct{}

func (codex) Name() string    { return "codex" }
func (codex) Program() string { return "codex" }

func (codex) Version(ctx context.Context, executable string, env []string) (string, error) {
	return askVersion(ctx, executable, env)
}

// NewConversation returns "": codex names a conversation at its first prompt.
func (codex) NewConversation() string { return "" }

// embedded keeps codex out of its shared daemon, in which turns would run with the environment of whichever session
// started it and outlive their pane. A -c does that ("command-line configuration overrides … requires embedded mode")
// where --no-daemon is not known to every version. Not any: features.* stay with the daemon. This one also spares the
// agent the dialog about a new version, which would stand before its first prompt.
var embedded = []string{"-c", "check_for_update_on_startup=false"}

func (c codex) Launch(s Spec) (Command, error) {
	argv := append([]string{s.Executable}, c.options(s)...)
	if s.Prompt != "" {
		prompt := s.Prompt
		if strings.HasPrefix(prompt, "!") {
			prompt = " " + prompt // else it is a command for the user's shell
		}
		if err := checkPrompt(c.Name(), s.Prompt, prompt); err != nil {
			return Command{}, err
		}
		// After the dashes neither "-x" is an option nor "resume" a subcommand.
		argv = append(argv, "--", prompt)
	}
	return Command{Argv: argv}, nil
}

func (c codex) Resume(s Spec) (Command, error) {
	if err := checkID(c.Name(), s.ConversationID); err != nil {
		return Command{}, err
	}
	// Without -C a conversation that began elsewhere asks which directory is meant.
	argv := append([]string{s.Executable, "resume", "-C", s.Worktree}, c.options(s)...)
	return Command{Argv: append(argv, "--", s.ConversationID)}, nil
}

// options are those of both commands. In its sandbox codex cannot commit in a linked worktree: the index and the
// objects lie in two git directories outside of it, and both are needed.
func (codex) options(s Spec) []string {
	options := append([]string{}, embedded...)
	if s.GitWritable {
		for _, dir := range []string{s.GitCommonDir, s.GitDir} {
			if dir != "" {
				options = append(options, "--add-dir", dir)
			}
		}
	}
	return append(options, s.Args...)
}

// Environment has CODEX_SQLITE_HOME too: the list of conversations is a database beside the rollout files.
func (codex) Environment() []string { return []string{"CODEX_HOME", "CODEX_SQLITE_HOME"} }

func (codex) Facts() Facts {
	return Facts{
		Resume: "exact, by id", Fork: "yes", Headless: "codex exec",
		Turns: "exact, from hooks; API errors from the rollout file",
	}
}
