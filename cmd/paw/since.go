package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"paw/config/display"
	"paw/orchestrator"
	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/landing"
	"paw/orchestrator/observe"
	"paw/orchestrator/turns"
	"paw/session"
	"paw/session/turn"
)

// agentSince counts what an agent has done since a time.
type agentSince struct {
	agent    *observe.AgentStatus
	finished int
	cut      int // turns that somebody interrupted, or a crash, a stop or a limit has cut
	failed   int
	files    int // sum of the files that each turn changed
	last     string
}

// reportSince prints what has happened since a time: what each agent has done, the most urgent
// agent first, and what has landed.
func (o *statusOptions) reportSince(ctx context.Context, h *app.App, agents []string, from time.Time) error {
	statuses, problems, err := orchestrator.Status(ctx, h, o.StatusOptions)
	if err != nil {
		return err
	}
	keepAgents(statuses, agents)
	if len(statuses) == 0 {
		if err := (statusPrinter{o.invocation}).showStatus(ctx, h, statuses, problems, noHosts()); err != nil {
			return err
		}
		return o.unread(problems)
	}
	o.printProblems(problems)
	for i, st := range statuses {
		if i > 0 {
			fmt.Fprintln(o.stdout)
		}
		list, odd, err := orchestrator.Turns(ctx, h, st.Session)
		if err != nil {
			return err
		}
		o.printProblems(odd)
		problems = append(problems, odd...)
		turnsSince(list, from)
		var done []agentSince
		for _, r := range mostUrgent(st.Agents) {
			done = append(done, doneSince(r.AgentStatus, list))
		}
		landed, err := landedSince(ctx, h, st.Session, from)
		if err != nil {
			return err
		}
		o.printSince(st, done, landed, from, h.Now())
	}
	return o.unread(problems)
}

// landedSince returns the landings of a session since a time, without those that were undone or
// lost.
func landedSince(ctx context.Context, h *app.App, s *session.Session, from time.Time) ([]landing.Stand, error) {
	if !slices.ContainsFunc(s.Landings, func(l session.Landing) bool { return !l.At.Before(from) }) {
		return nil, nil
	}
	all, err := landing.Standings(ctx, h, s)
	return slices.DeleteFunc(all, func(l landing.Stand) bool {
		return l.At.Before(from) || l.Standing != landing.InForce
	}), err
}

// doneSince counts an agent's turns in a list.
func doneSince(ag *observe.AgentStatus, list []turns.AgentTurns) agentSince {
	d := agentSince{agent: ag}
	for _, sequence := range list {
		if sequence.Agent != ag.Record.Name {
			continue
		}
		for _, t := range sequence.Turns {
			switch t.State {
			case turn.Finished:
				d.finished++
			case turn.Aborted:
				if t.Reason == turn.ReasonError && t.Limit == nil {
					d.failed++
				} else {
					d.cut++
				}
			case turn.Initial, turn.InProgress:
			}
			if t.Files != nil {
				d.files += *t.Files
			}
			d.last = headline(t.Prompt.Words())
			if t.State == turn.Finished && t.Message != "" {
				d.last = display.OneLine(display.FirstLine(t.Message))
			}
		}
	}
	return d
}

func (o *statusOptions) printSince(st observe.SessionStatus, done []agentSince, landings []landing.Stand, from, now time.Time) {
	finished, failed, cut, quiet := 0, 0, 0, []string{}
	rows := [][]cell{heads("AGENT", "STATE", "TURNS", "FAILED", "CUT", "FILES", "LAST")}
	for _, d := range done {
		finished, failed, cut = finished+d.finished, failed+d.failed, cut+d.cut
		if d.last == "" && orchestrator.GroupOf(*d.agent) != orchestrator.NeedsYou {
			quiet = append(quiet, d.agent.Record.Name)
			continue
		}
		row := texts(d.agent.Record.Name, d.agent.InWords(), strconv.Itoa(d.finished), "", "", strconv.Itoa(d.files), d.last)
		row[1].state = colourOf(d.agent.AgentStatus)
		if d.failed > 0 {
			row[3] = cell{strconv.Itoa(d.failed), "error"}
		}
		if d.cut > 0 {
			row[4] = cell{text: strconv.Itoa(d.cut)}
		}
		rows = append(rows, row)
	}
	var landed []string
	for _, l := range landings {
		landed = append(landed, fmt.Sprintf("landed in %s: %s  %s", l.Target, l.Agent, display.OneLine(l.Title)))
	}
	line := fmt.Sprintf("since %s: %s finished", timeOf(from, now, "Jan _2 15:04"), errs.Counted(finished, "turn"))
	if failed > 0 {
		line += fmt.Sprintf(", %d failed", failed)
	}
	if cut > 0 {
		line += fmt.Sprintf(", %d cut", cut)
	}
	fmt.Fprintf(o.stdout, "%s  %s, %d landed\n", o.paint(st.Session.Name, styleHead), line, len(landed))
	if len(rows) > 1 {
		o.printTable(o.stdout, "  ", rows, "FILES", "CUT", "FAILED", "TURNS")
	}
	if len(quiet) > 0 {
		fmt.Fprintf(o.stdout, "  nothing of %s\n", strings.Join(quiet, ", "))
	}
	for _, one := range landed {
		fmt.Fprintln(o.stdout, "  "+one)
	}
}
