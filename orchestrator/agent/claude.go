package agent

import (
	"slices"
	"time"

	"github.com/google/uuid"

	"paw/config/lazyregexp"
)

type claude struct{}

func (claude) Name() string    { return "claude" }
func (claude) Program() string { return "claude" }

func (claude) NewConversation() string { return uuid.NewString() }

func (c claude) Launch(s Spec) (Command, error) {
	if err := checkID(c.Name(), s.ConversationID); err != nil {
		return Command{}, err
	}
	return c.command(s, s.Prompt, "--session-id", s.ConversationID)
}

func (c claude) Resume(s Spec) (Command, error) {
	if err := checkID(c.Name(), s.ConversationID); err != nil {
		return Command{}, err
	}
	return c.command(s, "", "--resume", s.ConversationID)
}

// Fork opens from under a new id. Like Resume it works in all worktrees of the repository that from began in.
func (c claude) Fork(s Spec, from string) (Command, error) {
	for _, id := range []string{from, s.ConversationID} {
		if err := checkID(c.Name(), id); err != nil {
			return Command{}, err
		}
	}
	return c.command(s, s.Prompt, "--resume", from, "--fork-session", "--session-id", s.ConversationID)
}

func (c claude) command(s Spec, prompt string, words ...string) (Command, error) {
	args, files, err := c.withHooks(s, s.Args, slices.Contains(words, "--fork-session"))
	if err != nil {
		return Command{}, err
	}
	argv := slices.Concat([]string{s.Executable}, words, args)
	if prompt != "" {
		if err := c.checkOwn(prompt); err != nil {
			return Command{}, err
		}
		text := claudeArgument(prompt)
		if err := checkPrompt(c.Name(), prompt, text); err != nil {
			return Command{}, err
		}
		// Options such as --allowedTools take every word up to the next option, hence the dashes.
		argv = append(argv, "--", text)
	}
	return Command{Argv: argv, Unset: []string{childSession}, Files: files}, nil
}

// commandLike is a slash command, or a single word: "doctor" is a subcommand of claude even after "--".
var commandLike = lazyregexp.New(`^(/|[[:alpha:]][\w-]{0,63}$)`)

// claudeArgument makes text of a prompt that claude's command line would take for a command; a leading space does that,
// but for what claude itself takes when it talks with a user (see checkOwn).
func claudeArgument(prompt string) string {
	if commandLike.MatchString(prompt) {
		return " " + prompt
	}
	return prompt
}

func (claude) Environment() []string { return []string{"CLAUDE_CONFIG_DIR"} }

func (claude) Facts() Facts {
	return Facts{ChoosesID: true, Resume: "exact, by id", Fork: "yes", Headless: "claude -p", Turns: "exact, from hooks; interrupts from its registry and transcript"}
}

// Ready: SessionStart comes after the question whether the folder is trusted.
func (claude) Ready() Ready {
	return Ready{Event: true, Box: true, Settle: 50 * time.Millisecond, Clear: "C-u"}
}

// Marks were seen with 2.1.197.
func (claude) Marks() []string {
	return []string{"AI_AGENT", "CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_EXECPATH", "CLAUDE_CODE_SESSION_ID"}
}
