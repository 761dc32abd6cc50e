package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"paw/config/display"
	"paw/orchestrator"
	"paw/orchestrator/errs"
	"paw/session/history"
)

type logOptions struct {
	*invocation
	turn int
	full bool
	grep grepOptions
}

func newLog(a *invocation) *cobra.Command {
	o := &logOptions{invocation: a, grep: grepOptions{invocation: a, most: 100}}
	cmd := &cobra.Command{
		Use:   "log [AGENT[@N]] [N]",
		Short: "Show the conversation of an agent",
		Long: exits(`Show the conversation of an agent, read from its CLI's own record: prompts, answers,
and the tools the CLI used with their results. It works while the agent runs, after a
stop and after a crash, and changes nothing.

N, or --turn N, shows that turn alone, also when it was in an earlier conversation. AGENT may be left out
where there is one agent only.

--grep finds the messages that have a text, in all conversations of the session's agents or
of those that are named, with --all of all sessions; the newest first. Where no message has it, the exit status is 1.`, exitUsage, exitNotFound, "12   opencode is not installed: its conversations cannot be read without it"),
		Example: `  paw log claude
  paw log claude 3 --full
  paw log claude --json
  paw log --grep migration -i --all`,
		Args: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("grep") {
				return nil
			}
			return cobra.MaximumNArgs(2)(cmd, args)
		},
		ValidArgsFunction: a.completes(completion.agents),
		RunE:              o.run,
	}
	f := cmd.Flags()
	f.IntVar(&o.turn, "turn", 0, "only the messages of turn `N`")
	f.StringVar(&o.grep.Text, "grep", "", "find the messages that have `TEXT`")
	f.BoolVarP(&o.grep.IgnoreCase, "ignore-case", "i", false, "with --grep: small and capital letters are the same")
	f.StringVar(&o.grep.Role, "role", "", "with --grep: user, assistant or tool")
	f.BoolVarP(&o.grep.all, "all", "a", false, "with --grep: the agents of all sessions")
	f.IntVarP(&o.grep.most, "most", "n", o.grep.most, "only the last `N` messages; --grep shows 100 if not told otherwise")
	f.Lookup("most").DefValue = "0" // no default without --grep
	f.BoolVar(&o.full, "full", false, "results and arguments of tools in full")
	a.addSession(cmd)
	a.addJSON(cmd)
	return cmd
}

func (o *logOptions) run(cmd *cobra.Command, args []string) error {
	if o.grep.most < 1 {
		return usagef(cmd, "--most %d: it takes a number from 1 on", o.grep.most)
	}
	if cmd.Flags().Changed("grep") {
		return o.grep.run(cmd, args)
	}
	for _, flag := range []string{"ignore-case", "role", "all"} {
		if cmd.Flags().Changed(flag) {
			return usagef(cmd, "--%s goes with --grep", flag)
		}
	}
	h, s, agent, named, err := o.agentAndTurn(cmd, args)
	if err != nil {
		return err
	}
	number, err := o.turnNamed(cmd, args, named)
	if err != nil {
		return err
	}
	logged, err := orchestrator.Log(cmd.Context(), h, s, agent, number)
	if err != nil {
		return err
	}
	if cmd.Flags().Changed("most") {
		logged.Messages = logged.Messages[max(0, len(logged.Messages)-o.grep.most):]
	}
	if o.json {
		return o.printJSON(object{
			{"version", 1}, {"session", s.Name}, {"agent", logged.Agent}, {"id", orNull(logged.ID)},
			{"messages", logged.Messages}, {"skipped", logged.Skipped},
		})
	}
	return o.paged(cmd.Context(), h, func() error {
		o.printLog(s.Name, logged)
		return nil
	})
}

// turnNamed returns the number of the turn that --turn or a word names, nil for none.
func (o *logOptions) turnNamed(cmd *cobra.Command, args []string, named string) (*int, error) {
	flag := cmd.Flags().Changed("turn")
	n, err := strconv.Atoi(named)
	switch {
	case named == "" && flag:
		return &o.turn, nil
	case named == "":
		return nil, nil
	case flag:
		return nil, usagef(cmd, "%s: names a turn, and so does --turn", strings.Join(args, " "))
	case err != nil:
		return nil, usagef(cmd, "%s: not the number of a turn", named)
	}
	return &n, nil
}

var roleColours = map[history.Role]string{
	history.RoleUser: display.Green + ";1", history.RoleAssistant: display.Cyan + ";1", history.RoleTool: display.Grey, history.RoleSystem: display.Yellow,
}

// printLog prints a conversation, with notes about messages that are missing in it.
func (o *logOptions) printLog(sessionName string, l *orchestrator.Logged) {
	switch {
	case l.Skipped == 1:
		o.note("1 record of the conversation was not understood")
	case l.Skipped > 1:
		o.note(fmt.Sprintf("%d records of the conversation were not understood", l.Skipped))
	}
	if n := len(l.Elsewhere); n > 0 {
		o.note(fmt.Sprintf("%s in another conversation: %s", turnsWere(l.Elsewhere), errs.Line("paw log %s/%s --turn %d", sessionName, l.Agent, l.Elsewhere[n-1])))
	}
	switch {
	case len(l.Messages) > 0:
	case l.Turn != nil:
		fmt.Fprintf(o.stdout, "the conversation has no messages of turn %d\n", l.Turn.Number)
	case l.Asked:
		fmt.Fprintf(o.stdout, "nothing readable is left of the conversation: %s lists its turns\n", errs.Line("paw turns %s/%s", sessionName, l.Agent))
	default:
		fmt.Fprintln(o.stdout, "no conversation yet")
	}
	var out strings.Builder
	tools := map[string]string{} // names of tools by the id of the call
	for i, m := range l.Messages {
		if i > 0 {
			out.WriteByte('\n')
		}
		for _, call := range m.ToolCalls {
			tools[call.ID] = call.Name
		}
		o.printMessage(&out, m, tools[m.ToolCallID])
	}
	_, _ = io.WriteString(o.stdout, out.String())
}

// printMessage prints one message: a line with role and time, then the indented content.
func (o *logOptions) printMessage(out *strings.Builder, m history.Message, tool string) {
	head := o.paint(display.Printable(m.Role.String()), roleColours[m.Role])
	if !m.Timestamp.IsZero() {
		head += "  " + m.Timestamp.Local().Format("2006-01-02 15:04:05")
	}
	if tool != "" {
		head += "  " + shorten(tool, 60)
	}
	out.WriteString(head + "\n")
	content := strings.TrimRight(display.Printable(m.Content), "\n \t")
	if m.Role == history.RoleTool && !o.full {
		content = fewLines(content)
	}
	indent(out, content)
	for _, call := range m.ToolCalls {
		arguments := shorten(strings.Join(strings.Fields(call.Arguments), " "), longestArguments)
		if o.full {
			arguments = display.Printable(call.Arguments)
		}
		indent(out, strings.TrimSpace("→ "+shorten(call.Name, 60)+" "+arguments))
	}
}

// Limits of what is shown of a tool's arguments and its result without --full.
const (
	longestArguments = 120
	longestLine      = 200
	mostLines        = 6
)

// fewLines cuts the result of a tool, and says how much is left out.
func fewLines(text string) string {
	lines := strings.Split(text, "\n")
	left := len(lines) - mostLines
	lines = lines[:min(len(lines), mostLines)]
	cut := 0
	for i, line := range lines {
		if n := utf8.RuneCountInString(line); n > longestLine {
			lines[i] = string([]rune(line)[:longestLine]) + "..."
			cut += n - longestLine
		}
	}
	var more []string
	if left > 0 {
		more = append(more, errs.Counted(left, "more line"))
	}
	if cut > 0 {
		more = append(more, errs.Counted(cut, "more character"))
	}
	if len(more) > 0 {
		lines = append(lines, "... "+strings.Join(more, ", "))
	}
	return strings.Join(lines, "\n")
}

// indent writes text with two spaces before each line that is not empty.
func indent(out *strings.Builder, text string) {
	if text == "" {
		return
	}
	for line := range strings.Lines(text + "\n") {
		if line != "\n" {
			out.WriteString("  ")
		}
		out.WriteString(line)
	}
}

// turnsWere returns "turn 3 was", or "turns 1 to 3, 5 were".
func turnsWere(numbers []int) string {
	if len(numbers) == 1 {
		return fmt.Sprintf("turn %d was", numbers[0])
	}
	var parts []string
	for i := 0; i < len(numbers); {
		last := i
		for last+1 < len(numbers) && numbers[last+1] == numbers[last]+1 {
			last++
		}
		part := fmt.Sprint(numbers[i])
		if last > i {
			part += fmt.Sprintf(" to %d", numbers[last])
		}
		parts = append(parts, part)
		i = last + 1
	}
	return "turns " + strings.Join(parts, ", ") + " were"
}
