package claude

import (
	"slices"

	"paw/config/lazyregexp"
	"paw/orchestrator/cli"
	"paw/orchestrator/cli/internal/prompts"
	"paw/orchestrator/cli/internal/streams"
)

func (c driver) Launch(s cli.Spec) (cli.Command, error) {
	return c.command(s, s.Prompt, "--session-id", s.ConversationID)
}

func (c driver) Resume(s cli.Spec) (cli.Command, error) {
	return c.command(s, "", "--resume", s.ConversationID)
}

// Fork opens a copy of the conversation from under a new id. Like Resume it works in every worktree
// of the repository in which from began.
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
		// Options such as --allowedTools take every word up to the next option: "--" ends them.
		argv = append(argv, "--", text)
	}
	return cli.Command{Argv: argv, Unset: []string{cli.ChildSession}, Files: files}, nil
}

// commandLike matches a slash command, or a single word: "doctor" is a subcommand of claude even
// after "--".
var commandLike = lazyregexp.New(`^(/|[[:alpha:]][\w-]{0,63}$)`)

// argument puts a space before a prompt that claude's command line would take for a command. It
// does not help against the commands that checkOwn refuses.
func argument(prompt string) string {
	if commandLike.MatchString(prompt) {
		return " " + prompt
	}
	return prompt
}

// Headless asks for a stream of JSON, because claude's exit code does not tell an interrupt from an
// answer.
func (c driver) Headless(s cli.Spec) (cli.Command, error) {
	option, err := prompts.Session(c, s)
	if err != nil {
		return cli.Command{}, err
	}
	prompt := argument(s.Prompt)
	if err := prompts.CheckArgument(c.Name(), s.Prompt, prompt); err != nil {
		return cli.Command{}, err
	}
	argv := append([]string{s.Executable, "-p", "--output-format", "stream-json", "--verbose", option, s.ConversationID}, s.Args...)
	argv = append(argv, "--", prompt)
	return cli.Command{Argv: argv, Unset: []string{cli.ChildSession}}, nil
}

func (driver) HeadlessLine(line []byte) string { return streams.Show(line, streams.Message.Tell) }

func (c driver) HeadlessResult(stdout []byte, exitCode int) (string, error) {
	return streams.Result(c.Name(), streams.Turn{}, stdout, exitCode, streams.Message.Tell)
}
