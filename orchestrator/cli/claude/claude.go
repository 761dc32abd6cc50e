// Package claude drives Claude Code.
package claude

import (
	"cmp"
	"slices"
	"time"

	"paw/config/lazyregexp"
	"paw/orchestrator/cli"
	"paw/orchestrator/cli/internal/prompts"
	"paw/orchestrator/cli/internal/streams"
)

// Driver is the driver of claude.
var Driver cli.Driver = driver{cli.Named{Of: "claude", Known: facts}, streams.Reader[streams.Message]{CLI: "claude"}}

type driver struct {
	cli.Named
	streams.Reader[streams.Message]
}

var facts = cli.Facts{
	ChoosesID: true, Returns: true, Moves: true, Metered: true, Resume: "exact, by id", Turns: "exact, from hooks; interrupts from its registry and transcript",
	Environment: []string{"CLAUDE_CONFIG_DIR"},
	Marks:       []string{"AI_AGENT", "CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_EXECPATH", "CLAUDE_CODE_SESSION_ID"},
	AwaitsEnd:   []string{"Stop", "StopFailure"}, // of claude 2.1.330
	// It needs no dialog check: claude reports SessionStart only after the user has trusted the folder.
	Ready: cli.Ready{Event: true, Box: true, Settle: 50 * time.Millisecond, Clear: []string{"C-u"}},
}

// keepInPane is the setting that switches the agent view off: no key or command of claude moves the
// conversation out of the pane then, and claude starts no daemon. The user's own settings may say
// otherwise.
const keepInPane = "disableAgentView"

// Away returns the processes of claude's daemon that have a conversation of the agent or run in its
// worktree: a conversation that was moved out of the pane has a new id. They are ended by `claude stop`:
// the daemon restarts a process that a signal has ended.
func (driver) Away(s cli.Spec) []cli.Away {
	var away []cli.Away
	all, worktree := registry(s), ""
	for _, entry := range all {
		if entry.Kind != background || entry.Spare || !entry.alive() {
			continue
		}
		if worktree == "" {
			worktree = s.Resolved(s.Worktree)
		}
		parked := slices.ContainsFunc(all, func(pane registryEntry) bool {
			return pane.SessionID == s.ConversationID && entry.parkedOf(pane)
		})
		if parked || entry.SessionID == s.ConversationID || s.Resolved(entry.Cwd) == worktree {
			one := cli.Away{PID: entry.PID, Conversation: entry.SessionID}
			if entry.JobID != "" {
				one.End = cli.Command{Argv: []string{s.Executable, "stop", entry.JobID}, Unset: []string{cli.ChildSession}}
			}
			away = append(away, one)
		}
	}
	slices.SortFunc(away, func(a, b cli.Away) int { return a.PID - b.PID })
	return away
}

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
		// Options such as --allowedTools take every word up to the next option: "--" ends them.
		argv = append(argv, "--", argument(prompt))
		err = cmp.Or(c.checkOwn(prompt), prompts.CheckArgument(c.Name(), prompt, argument(prompt)))
	}
	return cli.Command{Argv: argv, Unset: []string{cli.ChildSession}, Files: files}, err
}

// commandLike matches a slash command, or a single word: "doctor" is a subcommand of claude even
// after "--".
var commandLike = lazyregexp.New(`^(/|[[:alpha:]][\w-]{0,63}$)`)

// argument puts a space before a prompt that claude's command line would take for a command. It
// does not help against the commands that checkOwn refuses.
func argument(prompt string) string {
	if commandLike().MatchString(prompt) {
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
	argv := append([]string{s.Executable, "-p", "--output-format", "stream-json", "--verbose", option, s.ConversationID}, s.Args...)
	argv = append(argv, "--", argument(s.Prompt))
	return cli.Command{Argv: argv, Unset: []string{cli.ChildSession}}, prompts.CheckArgument(c.Name(), s.Prompt, argument(s.Prompt))
}
