package main

import (
	"fmt"
	"slices"

	"paw/orchestrator/launch"
	"paw/session"
)

// wouldBe are the words for results that a dry run foresees.
var wouldBe = map[launch.ResultKind]string{
	launch.ResultResumed: "would resume",
	launch.ResultFresh:   "would start fresh",
}

// printResults prints the result for each agent, or with dryRun the result that it would have.
func (p *printer) printResults(s *session.Session, results []launch.Result, dryRun bool) {
	fmt.Fprintf(p.stdout, "%s  %s\n", s.Name, shortened(s.RepoPath))
	rows := make([][]cell, 0, len(results))
	for _, r := range results {
		word := string(r.Kind)
		if would := wouldBe[r.Kind]; dryRun && would != "" {
			word = would
		}
		rows = append(rows, []cell{{text: r.Agent}, {text: r.CLI}, {word, string(r.Kind)}, {text: r.Reason}})
	}
	p.printTable(p.stdout, "  ", rows)
	for _, r := range results {
		for _, note := range r.Notes {
			p.note(r.Agent + ": " + note)
		}
		if r.Kind == launch.ResultRefused {
			p.sayError(r.Agent+": "+r.Reason, r.Hints)
		}
	}
}

// showPlan prints the plan of start or add.
func (p *printer) showPlan(steps []string) error {
	if p.json {
		return p.printJSON(planJSON{Version: 1, Plan: steps, Notes: p.noted()})
	}
	for _, step := range steps {
		fmt.Fprintln(forReading(p.stdout), step)
	}
	return nil
}

// anyRefused reports whether an agent could not be started.
func anyRefused(results []launch.Result) bool {
	return slices.ContainsFunc(results, func(r launch.Result) bool { return r.Kind == launch.ResultRefused })
}
