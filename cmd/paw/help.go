package main

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// helpWidth is how many columns a line of help takes at most.
const helpWidth = 80

// helpGroups are the commands as paw --help lists them.
var helpGroups = []struct{ head, commands string }{
	{"START", "start add attach recover"},
	{"LOOK", "ui status turns diff log"},
	{"TALK", "send answer wait"},
	{"LAND, UNDO, TIDY", "land rewind stop remove purge"},
}

// rootHelp is paw --help: examples, the commands by what one wants, exit codes last.
const rootHelp = `Several AI coding CLIs at once on one repository: each gets a git branch, a
worktree and a tmux pane. After a crash everything comes back.

EXAMPLES
  paw start --cli claude,codex    two branches, two worktrees, two panes
  paw land claude                 what it has done, into your branch
  paw recover                     after a crash: same panes, same conversations
`

const rootHelpEnd = `MORE         run seen review usage next check forecast bisect update pr path sh
FOR AGENTS   spawn, done; paw help agents is the page for them to read
PAW ITSELF   clis, config, doctor, tmux, completion, version

Without a command it is paw ui where a session exists. %s COMMAND
--help says more. --color auto|always|never and --no-pager go with each command.

EXIT STATUS  0 ok, 1 error, 2 usage, 3 refused to protect work, 4 an agent waits
for you, 5 an agent failed, 6 prompt not confirmed, 7 time-out, 8 conflict,
9 check failed, 10 not found, 11 locked, 12 program missing, 130 interrupted
`

// showHelp prints the help of a command: how it is typed, examples, what it does, flags, and how it exits.
func (a *invocation) showHelp(cmd *cobra.Command) {
	head := func(text string) string { return a.paint(text, styleHead) }
	if !cmd.HasParent() {
		fmt.Fprintln(a.stdout, a.withHeads(rootHelp))
		for _, group := range helpGroups {
			fmt.Fprintln(a.stdout, head(group.head))
			for _, name := range strings.Fields(group.commands) {
				if sub, _, err := cmd.Find([]string{name}); err == nil {
					fmt.Fprintf(a.stdout, "  %-9s %s\n", name, sub.Short)
				}
			}
		}
		fmt.Fprintf(a.stdout, a.withHeads(rootHelpEnd), cmd.CommandPath())
		return
	}
	text, codes, _ := strings.Cut(cmd.Long, "\n\nEXIT STATUS\n")
	fmt.Fprintf(a.stdout, "%s\n  %s\n", head("USAGE"), useLine(cmd))
	if len(cmd.Aliases) > 0 {
		fmt.Fprintf(a.stdout, "  also: %s\n", strings.Join(cmd.Aliases, ", "))
	}
	if cmd.Example != "" {
		fmt.Fprintf(a.stdout, "\n%s\n%s\n", head("EXAMPLES"), cmd.Example)
	}
	fmt.Fprintf(a.stdout, "\n%s\n", reflowed(text, helpWidth))
	for _, sub := range cmd.Commands() {
		fmt.Fprintf(a.stdout, "\n%s\n  %s  %s\n", head("COMMANDS"), sub.CommandPath(), sub.Short)
	}
	flags := cmd.NonInheritedFlags()
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Name == "help" {
			f.Usage = "show this"
		}
	})
	fmt.Fprintf(a.stdout, "\n%s\n%s", head("FLAGS"), flags.FlagUsagesWrapped(helpWidth))
	if codes != "" {
		fmt.Fprintf(a.stdout, "\n%s\n%s\n", head("EXIT STATUS"), codes)
	}
}

// withHeads paints the words in capitals that begin lines.
func (a *invocation) withHeads(text string) string {
	for _, word := range []string{"EXAMPLES", "MORE", "FOR AGENTS", "PAW ITSELF", "EXIT STATUS"} {
		text = strings.Replace(text, word, a.paint(word, styleHead), 1)
	}
	return text
}

// reflowed is text with its paragraphs filled up to width; indented ones stay as they are.
func reflowed(text string, width int) string {
	paragraphs := strings.Split(strings.TrimSpace(text), "\n\n")
	for i, p := range paragraphs {
		if !strings.Contains("\n"+p, "\n ") {
			paragraphs[i] = strings.Join(columns.Wrap(strings.ReplaceAll(p, "\n", " "), width, len(p)+1), "\n")
		}
	}
	return strings.Join(paragraphs, "\n\n")
}

// agentsPage is what paw help agents prints, for an AI agent to read; docs/agents.md has it, too.
//
//go:embed agents.txt
var agentsPage string

// newHelp is paw help COMMAND.
func newHelp(a *invocation) *cobra.Command {
	return &cobra.Command{
		Use:    "help [COMMAND]",
		Short:  "Show the help of a command",
		Hidden: true,

		ValidArgsFunction: completeTopics,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 && args[0] == "agents" { // whom paw agents lists, as paw status does
				fmt.Fprintln(a.stdout, strings.TrimSpace(agentsPage))
				return nil
			}
			of, rest, err := cmd.Root().Find(args)
			if err != nil || of == cmd.Root() && len(args) > 0 || len(rest) > 0 {
				return a.unknownCommand(cmd.Root(), args)
			}
			a.showHelp(of)
			return nil
		},
	}
}
