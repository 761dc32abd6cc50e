package main

import (
	"context"
	"fmt"
	"io"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"paw/config/display"
	"paw/config/poll"
	"paw/orchestrator"
	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/hosts"
	"paw/orchestrator/observe"
	"paw/orchestrator/queue"
	"paw/session"
)

// Intervals of --watch: it looks again soon after paw has written something, and in any case after
// watchInterval, because not every change is written.
const (
	watchSoonest  = 200 * time.Millisecond
	watchInterval = time.Second
)

type statusOptions struct {
	*invocation
	orchestrator.StatusOptions
	dirty, forecast, usage, pull, watch, here bool
}

func newStatus(a *invocation) *cobra.Command {
	o := &statusOptions{invocation: a}
	cmd := &cobra.Command{
		Use:   "status [NAME] [AGENT...]",
		Short: "Show who is running and who waits for you",
		Long: exits(`Show the sessions and agents as they are now: the record, tmux, the agents' locks
and their turns together. It changes nothing and runs no git (--dirty and --forecast do).

On a terminal the most urgent agents come first. TURN is the number of the last turn
(5… while it is under way), WORK its prompt, SINCE how long the agent is in its state, and
NEW how many finished turns you have not seen. Without a terminal
there is a line for each agent, with its state as in --json: idle, running,
waiting_input (a question is on its screen), waiting_children (for agents that it
has started, see paw wait --notify), error, completed (its CLI exited), suspended
(paw recover brings it back) or unknown.`, exitUsage, exitNotFound),
		Example: `  paw status
  paw status --watch
  paw status --all
  paw status --json | jq -r '.sessions[].agents[].name'`,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: a.completes(completion.sessionsAndAgents),
		RunE:              a.withHome(o.run),
	}
	f := cmd.Flags()
	f.BoolVarP(&o.All, "all", "a", false, "every session, of all repositories")
	f.BoolVar(&o.dirty, "dirty", false, "also count uncommitted files and, on a terminal, the lines that would land (runs git)")
	f.BoolVar(&o.forecast, "forecast", false, "also show whose work would conflict when it lands, as paw forecast does (runs git)")
	f.BoolVar(&o.usage, "usage", false, "also show what the agents' models took, as paw usage does (reads the CLIs' records)")
	f.BoolVar(&o.pull, "pr", false, "also show how the pull requests by paw pr stand, at most a minute old (gh, glab)")
	f.BoolVar(&o.here, "here", false, "without the agents of other machines (see paw host)")
	f.BoolVarP(&o.watch, "watch", "w", false, "keep showing it, until Ctrl-C")
	a.addSession(cmd)
	a.addJSON(cmd)
	return cmd
}

func (o *statusOptions) run(cmd *cobra.Command, h *app.App, args []string) error {
	name, agents, err := o.sessionToShow(cmd, h, args)
	if err != nil {
		return err
	}
	o.Name = name
	if o.watch {
		o.Closely = true // with one look a second, reading the screens costs little
		return o.watchStatus(cmd.Context(), h, agents)
	}
	answers := noHosts
	if o.Name == "" && !o.here {
		answers = askHosts(cmd.Context(), h, o.All)
	}
	unread, here := sync.OnceValue(h.Place().Unread), o.Name == "" && !o.All
	if here {
		go unread()
	}
	statuses, problems, err := orchestrator.Status(cmd.Context(), h, o.StatusOptions)
	if err != nil {
		return err
	}
	if o.forecast || o.dirty && !o.json && isTerminal(o.stdout) {
		orchestrator.AddForecast(cmd.Context(), h, statuses, o.forecast)
	}
	keepAgents(statuses, agents)
	if o.dirty {
		orchestrator.CountDirty(cmd.Context(), h, statuses)
	}
	if o.usage {
		orchestrator.CountUsage(cmd.Context(), h, statuses)
	}
	if len(problems) == 0 && here {
		problems = o.noteUnread(unread())
	}
	problems = append(problems, queueProblems(h, statuses)...)
	if o.pull {
		problems = append(problems, o.notePulls(orchestrator.AskServers(cmd.Context(), h, statuses))...)
	}
	if err := (statusPrinter{o.invocation}).showStatus(cmd.Context(), h, statuses, problems, answers()); err != nil {
		return err
	}
	return o.unread(problems)
}

// noteUnread says which records beside those that are shown cannot be read. With --json they are
// returned, for the answer.
func (o *statusOptions) noteUnread(records []session.Unreadable) (problems []error) {
	for _, one := range records {
		is := "is"
		if !one.Placed() {
			is = "may be"
		}
		if o.json {
			problems = append(problems, one.Err)
		} else {
			o.note(fmt.Sprintf("%v; it %s of this repository: %s", one.Err, is, errs.Line("paw doctor")))
		}
	}
	return problems
}

// notePulls says which pull requests the server does not tell of. With --json the errors are returned, for the answer.
func (o *statusOptions) notePulls(unread []error) []error {
	if o.json {
		return unread
	}
	for _, err := range unread {
		o.note(err.Error())
	}
	return nil
}

// sessionToShow reads [NAME] [AGENT...]. A single word that is a session means all its agents, also
// where an agent has that name.
func (o *statusOptions) sessionToShow(cmd *cobra.Command, h *app.App, words []string) (name string, agents []string, err error) {
	if len(words) == 0 && !cmd.Flag("session").Changed {
		return "", nil, nil
	}
	if len(words) == 1 && !cmd.Flag("session").Changed {
		if s, _ := h.Store.Load(words[0]); s != nil {
			return s.Name, nil, nil
		}
	}
	s, agents, err := o.question(cmd, h, words).sessionAndAgents()
	if err != nil {
		return "", nil, err
	}
	for _, agent := range agents {
		if _, err := app.AgentNamed(s, agent); err != nil {
			return "", nil, err
		}
	}
	return s.Name, agents, nil
}

// keepAgents removes all but the named agents from statuses, if any is named.
func keepAgents(statuses []observe.SessionStatus, agents []string) {
	if len(agents) == 0 {
		return
	}
	for i := range statuses {
		statuses[i].Agents = slices.DeleteFunc(statuses[i].Agents, func(ag observe.AgentStatus) bool {
			return !slices.Contains(agents, ag.Record.Name)
		})
	}
}

func (p statusPrinter) showStatus(ctx context.Context, h *app.App, statuses []observe.SessionStatus, problems []error, answers []hosts.Answer) error {
	if p.json {
		if len(answers) > 0 {
			return p.printJSON(withHosts(statuses, problems, answers))
		}
		return p.printJSON(statusView(statuses, problems))
	}
	p.printProblems(problems)
	if len(statuses)+len(answers) == 0 {
		if len(problems) == 0 {
			none := "no session here"
			if h.HasSessions() {
				none += "; paw status --all shows the others"
			}
			fmt.Fprintln(p.stdout, none)
			p.showStartHints(h)
		}
		return nil
	}
	width := 0
	if isTerminal(p.stdout) {
		width, _ = p.terminalSize()
		for _, st := range statuses {
			orchestrator.FollowUnseen(h, st, nil)
		}
	}
	lines := []string{"no session on this machine"}
	if len(statuses) > 0 {
		lines = append(p.allLines(h, statuses, width), queueLines(ctx, h, statuses)...)
	}
	lines = append(lines, p.hostLines(answers, h.Now(), width)...)
	_, _ = io.WriteString(p.stdout, strings.Join(lines, "\n")+"\n") // a write for each line would take longer
	return nil
}

// queueProblems returns an error for each session whose queue cannot be used.
func queueProblems(h *app.App, statuses []observe.SessionStatus) (problems []error) {
	for _, st := range statuses {
		if err := orchestrator.QueueProblem(h, st.Session.Name); err != nil {
			problems = append(problems, err)
		}
	}
	return problems
}

// queueLines returns a line for each session whose queue has open tasks, and for each race that goes on.
func queueLines(ctx context.Context, h *app.App, statuses []observe.SessionStatus) (lines []string) {
	for _, st := range statuses {
		if !h.Queues().Open(st.Session.Name) || st.Seen.LockError() != nil {
			continue
		}
		if list, err := queue.Look(ctx, h, st.Seen); err == nil && list != nil {
			for _, line := range append([]string{queueLine(h, list)}, raceLines(list.Races)...) {
				switch {
				case line == "":
				case len(statuses) > 1:
					lines = append(lines, errs.Name(st.Session.Name)+": "+line)
				default:
					lines = append(lines, line)
				}
			}
		}
	}
	return lines
}

// allLines formats sessions.
func (p statusPrinter) allLines(h *app.App, statuses []observe.SessionStatus, width int) (lines []string) {
	for i, st := range statuses {
		if i > 0 {
			lines = append(lines, "")
		}
		lines = append(lines, p.statusLines(st, h.Now(), width)...)
	}
	return lines
}

// watchStatus shows the status again and again: in place on a terminal, with --json as one object
// per line.
func (o *statusOptions) watchStatus(ctx context.Context, h *app.App, agents []string) error {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	w := orchestrator.NewWatch(h, o.StatusOptions)
	far := &hostFeeds{cancel: func() {}}
	if !o.here && o.Name == "" {
		far = followHosts(h, o.All, make(chan struct{}, 1))
	}
	defer far.close()
	inPlace := !o.json && isTerminal(o.stdout)
	if inPlace {
		leave := o.enterScreen()
		defer leave()
		o.beforeExit.Store(&leave)
	}
	for {
		statuses, problems, err := w.Look(ctx)
		if ctx.Err() != nil {
			return nil
		}
		keepAgents(statuses, agents)
		switch {
		case err != nil:
			return err
		case inPlace:
			if (statusPrinter{o.invocation}).drawStatus(h, statuses, problems, far.now()) != nil {
				return nil // the terminal is gone
			}
		default:
			if err := (statusPrinter{o.invocation}).showStatus(ctx, h, statuses, problems, far.now()); err != nil {
				return err
			}
		}
		if !untilNextLook(ctx, w.Changed) {
			return nil
		}
	}
}

// untilNextLook waits until --watch looks again. It returns false if ctx is done.
func untilNextLook(ctx context.Context, changed func() bool) bool {
	poll.Sleep(ctx, watchSoonest)
	poll.Until(ctx, watchSoonest, watchInterval-watchSoonest, changed)
	return ctx.Err() == nil
}

// drawStatus draws the status over the last one, below a line with the time.
func (p statusPrinter) drawStatus(h *app.App, statuses []observe.SessionStatus, problems []error, answers []hosts.Answer) error {
	width, height := p.terminalSize()
	lines := []string{p.paint(h.Now().Local().Format("15:04:05")+"  Ctrl-C ends this", styleDim), ""}
	for _, problem := range problems {
		lines = append(lines, columns.Cut(display.OneLine(problem.Error()), width))
	}
	if len(statuses)+len(problems) == 0 {
		lines = append(lines, "no session here")
	}
	lines = append(lines, p.allLines(h, statuses, width)...)
	return p.drawScreen(append(lines, p.hostLines(answers, h.Now(), width)...), height)
}

// showStartHints prints the commands that start a session with an installed CLI, or install one.
func (p statusPrinter) showStartHints(h *app.App) {
	hints := h.StartHints()
	if len(hints) == 1 {
		fmt.Fprintf(p.stdout, "  %s   begins one\n", hints[0])
		return
	}
	fmt.Fprintf(p.stdout, "  %s   installs one of the AI CLIs\n", hints[0])
	fmt.Fprintf(p.stdout, "  %-*s   tries paw without one\n", len(hints[0]), hints[1])
}

// plainLines formats one session for a pipe.
func (p statusPrinter) plainLines(st observe.SessionStatus, now time.Time) []string {
	line := fmt.Sprintf("%s  %s  %s", errs.Name(st.Session.Name), p.colour(string(st.Status), string(st.Status)), shortened(st.Session.RepoPath))
	if st.Reason != "" {
		line += "  (" + display.OneLine(st.Reason) + ")"
	}
	rows := make([][]cell, 0, len(st.Agents))
	resumable := false
	for _, ag := range families(st.Agents) {
		notes := []string{ag.Reason, inShort(ag.Used)}
		if with := collidesWith(ag.AgentStatus); with != "" {
			notes = slices.Insert(notes, 1, "collides with "+with)
		}
		if ag.Dirty != nil && *ag.Dirty > 0 {
			notes = slices.Insert(notes, 1, fmt.Sprintf("%d uncommitted", *ag.Dirty))
		}
		if ag.Pull != nil {
			notes = append(notes, "pull request "+ag.Pull.InWords())
		}
		notes = slices.DeleteFunc(notes, func(note string) bool { return note == "" })
		// The user knows of agents that were stopped one by one.
		resumable = resumable || canComeBack(ag.AgentStatus) && (st.Status == session.StatusStopped || ag.Cause != session.CauseStopped)
		rows = append(rows, []cell{{text: ag.label()}, {text: ag.Record.CLI}, {string(ag.State), string(ag.State)},
			{text: since(ag.AgentStatus, now)}, {text: turnsOf(ag.AgentStatus)}, {text: branchOf(ag.AgentStatus)}, {text: strings.Join(notes, ", ")}})
	}
	lines := append([]string{line}, p.tableOf(onOneLine(rows), "  ", 0)...)
	if len(st.Agents) == 0 {
		lines = append(lines, fmt.Sprintf("  no agents; %s deletes its record", errs.Line("paw purge %s", st.Session.Name)))
	}
	if resumable {
		lines = append(lines, fmt.Sprintf("  %s brings them back", errs.Line("paw recover %s", st.Session.Name)))
	}
	for _, failed := range failedSetUps(st) {
		lines = append(lines, "  "+failed)
	}
	return lines
}
