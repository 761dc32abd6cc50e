package main

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"paw/orchestrator"
	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/launch"
	"paw/session"
)

// wouldBe are the results of agents that were not carried out.
var wouldBe = map[launch.ResultKind]string{
	launch.ResultResumed: "would resume",
	launch.ResultFresh:   "would start fresh",
}

// printResults prints what became of agents or, with dryRun, what would.
func (a *invocation) printResults(s *session.Session, results []launch.Result, dryRun bool) {
	fmt.Fprintf(a.stdout, "%s  %s\n", s.Name, shortened(s.RepoPath))
	rows := make([][]cell, 0, len(results))
	for _, r := range results {
		word := string(r.Kind)
		if would := wouldBe[r.Kind]; dryRun && would != "" {
			word = would
		}
		rows = append(rows, []cell{{text: r.Agent}, {text: r.CLI}, {word, string(r.Kind)}, {text: r.Reason}})
	}
	a.printTable(a.stdout, "  ", rows)
	for _, r := range results {
		for _, note := range r.Notes {
			a.note(r.Agent + ": " + note)
		}
		if r.Kind == launch.ResultRefused {
			a.sayError(r.Agent+": "+r.Reason, r.Hints)
		}
	}
}

// showResults ends start and add: as JSON, or with the list and attached.
func (a *invocation) showResults(cmd *cobra.Command, h *app.App, s *session.Session, results []launch.Result, detach bool) error {
	if a.json {
		return a.showSession(cmd, h, s.Name, results)
	}
	a.printResults(s, results, false)
	if anyRefused(results) {
		return exitStatus(errs.Failed)
	}
	if detach || !isTerminal(a.stdout) {
		fmt.Fprintf(a.stdout, "paw attach %s shows it\n", s.Name)
		return nil
	}
	return orchestrator.Attach(cmd.Context(), h, s, "")
}

// showSession prints the status of one session, with --json also what became of
// its agents.
func (a *invocation) showSession(cmd *cobra.Command, h *app.App, name string, results []launch.Result) error {
	statuses, problems, err := orchestrator.Status(cmd.Context(), h, orchestrator.StatusOptions{Name: name})
	switch {
	case err != nil:
		return err
	case a.json:
		err = a.printJSON(startedJSON{statusJSON: statusView(statuses, problems), Results: resultsView(results), Notes: a.noted()})
	default:
		err = a.showStatus(h, statuses, problems)
	}
	if err == nil && anyRefused(results) {
		return exitStatus(errs.Failed)
	}
	return err
}

// showPlan prints what start or add would do.
func (a *invocation) showPlan(steps []string) error {
	if a.json {
		return a.printJSON(planJSON{Version: 1, Plan: steps, Notes: a.noted()})
	}
	for _, step := range steps {
		fmt.Fprintln(forReading(a.stdout), step)
	}
	return nil
}

// anyRefused reports whether an agent could not be brought back.
func anyRefused(results []launch.Result) bool {
	return slices.ContainsFunc(results, func(r launch.Result) bool { return r.Kind == launch.ResultRefused })
}
