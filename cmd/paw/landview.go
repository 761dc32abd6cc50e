package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"paw/config/display"
	"paw/orchestrator"
	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/landing"
	"paw/session"
)

// landAnswer has the fields of paw land --json: the landings of this command or, with --list, all of
// the session.
type landAnswer struct {
	plan      []string // only with --dry-run, else nil
	landings  []object
	conflicts []landing.Collision // of the landing at which the command stopped
	notLanded []object            // only with --keep-going
	behind    []string            // agents that lack what has landed now
	notes     []string
}

func (r landAnswer) view() object {
	plan, notLanded := absent, absent
	if r.plan != nil {
		plan = r.plan
	}
	if len(r.notLanded) > 0 {
		notLanded = r.notLanded
	}
	return object{
		{"plan", plan}, {"version", 1}, {"landings", r.landings}, {"conflicts", r.conflicts}, {"not_landed", notLanded}, {"behind", r.behind}, {"notes", r.notes},
	}
}

// landingView returns a landing; its turn is null for the state of an agent between turns, and its
// turns are null if paw knows of none. standing is "" but in a list, which tells whether the target
// still has the landing.
func landingView(sessionName string, l session.Landing, standing landing.Standing) object {
	id, state, at, stands, without := any(l.ID), l.Phase, any(l.At), absent, absent
	if l.Without > 0 {
		without = l.Without
	}
	if l.ID == 0 { // before the landing
		id, state, at = nil, "planned", nil
	}
	if standing != "" {
		stands = standing
	}
	return object{
		{"id", id}, {"session", sessionName}, {"agent", l.Agent}, {"target", l.Target}, {"state", state}, {"turn", orNull(l.Turn)}, {"turns", orNull(l.Turns)},
		{"as", l.As}, {"before", l.Before}, {"after", l.After}, {"files_changed", l.Files}, {"title", l.Title}, {"landed_at", at}, {"standing", stands},
		{"without", without},
	}
}

// landResults is what became of the landings of one command.
type landResults struct {
	done       []*landing.Landed
	outcomes   []landOutcome // of all agents, in the order of the landings
	collisions []landing.Collision
	behind     []string // agents that lack what has landed
	dryRun     bool
}

func (r landResults) any() bool { return len(r.done)+len(r.collisions)+len(r.outcomes) > 0 }

// landView returns the answer for landings: those that took place, the conflict that stopped them,
// and the agents that did not land.
func (p *printer) landView(r landResults) object {
	view := landAnswer{conflicts: r.collisions, behind: r.behind, notes: p.noted()}
	if r.dryRun {
		view.plan = []string{}
	}
	for _, l := range r.done {
		if !l.Nothing {
			view.landings = append(view.landings, landingView(l.Session, l.Landing, ""))
		}
		if r.dryRun {
			view.plan = append(view.plan, l.Plan()...)
		}
		if r.dryRun && l.Checkout != "" {
			view.plan = append(view.plan, leftAlone(l.Checkout))
		}
		if l.LeftOut > 0 {
			view.notes = append(view.notes, l.String())
		}
	}
	for _, one := range r.outcomes {
		if one.err != nil {
			view.notLanded = append(view.notLanded, one.view())
		}
	}
	return view.view()
}

// landedLines says what has landed, and how to undo it.
func landedLines(h *app.App, l *landing.Landed) []string {
	lines := []string{l.String(), fmt.Sprintf("  undo: paw land --undo %d%s", l.ID, h.Place().Of(l.Session))}
	if l.Along != "" {
		lines = append(lines, "  along came "+l.Along)
	}
	return lines
}

// landPlan returns the plan of a landing: title, files, checks, and the agents it would conflict
// with afterwards.
func (p *printer) landPlan(ctx context.Context, h *app.App, s *session.Session, l *landing.Landed) []string {
	lines := l.Plan()
	for i, line := range lines {
		if l.BadEnd != "" && strings.HasPrefix(line, l.BadEnd) {
			lines[i] = p.paint(line, display.Yellow)
		}
	}
	if len(l.Checks) == 0 {
		lines = append(lines, "checks: none (checks under [land] in the configuration)")
	}
	if s.Host != "" {
		return lines
	}
	if outlooks, err := orchestrator.Outlooks(ctx, h, s, true); err == nil && l.Without == 0 && outlooks[l.Agent] != nil && len(outlooks[l.Agent].Others) > 0 {
		lines = append(lines, "then it conflicts with the work of "+strings.Join(outlooks[l.Agent].Others, ", "))
	}
	if l.Checkout != "" {
		lines = append(lines, leftAlone(shortened(l.Checkout)))
	}
	return lines
}

func leftAlone(checkout string) string {
	return "your other changes in " + checkout + " are left alone"
}

// landOutcome is the result of landing one of several agents.
type landOutcome struct {
	agent  string
	landed *landing.Landed
	err    error // why the agent has not landed
}

func (o landOutcome) String() string {
	switch {
	case o.err != nil:
		return "not landed"
	case o.landed.Nothing:
		return "nothing to land"
	case o.landed.ID == 0:
		return "would land"
	}
	return "landed"
}

// about returns the files and the commit that landed, or the error.
func (o landOutcome) about() string {
	switch {
	case o.err != nil:
		return o.err.Error()
	case o.landed.Nothing:
		return ""
	case o.landed.ID == 0:
		return errs.Counted(o.landed.Files, "file")
	}
	return fmt.Sprintf("%s, %.12s", errs.Counted(o.landed.Files, "file"), o.landed.After)
}

// showOutcomes prints a line for each agent after a landing of several.
func (p *printer) showOutcomes(outcomes []landOutcome) {
	if p.json {
		return
	}
	rows := [][]cell{}
	for _, one := range outcomes {
		rows = append(rows, texts(one.agent, one.String(), display.OneLine(one.about())))
	}
	p.printTable(p.stdout, "", rows)
}

// view returns the JSON of an agent that did not land while paw land --keep-going went on with others.
// exit_code is what paw land would end with for this agent alone.
func (o landOutcome) view() object {
	return object{
		{"agent", o.agent}, {"error", o.err.Error()}, {"exit_code", exitCode(o.err)}, {"conflicts", landing.CollisionsOf(o.err)}, {"hints", app.HintsOf(o.err)},
	}
}

// listLandings runs paw land --list: of one session or, if the user has named none, of all sessions
// of the repository from which work has landed.
func (a *invocation) listLandings(cmd *cobra.Command) error {
	h, sessions, err := a.landedSessions(cmd)
	if err != nil {
		return err
	}
	landings := []object{}
	for _, s := range sessions {
		all, err := landing.Standings(cmd.Context(), h, s)
		if err != nil {
			return err
		}
		if a.json {
			landings = append(landings, objects(all, func(l landing.Stand) object { return landingView(s.Name, l.Landing, l.Standing) })...)
			continue
		}
		indent := ""
		if len(sessions) > 1 {
			indent = "  "
			fmt.Fprintln(a.stdout, a.paint(s.Name, styleHead))
		}
		a.showLandings(s, all, indent)
	}
	if a.json {
		return a.printJSON(landAnswer{landings: landings, notes: a.noted()}.view())
	}
	return nil
}

// landedSessions returns the sessions that paw land --list is about.
func (a *invocation) landedSessions(cmd *cobra.Command) (*app.App, []*session.Session, error) {
	h, s, err := a.landingSession(cmd)
	if h != nil && cmd.Flag("session").Value.String() == "" {
		if all := landing.SessionsHere(h); len(all) > 0 {
			return h, all, nil
		}
	}
	return h, []*session.Session{s}, err
}

// showLandings prints a row for each landing of a session.
func (a *invocation) showLandings(s *session.Session, all []landing.Stand, indent string) {
	if len(all) == 0 {
		fmt.Fprintf(a.stdout, "%s%s: nothing has landed\n", indent, s.Name)
		return
	}
	rows := [][]cell{}
	if isTerminal(a.stdout) {
		rows = append(rows, heads("ID", "STATE", "AGENT", "TURNS", "INTO", "COMMIT", "WHEN", "TITLE"))
	}
	for _, l := range all {
		rows = append(rows, texts(fmt.Sprint(l.ID), listWord(l), l.Agent, l.Turns, l.Target, l.After[:12], l.At.Local().Format("2006-01-02 15:04"), l.Title))
	}
	a.printTable(a.stdout, indent, rows, "COMMIT", "TURNS", "INTO", "WHEN", "STATE")
}

// listWord returns the state of a landing in paw land --list.
func listWord(l landing.Stand) string {
	switch {
	case landing.Unfinished(l.Landing):
		return string(l.Phase)
	case l.Standing == landing.Gone:
		return l.Target + " is gone"
	}
	if l.Standing == landing.NotIn {
		return "not in " + l.Target
	}
	return string(l.Standing)
}

// undoLanding runs paw land --undo [ID].
func (a *invocation) undoLanding(cmd *cobra.Command, args []string, dryRun bool) error {
	if len(args) == 1 && a.sessionHere().Agent(args[0]) != nil {
		return errs.New(errs.Usage, "%s: is an agent; --undo takes the number of a landing", args[0]).Hint("paw undo %s", args[0])
	}
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
	if p.json {
		view := landAnswer{landings: []object{landingView(s.Name, *l, "")}, notes: p.noted()}
		if dryRun {
			view.plan = []string{text}
		}
		return p.printJSON(view.view())
	}
	fmt.Fprintln(p.stdout, text)
	return nil
}
