package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"paw/orchestrator/landing"
	"paw/session"
)

// listLandings is paw land --list.
func (a *app) listLandings(cmd *cobra.Command) error {
	_, s, err := a.session(cmd)
	if err != nil {
		return err
	}
	if a.json {
		view := a.newLandView()
		for _, l := range s.Landings {
			view.Landings = append(view.Landings, landingView(s.Name, l))
		}
		return a.printJSON(view)
	}
	if len(s.Landings) == 0 {
		fmt.Fprintf(a.stdout, "%s: nothing has landed\n", s.Name)
		return nil
	}
	rows := [][]cell{}
	for _, l := range s.Landings {
		rows = append(rows, texts(fmt.Sprint(l.ID), string(l.Phase), l.Agent, l.Turns, l.Target, l.After[:12], l.At.Local().Format("2006-01-02 15:04"), l.Title))
	}
	a.printTable(a.stdout, "", rows)
	return nil
}

// undoLanding is paw land --undo [ID].
func (a *app) undoLanding(cmd *cobra.Command, args []string, dryRun bool) error {
	id, err := landingID(cmd, args)
	if err != nil {
		return err
	}
	h, s, err := a.session(cmd)
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

// showUndone prints what was taken back, or would be.
func (a *app) showUndone(s *session.Session, l *session.Landing, dryRun bool) error {
	text := fmt.Sprintf("undone: landing %d of %s/%s, %s is at %s again", l.ID, s.Name, l.Agent, l.Target, l.Before[:12])
	if dryRun {
		text = fmt.Sprintf("undo landing %d of %s/%s: bring %s back to %s", l.ID, s.Name, l.Agent, l.Target, l.Before[:12])
	}
	view := a.newLandView()
	view.Landings = append(view.Landings, landingView(s.Name, *l))
	switch {
	case a.json && dryRun:
		return a.printJSON(landPlanJSON{Plan: []string{text}, landJSON: view})
	case a.json:
		return a.printJSON(view)
	}
	fmt.Fprintln(a.stdout, text)
	return nil
}
