package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"paw/config/display"
	"paw/orchestrator"
	"paw/orchestrator/app"
	"paw/orchestrator/children"
	"paw/orchestrator/errs"
	"paw/session"
	"paw/session/turn"
)

type waitOptions struct {
	*invocation
	children.WaitOptions
	timeout     time.Duration
	name        string
	all, notify bool
}

func newWait(a *invocation) *cobra.Command {
	o := &waitOptions{invocation: a}
	cmd := &cobra.Command{
		Use:   "wait [AGENT...]",
		Short: "Wait until agents have finished a turn",
		Long: exits(`Wait until agents have finished: they have had a turn and are at none, or their CLI
does not run any more. It also ends as soon as one of them has a question for you.
Without AGENT it is for all agents of the session, and of those that hosts have of this
repository, or, inside the pane of an agent, for those that this agent started.

How each ended is printed, one line for each: agent, outcome, turn, changed files and
message. It writes nothing and may be interrupted at any time.

An agent should use --notify instead, since CLIs limit how long a command may run: it
returns at once, and when the children have ended paw types one prompt with their results
into the agent's pane.`, exitUsage,
			"4    an agent waits for your answer", "5    an agent that has finished failed", "7    the time-out is over",
			exitNotFound, exitBroken),
		Example: `  paw wait
  paw wait tests docs --timeout 10m
  paw wait --any --json
  paw wait --notify
  paw send claude "fix the tests" && paw wait claude && paw diff claude`,
		ValidArgsFunction: a.completes(completion.agents),
		RunE:              o.run,
	}
	f := cmd.Flags()
	f.BoolVar(&o.Any, "any", false, "the first one that has finished is enough")
	f.BoolVarP(&o.all, "all", "a", false, "all of them (the default)")
	f.DurationVar(&o.timeout, "timeout", 0, "how long to wait at most, such as 90s or 10m (default: for ever)")
	f.BoolVar(&o.notify, "notify", false, "for an agent, in its own pane: return at once, the results come as a prompt")
	f.StringVar(&o.name, "session", "", "session of the agents (default: that of this place)")
	a.addJSON(cmd)
	completeFlag(cmd, "session", a.completes(completion.sessions))
	completeFlag(cmd, "timeout", cobra.NoFileCompletions)
	return cmd
}

func (o *waitOptions) run(cmd *cobra.Command, args []string) error {
	o.Agents, o.Timeout = args, o.timeout
	switch {
	case o.Any && o.all:
		return usagef(cmd, "--any and --all exclude each other")
	case o.Timeout < 0:
		return usagef(cmd, "--timeout %s: not a time to wait", o.Timeout)
	case o.notify && (o.Timeout > 0 || o.name != ""):
		return usagef(cmd, "--notify goes with neither --timeout nor --session")
	}
	if o.Timeout == 0 && cmd.Flags().Changed("timeout") {
		o.Timeout = time.Nanosecond // one look
	}
	h, err := o.paw()
	if err != nil {
		return err
	}
	if o.notify {
		return o.tellLater(cmd.Context(), h)
	}
	return o.waitFor(cmd, h, args)
}

// waitFor waits for the agents that words name, and prints the result of each.
func (o *waitOptions) waitFor(cmd *cobra.Command, h *app.App, words []string) error {
	waits, err := waitsOf(cmd, h, words, o.name)
	if err != nil {
		return err
	}
	line := &waitingLine{lineBelow: lineBelow{out: &o.printer}, began: h.Now()}
	here := func(ctx context.Context, agents []string) (*children.Waited, error) {
		own := o.WaitOptions
		s, agents, err := o.question(cmd, h, agents).agents(agents)
		if err != nil {
			return nil, err
		}
		own.Agents = agents
		followed := map[string]time.Time{} // by agent, when a process was started that writes down the end of its turn
		own.Look = func(w *children.Waited) {
			for _, a := range w.Agents {
				if now := h.Now(); !a.Finished && a.Status.State.Rests() && a.Turn > 0 && now.Sub(followed[a.Agent]) > followAgain {
					followed[a.Agent] = now
					orchestrator.FollowEnd(h, s, a.Agent)
				}
			}
			line.look(w, h.Now())
		}
		return children.Wait(ctx, h, s, own)
	}
	var waited *children.Waited
	if len(waits) == 1 && waits[0].host == nil {
		waited, err = here(cmd.Context(), waits[0].agents)
	} else {
		waited, err = o.waitEverywhere(cmd.Context(), h, waits, here)
	}
	line.clear()
	if waited == nil {
		return err
	}
	if printErr := o.printWaited(waited, err == nil || exitCode(err) == int(errs.AgentFailed)); printErr != nil {
		return printErr
	}
	return err
}

// followAgain is how long after a look at the end of a turn, which found none, the next one follows.
const followAgain = 3 * time.Second

// tellLater records that the calling agent waits for its children, whose results paw will type into
// its pane.
func (o *waitOptions) tellLater(ctx context.Context, h *app.App) error {
	waits, err := children.Notify(ctx, h, o.WaitOptions)
	if err != nil {
		return err
	}
	return o.show(object{
		{"version", 1}, {"session", waits.Session}, {"agent", waits.Agent}, {"waits_for", waits.Children}, {"ended", waits.Ended}, {"any", waits.Any},
	}, waits)
}

// printWaited prints the result of a wait. enough says that all agents it needed have finished.
func (o *waitOptions) printWaited(w *children.Waited, enough bool) error {
	if o.json {
		return o.printJSON(waitedView(w, enough))
	}
	rows := make([][]cell, 0, len(w.Agents))
	for _, one := range w.Agents {
		if !one.Finished {
			word := string(one.Status.State) // as in a pipe, and so in --json
			if isTerminal(o.stdout) {
				word = one.Status.InWords()
			}
			rows = append(rows, []cell{{text: one.Name()}, {word, colourOf(one.Status)}, {}, {}, {text: shorten(one.Status.Reason, 60)}})
			continue
		}
		colour := "active"
		if one.Failed {
			colour = "error"
		}
		number, files := "", ""
		if one.Turn > 0 {
			number = fmt.Sprintf("turn %d", one.Turn)
		}
		if one.Files != nil {
			files = errs.Counted(*one.Files, "file")
		}
		rows = append(rows, []cell{{text: one.Name()}, {one.Outcome, colour}, {text: number}, {text: files}, {text: shorten(display.FirstLine(turn.Prompt(one.Message).Words()), 60)}})
	}
	o.printTable(o.stdout, "", rows)
	for _, one := range w.Agents {
		if one.Finished && one.Status.Elsewhere {
			o.note(one.Name() + ": " + one.Status.Reason)
		}
	}
	if enough && w.NobodyAtWork() {
		o.note("nobody is at work in " + w.Session + ": there is nothing to wait for")
	}
	return nil
}

// waitedView returns the JSON of paw wait. Agents on another machine have the fields host and session,
// too.
func waitedView(w *children.Waited, enough bool) object {
	return object{{"version", 1}, {"session", w.Session}, {"finished", enough}, {"agents", objects(w.Agents, func(a children.Awaited) object {
		failed := any(nil)
		if a.Finished {
			failed = a.Failed
		}
		return object{
			{"name", a.Agent}, {"cli", orNull(a.CLI)}, {"branch", orNull(a.Branch)}, {"finished", a.Finished}, {"word", orNull(a.Status.InWords())}, {"state", orNull(a.Status.State)},
			{"state_since", a.Status.Since}, {"reason", orNull(a.Status.Reason)}, {"outcome", orNull(a.Outcome)}, {"failed", failed},
			{"turn", orNull(a.Turn)}, {"files_changed", a.Files}, {"message", orNull(a.Message)},
			{"host", given(orNull(a.Host))}, {"session", given(orNull(a.Session))},
		}
	})}}
}

// waitingDelay is the time after which a wait is shown.
const waitingDelay = time.Second

// waitingLine is a line on the terminal that names the agents paw wait waits for.
type waitingLine struct {
	lineBelow
	began time.Time
	noted bool
}

// look updates the line after a look at the agents. Once, it notes agents for which the wait may be
// long.
func (l *waitingLine) look(w *children.Waited, now time.Time) {
	waited := now.Sub(l.began)
	if waited < waitingDelay {
		return
	}
	if !l.noted {
		l.noted = true
		for _, note := range waitNotes(w) {
			l.out.note(note)
		}
	}
	if !l.out.json && isTerminal(l.out.stderr) {
		l.show(waitingText(w, waited))
	}
}

// waitingText names the agents that have not finished, counts those that have, and says how long
// the wait takes.
func waitingText(w *children.Waited, waited time.Duration) string {
	var left []string
	done := 0
	for _, a := range w.Agents {
		switch {
		case a.Finished:
			done++
		case w.WaitsFor(a):
			left = append(left, a.Name())
		}
	}
	return fmt.Sprintf("waiting for %s (%d of %d finished, %s)", strings.Join(left, ", "), done, done+len(left), waited.Truncate(time.Second))
}

// waitNotes returns a note for each agent that has nothing to do: the wait for such an agent ends
// only if somebody acts.
func waitNotes(w *children.Waited) []string {
	var notes []string
	for _, a := range w.Agents {
		switch {
		case !w.WaitsFor(a):
		case a.Status.State == session.StateIdle && a.Turn == 0:
			notes = append(notes, a.Agent+": has had no turn yet; the wait goes on until it has finished one (paw send "+a.Agent+" TEXT)")
		case a.Status.State == session.StateUnknown && a.Status.Cause == session.CauseRuns:
			notes = append(notes, a.Agent+": paw does not see its turns; it counts as finished when its CLI has ended")
		}
	}
	return notes
}
