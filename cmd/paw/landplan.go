package main

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"paw/config/display"
	"paw/orchestrator"
	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/landing"
	"paw/session"
)

// landedLines says what has landed, and how to undo it.
func landedLines(l *landing.Landed) []string {
	turns := ""
	if l.Turns != "" {
		turns = " (" + turnsWord(l.Turns) + ")"
	}
	lines := []string{
		fmt.Sprintf("landed %s/%s%s in %s: %s, %s %.12s %q", l.Session, l.Agent, turns, l.Target, errs.Counted(l.Files, "file"), landedAs(l), l.After, l.Title),
		fmt.Sprintf("  undo: paw land --undo %d --session %s", l.ID, l.Session),
	}
	if l.Along != "" {
		lines = append(lines, "  along came "+l.Along)
	}
	return lines
}

// turnsWord returns "turn 3" for one turn, "turns 1-3" for several.
func turnsWord(turns string) string {
	if strings.ContainsAny(turns, "-,") {
		return "turns " + turns
	}
	return "turn " + turns
}

// landedAs says in which form, and in how many commits, work landed.
func landedAs(l *landing.Landed) string {
	if l.As == string(landing.Merge) {
		return "a merge"
	}
	return errs.Counted(l.Commits, "commit")
}

// maxPlanFiles limits the files that a plan lists.
const maxPlanFiles = 20

// landPlan returns the plan of a landing: title, files, checks, and the agents it would conflict
// with afterwards.
func (p *printer) landPlan(ctx context.Context, h *app.App, s *session.Session, l *landing.Landed) []string {
	what := "land what " + l.Session + "/" + l.Agent + " has done"
	if l.Turns != "" {
		what = fmt.Sprintf("land %s of %s/%s", turnsWord(l.Turns), l.Session, l.Agent)
	}
	if l.Turn > 0 {
		what += fmt.Sprintf(", as it was at the end of turn %d,", l.Turn)
	}
	lines := []string{fmt.Sprintf("%s into %s: %s, as %s", what, l.Target, errs.Counted(l.Files, "file"), landedAs(l)), "title: " + l.Title}
	if l.Along != "" {
		lines = append(lines, "along comes "+l.Along)
	}
	files := p.filesThatLand(ctx, h, s, l)
	for i, file := range files {
		if i == maxPlanFiles {
			lines = append(lines, "  and "+errs.Counted(len(files)-i, "other file"))
			break
		}
		lines = append(lines, "  "+file)
	}
	if len(l.Checks) == 0 {
		lines = append(lines, "checks: none (checks under [land] in the configuration)")
	}
	for _, command := range l.Checks {
		lines = append(lines, "check what would land: "+command)
	}
	if s.Host != "" {
		return lines
	}
	if outlooks, err := orchestrator.Outlooks(ctx, h, s); err == nil && outlooks[l.Agent] != nil && len(outlooks[l.Agent].Others) > 0 {
		lines = append(lines, "then it conflicts with the work of "+strings.Join(outlooks[l.Agent].Others, ", "))
	}
	if l.Checkout != "" {
		lines = append(lines, "your other changes in "+shortened(l.Checkout)+" are left alone")
	}
	return lines
}

// filesThatLand returns the files that a landing changes, with the size of each change if paw diff
// would show the same change, else only the paths.
func (p *printer) filesThatLand(ctx context.Context, h *app.App, s *session.Session, l *landing.Landed) []string {
	if l.Turn == 0 && l.Target == s.Target && s.Host == "" {
		if compared, err := orchestrator.Compare(ctx, h, s, l.Agent, orchestrator.DiffOptions{Reads: true}); err == nil {
			defer compared.Close()
			var stat bytes.Buffer
			if compared.Patch(ctx, orchestrator.DiffOptions{Stat: true, Color: p.coloured()}, &stat) == nil {
				lines := strings.Split(strings.TrimRight(stat.String(), "\n"), "\n")
				if len(lines) == len(l.Paths)+1 { // the last line is the sum
					for i := range lines {
						lines[i] = strings.TrimPrefix(lines[i], " ")
					}
					return lines[:len(l.Paths)]
				}
			}
		}
	}
	var names []string
	for _, path := range l.Paths {
		names = append(names, display.OneLine(path))
	}
	return names
}
