package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"paw/orchestrator/landing"
	"paw/session"
)

func (a *invocation) listLandings(cmd *cobra.Command) error {
	h, s, err := a.landingSession(cmd)
	if err != nil {
		return err
	}
	all, err := landing.Standings(cmd.Context(), h, s)
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(l landing.Stand) bool { return l.Standing == landing.Offered })
	if a.json {
		view := a.newLandView()
		for _, l := range all {
			one := landingView(s.Name, l.Landing)
			one.Standing = string(l.Standing)
			view.Landings = append(view.Landings, one)
		}
		return a.printJSON(view)
	}
	if len(all) == 0 {
		fmt.Fprintf(a.stdout, "%s: nothing has landed\n", s.Name)
		return nil
	}
	rows := [][]cell{}
	if isTerminal(a.stdout) {
		rows = append(rows, heads("ID", "STATE", "AGENT", "TURNS", "INTO", "COMMIT", "WHEN", "TITLE"))
	}
	for _, l := range all {
		rows = append(rows, texts(fmt.Sprint(l.ID), listWord(l), l.Agent, l.Turns, l.Target, l.After[:12], l.At.Local().Format("2006-01-02 15:04"), l.Title))
	}
	a.printTable(a.stdout, "", rows, "COMMIT", "TURNS", "INTO", "WHEN", "STATE")
	return nil
}

// listWord returns the state of a landing in paw land --list.
func listWord(l landing.Stand) string {
	if landing.Unfinished(l.Landing) {
		return string(l.Phase)
	}
	return string(l.Standing)
}

// undoLanding runs paw land --undo [ID].
func (a *invocation) undoLanding(cmd *cobra.Command, args []string, dryRun bool) error {
	id, err := landingID(cmd, args)
	if err != nil {
		return err
	}
	h, s, err := a.landingSession(cmd)
	if err != nil {
		return err
	}
	l, err := landing.Undo(cmd.Context(), h, s, id, dryRun)
	if err != nil {
		return err
	}
	return a.showUndone(s, l, dryRun)
}

func landingID(cmd *cobra.Command, args []string) (int, error) {
	if len(args) == 0 {
		return 0, nil
	}
	var id int
	if _, err := fmt.Sscanf(args[0], "%d", &id); err != nil || id < 1 || len(args) > 1 || fmt.Sprint(id) != args[0] {
		return 0, usagef(cmd, "%s: not the number of a landing", strings.Join(args, " "))
	}
	return id, nil
}

// showUndone prints the landing that was undone, or with --dry-run would be.
func (p *printer) showUndone(s *session.Session, l *session.Landing, dryRun bool) error {
	text := fmt.Sprintf("undone: landing %d of %s/%s, %s is at %s again", l.ID, s.Name, l.Agent, l.Target, l.Before[:12])
	if dryRun {
		text = fmt.Sprintf("undo landing %d of %s/%s: bring %s back to %s", l.ID, s.Name, l.Agent, l.Target, l.Before[:12])
	}
	view := p.newLandView()
	view.Landings = append(view.Landings, landingView(s.Name, *l))
	switch {
	case p.json && dryRun:
		return p.printJSON(landPlanJSON{Plan: []string{text}, landJSON: view})
	case p.json:
		return p.printJSON(view)
	}
	fmt.Fprintln(p.stdout, text)
	return nil
}
