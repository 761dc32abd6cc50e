package agent

import (
	"context"
	"regexp"

	"github.com/google/uuid"
)

// childSession is set for everything that claude runs, so also for a tmux server started from there. An interactive
// claude that has it writes neither transcript nor registry and cannot be resumed.
const childSession = "CLAUDE_CODE_CHILD_SESSION"

type claude struct{}

func (claude) Name() string    { return "claude" }
func (claude) Program() string { return "claude" }

func (claude) Version(ctx context.Context, executable string, env []string) (string, error) {
	return askVersion(ctx, executable, env)
}

func (claude) NewConversation() string { return uuid.NewString() }

func (c claude) Launch(s Spec) (Command, error) {
	if err := checkID(c.Name(), s.ConversationID); err != nil {
		return Command{}, err
	}
	argv := append([]string{s.Executable, "--session-id", s.ConversationID}, s.Args...)
	if s.Prompt != "" {
		prompt := claudePrompt(s.Prompt)
		if err := checkPrompt(c.Name(), s.Prompt, prompt); err != nil {
			return Command{}, err
		}
		// Options such as --allowedTools take every word up to the next option, hence the dashes.
		argv = append(argv, "--", prompt)
	}
	return Command{Argv: argv, Unset: []string{childSession}}, nil
}

func (c claude) Resume(s Spec) (Command, error) {
	if err := checkID(c.Name(), s.ConversationID); err != nil {
		return Command{}, err
	}
	argv := append([]string{s.Executable, "--resume", s.ConversationID}, s.Args...)
	return Command{Argv: argv, Unset: []string{childSession}}, nil
}

// commandLike is a slash command, or a single word: "doctor" is a subcommand of claude even after "--".
var commandLike = regexp.MustCompile(`^(/|[[:alpha:]][\w-]{0,63}$)`)

// claudePrompt makes text of a prompt that claude would take for a command; a leading space does that.
func claudePrompt(prompt string) string {
	if commandLike.MatchString(prompt) {
		return " " + prompt
	}
	return prompt
}

func (claude) Environment() []string { return []string{"CLAUDE_CONFIG_DIR"} }

func (claude) Facts() Facts {
	return Facts{ChoosesID: true, Resume: "exact, by id", Fork: "yes", Headless: "claude -p", Turns: "exact, from hooks"}
}
