package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/queue"
	"paw/session"
)

func taskView(t session.Task) object {
	return object{
		{"id", t.ID}, {"agent", orNull(t.Agent)}, {"state", t.State}, {"why", orNull(t.Why)}, {"what", t.What}, {"after", t.After}, {"turn", orNull(t.Turn)},
	}
}

// showQueue prints the tasks of a session's queue, or with dryRun its next steps.
func showQueue(ctx context.Context, a *invocation, h *app.App, s *session.Session, agents []string, dryRun bool) error {
	list, err := queueOf(ctx, h, s)
	if err != nil {
		return err
	}
	for _, agent := range agents {
		if list == nil || !slices.ContainsFunc(list.Tasks, func(t session.Task) bool { return t.Agent == agent }) {
			if err := app.RequireAgents(s, agent); err != nil {
				return err
			}
		}
	}
	if list == nil {
		list = &queue.List{Session: s.Name}
	}
	if len(agents) > 0 {
		list.Tasks = slices.DeleteFunc(list.Tasks, func(t session.Task) bool { return !slices.Contains(agents, t.Agent) })
	}
	var plan []string
	for _, step := range list.Steps {
		plan = append(plan, step.String())
	}
	switch {
	case a.json:
		return a.printJSON(queueView(list, plan, dryRun))
	case dryRun:
		for _, line := range plan {
			fmt.Fprintln(a.stdout, line)
		}
		return nil
	}
	printTasks(a, h, list)
	return nil
}

// showOpen prints, after a change, the tasks of a session's queue that are not over.
func showOpen(ctx context.Context, a *invocation, h *app.App, s *session.Session) error {
	list, err := queueOf(ctx, h, s)
	if list == nil || err != nil {
		return err
	}
	list.Tasks = slices.DeleteFunc(list.Tasks, func(t session.Task) bool { return t.State.Over() })
	printTasks(a, h, list)
	return nil
}

func printTasks(a *invocation, h *app.App, list *queue.List) {
	if len(list.Tasks) == 0 {
		fmt.Fprintf(a.stdout, "%s: nothing is queued\n", list.Session)
		return
	}
	a.printTable(a.stdout, "", taskRows(list.Tasks))
	if line := queueLine(h, list); line != "" {
		fmt.Fprintln(a.stdout, line)
	}
}

// queueView returns a queue as JSON; a dry run adds the steps that would be taken.
func queueView(list *queue.List, plan []string, dryRun bool) object {
	steps := absent
	if dryRun && len(plan) > 0 {
		steps = plan
	}
	return object{
		{"version", 1}, {"session", list.Session}, {"held", given(orNull(list.Held))}, {"max", given(orNull(list.Max))}, {"starts", given(orNull(list.Starts))},
		{"made", given(orNull(list.Made))}, {"next", given(orNull(list.Next))}, {"tasks", objects(list.Tasks, taskView)}, {"plan", steps},
	}
}

func taskRows(tasks []session.Task) [][]cell {
	rows := [][]cell{heads("ID", "STATE", "AGENT", "AFTER", "WHY", "WHAT")}
	for _, t := range tasks {
		agent := t.Agent
		if agent == "" { // the task gets a new agent
			agent = "new " + strings.Join(t.CLIs, ",")
		}
		rows = append(rows, texts(t.ID, string(t.State), agent, strings.Join(t.After, ","), queue.WhyInWords(t), t.What))
	}
	return rows
}

// queueOf returns the queue of a session, nil where it never had one: then nothing is observed.
func queueOf(ctx context.Context, h *app.App, s *session.Session) (*queue.List, error) {
	if q, err := h.Queues().Load(s.Name); q == nil || err != nil {
		return nil, h.RecordError(s.Name, err)
	}
	seen, err := queue.Observe(ctx, h, s)
	if err != nil {
		return nil, err
	}
	return queue.Look(ctx, h, seen)
}

// queueLine describes a queue in one line, "" if no task is open.
func queueLine(h *app.App, l *queue.List) string {
	runs, waits, held := l.Counts()
	if runs+waits+held == 0 {
		return ""
	}
	line := fmt.Sprintf("queue: %d run, %d wait", runs, waits)
	if held > 0 {
		line += fmt.Sprintf(", %d held", held)
	}
	line += heldBy(l)
	if !l.Next.IsZero() {
		line += ", next at " + timeOf(l.Next, h.Now(), "2 Jan 15:04")
	}
	if l.NeedsArm() {
		line += ", not armed: " + errs.Line("paw recover")
	}
	return line
}

// raceLines returns a line for each race that goes on: what the check said last of each agent.
func raceLines(races []session.Race) (lines []string) {
	for _, r := range races {
		if !r.On() {
			continue
		}
		var said []string
		for _, one := range r.Racers {
			said = append(said, cmp.Or(one.Agent, one.Task)+" "+cmp.Or(one.Last().Result, "not checked"))
		}
		lines = append(lines, r.Name+": "+strings.Join(said, ", "))
	}
	return lines
}

// heldBy returns why nothing of a queue can begin, and the command that changes it, "" if something
// can.
func heldBy(l *queue.List) string {
	switch {
	case l.Down == session.ReasonTmuxSilent:
		return " (" + l.Down + ")"
	case l.Down != "" && l.Held != "":
		return " (" + l.Down + "): " + errs.Line("paw recover %s && paw queue go --all", l.Session)
	case l.Down != "":
		return " (" + l.Down + "): " + errs.Line("paw recover %s", l.Session)
	case l.Held != "":
		return " (" + l.Held + "): " + errs.Line("paw queue go --all")
	}
	return ""
}
