package main

import (
	"bytes"
	"context"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"paw/config/display"
	"paw/config/lazyregexp"
	"paw/orchestrator/errs"
)

const helpWidth = 80

// helpGroups are the commands of paw --help, in groups.
var helpGroups = []struct{ head, commands string }{
	{"START", "start add attach recover"},
	{"LOOK", "ui status turns diff log"},
	{"TALK", "send answer wait"},
	{"LAND, UNDO, TIDY", "land rewind stop remove purge"},
}

// rootHelp begins paw --help. The list of commands and rootHelpEnd follow.
const rootHelp = `Several AI coding CLIs at once on one repository: each gets a git branch, a
worktree and a tmux pane. After a crash everything comes back.

EXAMPLES
  paw start --cli claude,codex    two branches, two worktrees, two panes
  paw land claude                 what it has done, into your branch
  paw recover                     after a crash: same panes, same conversations
`

const rootHelpEnd = `MORE         queue race next undo interrupt seen review blame check forecast
             bisect update pr
FOR AGENTS   run spawn done mcp (paw help agents)   WORKTREES  path sh env setup
PAW ITSELF   clis config usage host doctor tmux completion version demo
TOPICS       paw help all|states|names|prompts|landing|crash|tmux|files|json

Without a command it is paw ui where a session exists. %s COMMAND
--help says more. --color auto|always|never and --no-pager go with each command.

EXIT STATUS  0 ok, 1 error, 2 usage, 3 refused; more in paw help exit-codes
`

var groupsOfAll = append(slices.Clone(helpGroups),
	struct{ head, commands string }{"REVIEW AND COMPARE", "seen review blame check forecast update undo pr bisect"},
	struct{ head, commands string }{"MORE", "queue race interrupt next usage path sh env setup"},
	struct{ head, commands string }{"FOR AGENTS", "run spawn done mcp"},
	struct{ head, commands string }{"PAW ITSELF", "clis config host doctor tmux completion version demo"},
)

// helpPrinter prints the help of commands and the pages on topics.
type helpPrinter struct{ *invocation }

// help prints what paw help WORDS asks for: the overview, all commands, a topic or a command.
func (p helpPrinter) help(root *cobra.Command, words []string) error {
	if len(words) == 0 {
		return p.showHelp(root)
	}
	if len(words) == 1 {
		if words[0] == everybody {
			return p.showLong(root.Context(), p.allHelp(root))
		}
		if text, ok := topicNamed(words[0]); ok {
			return p.showLong(root.Context(), p.withHeads(text))
		}
	}
	of, rest, err := root.Find(words)
	if err == nil && of != root && len(rest) > 0 {
		return errs.New(errs.Usage, "%s: one command or topic at a time", strings.Join(words, " ")).Hint("%s --help", of.CommandPath())
	}
	if err != nil || of == root {
		if near := nearTopic(root, words[0]); near != "" {
			return errs.New(errs.Usage, "%s: no such command", words[0]).Hint("paw help %s", near)
		}
		return suggester(p).unknownCommand(root, words)
	}
	return p.showHelp(of)
}

// showHelp prints the help of a command, or of paw itself.
func (p helpPrinter) showHelp(cmd *cobra.Command) error {
	if !cmd.HasParent() {
		return p.showLong(cmd.Context(), p.rootHelp(cmd))
	}
	return p.showLong(cmd.Context(), p.commandHelp(cmd))
}

// showLong prints a text. On a terminal that is too small for the text it runs the user's pager.
func (p helpPrinter) showLong(ctx context.Context, text string) error {
	show := func() error {
		_, err := fmt.Fprintln(p.stdout, strings.TrimRight(text, "\n"))
		return err
	}
	if !isTerminal(p.stdout) {
		return show()
	}
	width, height := p.terminalSize()
	if text = display.Broken(text, width, 2); strings.Count(text, "\n") < height {
		return show()
	}
	h, err := p.paw()
	if err != nil {
		return show() // help works also where nothing else does
	}
	return p.paged(ctx, h, show)
}

// rootHelp returns the text of paw --help.
func (p helpPrinter) rootHelp(root *cobra.Command) string {
	return p.withHeads(rootHelp) + "\n" + p.commandList(root, helpGroups) + fmt.Sprintf(p.withHeads(rootHelpEnd), root.CommandPath())
}

func (p helpPrinter) allHelp(root *cobra.Command) string {
	text := p.commandList(root, groupsOfAll) + p.paint("TOPICS", styleHead) + "\n"
	for _, name := range topicNames() {
		text += fmt.Sprintf("  paw help %-11s %s\n", name, topicAbout(name))
	}
	return text
}

// commandList returns a line for each command of groups.
func (p helpPrinter) commandList(root *cobra.Command, groups []struct{ head, commands string }) string {
	var out bytes.Buffer
	for _, group := range groups {
		fmt.Fprintln(&out, p.paint(group.head, styleHead))
		for _, name := range strings.Fields(group.commands) {
			if sub, _, err := root.Find([]string{name}); err == nil {
				fmt.Fprintf(&out, "  %-10s %s\n", name, sub.Short)
			}
		}
	}
	return out.String()
}

// commandHelp returns the help of one command: usage, examples, description, flags and exit codes.
func (p helpPrinter) commandHelp(cmd *cobra.Command) string {
	var out bytes.Buffer
	head := func(text string) string { return p.paint(text, styleHead) }
	text, codes, _ := strings.Cut(cmd.Long, "\n\nEXIT STATUS\n")
	fmt.Fprintf(&out, "%s\n  %s\n", head("USAGE"), useLine(cmd))
	if len(cmd.Aliases) > 0 {
		fmt.Fprintf(&out, "  also: %s\n", strings.Join(cmd.Aliases, ", "))
	}
	if cmd.Example != "" {
		fmt.Fprintf(&out, "\n%s\n%s\n", head("EXAMPLES"), cmd.Example)
	}
	fmt.Fprintf(&out, "\n%s\n", reflowed(text, helpWidth))
	if cmd.HasSubCommands() {
		fmt.Fprintf(&out, "\n%s\n", head("COMMANDS"))
	}
	for _, sub := range cmd.Commands() {
		fmt.Fprintf(&out, "  %-*s  %s\n", len(cmd.CommandPath())+7, sub.CommandPath(), sub.Short)
	}
	cmd.InitDefaultHelpFlag()
	flags := cmd.NonInheritedFlags()
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Name == "help" {
			f.Usage = "show this"
		}
	})
	fmt.Fprintf(&out, "\n%s\n%s", head("FLAGS"), flags.FlagUsagesWrapped(helpWidth))
	if codes != "" {
		fmt.Fprintf(&out, "\n%s\n%s\n", head("EXIT STATUS"), codes)
	}
	return out.String()
}

// topicFiles are pages about what is not one command. The first line of each says what the page is
// about.
//
//go:embed topics/*.txt
var topicFiles embed.FS

func topicNames() []string {
	files, err := fs.Glob(topicFiles, "topics/*.txt")
	if err != nil {
		panic(err) // the pattern is malformed
	}
	for i, file := range files {
		files[i] = strings.TrimSuffix(path.Base(file), ".txt")
	}
	return files
}

// topicNamed returns the page of a topic, wrapped to the width of the help.
func topicNamed(name string) (string, bool) {
	text, err := topicFiles.ReadFile("topics/" + name + ".txt")
	if err != nil {
		return "", false
	}
	return reflowed(string(text), helpWidth) + "\n", true
}

// topicAbout returns the title of a topic.
func topicAbout(name string) string {
	if name == "agents" {
		return "For an AI agent to read: what it may run inside paw"
	}
	page, _ := topicNamed(name)
	about, _, _ := strings.Cut(page, "\n")
	return about
}

// nearTopic returns the topic that a mistyped word means, if it can mean neither another topic nor a command.
func nearTopic(root *cobra.Command, word string) string {
	near := nearest(word, append(topicNames(), commandNames(root)...))
	if len(near) == 1 && slices.Contains(topicNames(), near[0]) {
		return near[0]
	}
	return ""
}

// withHeads makes the headings of a help text bold: words in capitals at the begin of a line.
func (p helpPrinter) withHeads(text string) string {
	return headWords().ReplaceAllStringFunc(text, func(word string) string { return p.paint(word, styleHead) })
}

var headWords = lazyregexp.New(`(?m)^[A-Z][A-Z, ]+[A-Z]($|  )`)

// reflowed wraps the paragraphs of a text to a width. Indented paragraphs stay as they are.
func reflowed(text string, width int) string {
	paragraphs := strings.Split(strings.TrimSpace(text), "\n\n")
	for i, p := range paragraphs {
		if !strings.Contains("\n"+p, "\n ") {
			paragraphs[i] = strings.Join(columns.Wrap(strings.ReplaceAll(p, "\n", " "), width, len(p)+1), "\n")
		}
	}
	return strings.Join(paragraphs, "\n\n")
}

func newHelp(a *invocation) *cobra.Command {
	skill := false
	cmd := &cobra.Command{
		Use:    "help [COMMAND | TOPIC | all]",
		Short:  "Show the help of a command, or a page on a topic",
		Hidden: true,

		ValidArgsFunction: completeTopics,
		RunE: func(cmd *cobra.Command, args []string) error {
			if !skill {
				return helpPrinter{a}.help(cmd.Root(), args)
			}
			if !slices.Equal(args, []string{"agents"}) {
				return errs.New(errs.Usage, "--skill: the page for agents is the skill").Hint("paw help agents --skill")
			}
			page, _ := topicNamed("agents")
			fmt.Fprint(a.stdout, skillHead+page)
			return nil
		},
	}
	cmd.Flags().BoolVar(&skill, "skill", false, "with agents: the page as a SKILL.md, for the folder of a CLI's skills")
	return cmd
}

// skillHead begins the SKILL.md that paw help agents --skill prints.
const skillHead = `---
name: paw
description: Start other AI coding agents beside you on this repository, wait for them and take over their work. Use when PAW_SESSION and PAW_AGENT are set and work is to be handed to another agent, or when your own work in paw is finished.
---

`

func completeTopics(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var words []string
	for _, sub := range cmd.Root().Commands() {
		if !sub.Hidden {
			words = append(words, described(sub.Name(), sub.Short))
		}
	}
	for _, name := range topicNames() {
		words = append(words, described(name, topicAbout(name)))
	}
	return words, cobra.ShellCompDirectiveNoFileComp
}
