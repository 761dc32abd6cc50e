// Package claude is what paw knows of Claude Code.
package claude

import (
	"slices"
	"time"

	"github.com/google/uuid"

	"paw/config/lazyregexp"
	"paw/orchestrator/cli"
	"paw/orchestrator/cli/internal/prompts"
)

// Driver is that of claude.
var Driver cli.Driver = driver{"claude"}

type driver struct{ cli.Named }

func (driver) NewConversation() string { return uuid.NewString() }

func (c driver) Launch(s cli.Spec) (cli.Command, error) {
	return c.command(s, s.Prompt, "--session-id", s.ConversationID)
}

func (c driver) Resume(s cli.Spec) (cli.Command, error) {
	return c.command(s, "", "--resume", s.ConversationID)
}

// Fork opens from under a new id. Like Resume it works in all worktrees of the repository that from began in.
func (c driver) Fork(s cli.Spec, from string) (cli.Command, error) {
	return c.command(s, s.Prompt, "--resume", from, "--fork-session", "--session-id", s.ConversationID)
}

func (c driver) command(s cli.Spec, prompt string, words ...string) (cli.Command, error) {
	args, files, err := c.withHooks(s, s.Args, slices.Contains(words, "--fork-session"))
	if err != nil {
		return cli.Command{}, err
	}
	argv := slices.Concat([]string{s.Executable}, words, args)
	if prompt != "" {
		if err := c.checkOwn(prompt); err != nil {
			return cli.Command{}, err
		}
		text := argument(prompt)
		if err := prompts.CheckArgument(c.Name(), prompt, text); err != nil {
			return cli.Command{}, err
		}
		// Options such as --allowedTools take every word up to the next option, hence the dashes.
		argv = append(argv, "--", text)
	}
	return cli.Command{Argv: argv, Unset: []string{cli.ChildSession}, Files: files}, nil
}

// commandLike is a slash command, or a single word: "doctor" is a subcommand of claude even after "--".
var commandLike = lazyregexp.New(`^(/|[[:alpha:]][\w-]{0,63}$)`)

// argument makes text of a prompt that claude's command line would take for a command; a leading space does that,
// but for what claude itself takes when it talks with a user (see checkOwn).
func argument(prompt string) string {
	if commandLike.MatchString(prompt) {
		return " " + prompt
	}
	return prompt
}

func (driver) Environment() []string { return []string{"CLAUDE_CONFIG_DIR"} }

func (driver) Facts() cli.Facts {
	return cli.Facts{ChoosesID: true, Metered: true, Resume: "exact, by id", Turns: "exact, from hooks; interrupts from its registry and transcript"}
}

// Ready: SessionStart comes after the question whether the folder is trusted.
func (driver) Ready() cli.Ready {
	return cli.Ready{Event: true, Box: true, Settle: 50 * time.Millisecond, Clear: "C-u"}
}

// Marks were seen with 2.1.197.
func (driver) Marks() []string {
	return []string{"AI_AGENT", "CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_EXECPATH", "CLAUDE_CODE_SESSION_ID"}
}

// AwaitsEnd names the hooks that claude 2.1.330 runs before it takes the next prompt.
func (driver) AwaitsEnd(hook string) bool { return hook == "Stop" || hook == "StopFailure" }
