package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"paw/config/display"
	"paw/orchestrator"
	"paw/orchestrator/errs"
	"paw/orchestrator/turns"
	"paw/session"
	"paw/session/turn"
)

type turnsOptions struct {
	*invocation
	since string
}

func newTurns(a *invocation) *cobra.Command {
	o := &turnsOptions{invocation: a}
	cmd := &cobra.Command{
		Use:   "turns [AGENT...]",
		Short: "List the turns of the agents",
		Long: exits(`List the turns of the agents: number, how each ended, the commit it ended on, the
files it changed, how long it took, and its prompt, with what went wrong in
parentheses. A finished turn N has the tag
afk-SESSION_AGENT-N; --json has its snapshot and more. On a terminal WHEN is the time at
which it began. --since shows those that ended after a time: today, yesterday, a date
(2026-03-01), a date and time (2026-03-01T18:00), or how long ago (90m, 8h).`, exitUsage, exitNotFound),
		Example: `  paw turns
  paw turns claude codex
  paw turns --since yesterday
  paw turns claude --json`,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: a.completes(completion.agents),
		RunE:              o.run,
	}
	cmd.Flags().StringVar(&o.since, "since", "", "only turns that ended after: today, yesterday, a date, or how long ago (90m, 8h)")
	a.addSession(cmd)
	a.addJSON(cmd)
	completeFlag(cmd, "since", cobra.FixedCompletions([]string{"today", "yesterday", "1h", "8h"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func (o *turnsOptions) run(cmd *cobra.Command, args []string) error {
	h, s, agents, err := o.agents(cmd, args)
	if err != nil {
		return err
	}
	from, err := sinceWhen(o.since, h.Now())
	if err != nil {
		return usagef(cmd, "--since %s: %s", o.since, err)
	}
	orchestrator.CloseUnseen(cmd.Context(), h, s, agents...)
	list, problems, err := orchestrator.Turns(cmd.Context(), h, s, agents...)
	if err != nil {
		return err
	}
	none := "no turns yet"
	if !from.IsZero() {
		turnsSince(list, from)
		none = "no turns since " + timeOf(from, h.Now(), "2 Jan 15:04")
	}
	if o.json {
		return o.printJSON(turnsView(s.Name, list, problems))
	}
	o.printProblems(problems)
	return o.paged(cmd.Context(), h, func() error {
		for _, one := range list {
			o.printTurns(s.Name, one, len(list) > 1, none)
		}
		return o.unread(problems)
	})
}

// sinceWhen parses the time of --since. It returns the zero time for an empty text.
func sinceWhen(text string, now time.Time) (time.Time, error) {
	now = now.Local()
	midnight := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
	switch text {
	case "":
		return time.Time{}, nil
	case "today":
		return midnight, nil
	case "yesterday":
		return midnight.AddDate(0, 0, -1), nil
	}
	for _, form := range []string{"2006-01-02", "2006-01-02T15:04", "2006-01-02 15:04", time.RFC3339} {
		if at, err := time.ParseInLocation(form, text, now.Location()); err == nil {
			return at, nil
		}
	}
	if clock, err := time.Parse("15:04", text); err == nil {
		return midnight.Add(time.Duration(clock.Hour())*time.Hour + time.Duration(clock.Minute())*time.Minute), nil
	}
	if ago, err := time.ParseDuration(text); err == nil && ago >= 0 {
		return now.Add(-ago), nil
	}
	return time.Time{}, errors.New("not a time: today, yesterday, 2026-03-01, 2026-03-01T18:00, 18:00, 90m or 8h")
}

// turnsSince removes the turns that ended before a time.
func turnsSince(list []turns.AgentTurns, from time.Time) {
	for i := range list {
		list[i].Finished = 0 // their times are not known
		list[i].Turns = slices.DeleteFunc(list[i].Turns, func(t turns.Turn) bool {
			return t.LogGone || t.EndedAt != nil && t.EndedAt.Before(from)
		})
	}
}

// printTurns prints the turns of an agent, below its name when that is asked for; none stands for no turns.
func (o *turnsOptions) printTurns(sessionName string, list turns.AgentTurns, named bool, none string) {
	indent := ""
	if named {
		fmt.Fprintln(o.stdout, list.Agent)
		indent = "  "
	}
	switch {
	case len(list.Turns) > 0:
	case list.Finished > 0:
		fmt.Fprintf(o.stdout, "%s%s finished; no log and no tag is left\n", indent, errs.Counted(list.Finished, "turn"))
		return
	default:
		fmt.Fprintf(o.stdout, "%s%s\n", indent, none)
		return
	}
	dated := isTerminal(o.stdout) || o.colourFlag == "always" // also for the desk, which asks for colours
	head := heads("N", "OUTCOME", "COMMIT", "FILES", "TIME", "PROMPT")
	if dated {
		head = slices.Insert(head, 5, heads("WHEN")...)
	}
	rows := [][]cell{head}
	for _, t := range list.Turns {
		rows = append(rows, turnRow(t, dated))
	}
	o.printTable(o.stdout, indent, rows, "COMMIT", "FILES", "TIME", "WHEN")
	for _, missing := range list.LeftOut {
		fmt.Fprintf(o.stdout, "%s%s\n", indent, missing)
	}
	for _, unsaved := range inNoTurn(list.Turns) {
		fmt.Fprintf(o.stdout, "%s%s\n", indent, unsaved)
	}
	if list.Where != "" {
		fmt.Fprintf(o.stdout, "%sits worktree is %s (%s)\n", indent, list.Where, errs.Line("paw rewind %s/%s %s", sessionName, list.Agent, list.BackBy))
	}
}

// turnRow returns the row of a turn; dated ones say when it began, and speak to people.
func turnRow(t turns.Turn, dated bool) []cell {
	files := ""
	switch {
	case t.Files != nil:
		files = errs.Counted(*t.Files, "file")
	case t.Incomplete():
		files = "no snapshot"
	}
	commit := t.CommitHash
	if len(commit) > 10 {
		commit = commit[:10]
	}
	prompt := shorten(t.Prompt.Words(), 60)
	if t.State == turn.Aborted && t.ErrorMessage != "" {
		prompt += " (" + shorten(t.ErrorMessage, 60) + ")"
	}
	took, when := duration(t, time.Now()), timeOf(t.StartedAt, time.Now(), "Jan _2 15:04")
	if t.LogGone {
		prompt, took, when = "(its log is gone)", "", ""
	}
	outcome, colour := turnOutcome(t)
	if dated && outcome == "waiting_input" {
		outcome = "waits for you"
	}
	row := []cell{{text: fmt.Sprint(t.Number)}, {outcome, colour}, {text: commit}, {text: files}, {text: took}, {text: prompt}}
	if dated {
		row = slices.Insert(row, 5, cell{text: when})
	}
	return row
}

// inNoTurn returns a line for each group of files that git could not save, and for each folder outside of the worktree,
// with the last turn for which that is known.
func inNoTurn(list []turns.Turn) (lines []string) {
	told := map[string]bool{}
	for _, t := range slices.Backward(list) {
		for _, note := range t.Notes {
			if (strings.HasPrefix(note, turns.NotInSnapshot) || slices.Contains(t.Outside, note)) && !told[note] {
				told[note] = true
				lines = append(lines, fmt.Sprintf("turn %d: %s", t.Number, display.Printable(note)))
			}
		}
	}
	return lines
}

// turnOutcome returns the word for the result of a turn, and the state whose colour it has.
func turnOutcome(t turns.Turn) (word, state string) {
	switch {
	case t.State == turn.InProgress && t.Waiting:
		return "waiting_input", "waiting_input"
	case t.State == turn.InProgress:
		return "running", "running"
	case t.State == turn.Aborted:
		return string(t.Reason), "error"
	case t.LogGone:
		return "finished", "waiting_children"
	case t.Outcome == "success":
		return t.Outcome, "active"
	}
	return t.Outcome, "waiting_children"
}

// duration formats the time that a turn took, or has taken so far.
func duration(t turns.Turn, now time.Time) string {
	if t.EndedAt != nil {
		now = *t.EndedAt
	}
	d := max(now.Sub(t.StartedAt), 0)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm%ds", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%dh%dm", int(d.Hours()), int(d.Minutes())%60)
}

// shorten cuts a text to its first line and to n characters, and removes control characters.
func shorten(text string, n int) string {
	line, _, more := strings.Cut(strings.TrimSpace(display.Printable(text)), "\n")
	line = strings.ReplaceAll(line, "\t", " ")
	if runes := []rune(line); len(runes) > n {
		return string(runes[:n-3]) + "..."
	}
	if more {
		line += " ..."
	}
	return line
}

func turnsView(sessionName string, list []turns.AgentTurns, problems []error) object {
	return object{{"version", 1}, {"session", sessionName}, {"agents", objects(list, func(one turns.AgentTurns) object {
		return object{
			{"name", one.Agent}, {"turns", objects(one.Turns, func(t turns.Turn) object { return turnView(t) })}, {"rewound_to", one.RewoundTo},
		}
	})}, {"problems", problemsView(problems)}}
}

// turnView returns a turn with its notes, and with more notes behind them.
func turnView(t turns.Turn, more ...string) object {
	message, began := t.Message, any(t.StartedAt)
	if t.State == turn.Aborted {
		message = t.ErrorMessage
	}
	if t.LogGone {
		began = nil
	}
	return object{
		{"number", t.Number}, {"type", t.Type}, {"state", t.State}, {"outcome", orNull(t.Outcome)}, {"reason", orNull(t.Reason)},
		{"commit_hash", orNull(t.CommitHash)}, {"snapshot", orNull(t.After)}, {"tag", orNull(t.Tag)}, {"started_at", began}, {"ended_at", t.EndedAt},
		{"files_changed", t.Files}, {"prompt", string(t.Prompt)}, {"message", orNull(message)}, {"error_type", orNull(t.ErrorType)},
		{"limit", limitView((*session.Limit)(t.Limit))}, {"trace", orNull(t.ErrorTrace)}, {"children", t.Children},
		{"notes", slices.Concat(t.Notes, more)},
	}
}
