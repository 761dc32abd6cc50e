package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"paw/orchestrator/landing"
	"paw/session"
)

func (o *landOptions) listLandings(cmd *cobra.Command) error {
	h, s, err := o.landingSession(cmd)
	if err != nil {
		return err
	}
	all, err := landing.Standings(cmd.Context(), h, s)
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(l landing.Stand) bool { return l.Standing == landing.Offered })
	if o.json {
		view := o.newLandView()
		for _, l := range all {
			one := landingView(s.Name, l.Landing)
			one.Standing = string(l.Standing)
			view.Landings = append(view.Landings, one)
		}
		return o.printJSON(view)
	}
	if len(all) == 0 {
		fmt.Fprintf(o.stdout, "%s: nothing has landed\n", s.Name)
		return nil
	}
	rows := [][]cell{}
	if isTerminal(o.stdout) {
		rows = append(rows, heads("ID", "STATE", "AGENT", "TURNS", "INTO", "COMMIT", "WHEN", "TITLE"))
	}
	for _, l := range all {
		rows = append(rows, texts(fmt.Sprint(l.ID), listWord(l), l.Agent, l.Turns, l.Target, l.After[:12], l.At.Local().Format("2006-01-02 15:04"), l.Title))
	}
	o.printTable(o.stdout, "", rows, "COMMIT", "TURNS", "INTO", "WHEN", "STATE")
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
func (o *landOptions) undoLanding(cmd *cobra.Command, args []string) error {
	id, err := landingID(cmd, args)
	if err != nil {
		return err
	}
	h, s, err := o.landingSession(cmd)
	if err != nil {
		return err
	}
	l, err := landing.Undo(cmd.Context(), h, s, id, o.DryRun)
	if err != nil {
		return err
	}
	return o.showUndone(s, l)
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
func (o *landOptions) showUndone(s *session.Session, l *session.Landing) error {
	text := fmt.Sprintf("undone: landing %d of %s/%s, %s is at %s again", l.ID, s.Name, l.Agent, l.Target, l.Before[:12])
	if o.DryRun {
		text = fmt.Sprintf("undo landing %d of %s/%s: bring %s back to %s", l.ID, s.Name, l.Agent, l.Target, l.Before[:12])
	}
	view := o.newLandView()
	view.Landings = append(view.Landings, landingView(s.Name, *l))
	switch {
	case o.json && o.DryRun:
		return o.printJSON(landPlanJSON{Plan: []string{text}, landJSON: view})
	case o.json:
		return o.printJSON(view)
	}
	fmt.Fprintln(o.stdout, text)
	return nil
}
