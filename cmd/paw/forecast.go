package main

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"paw/orchestrator/errs"
	"paw/orchestrator/landing"
	"paw/orchestrator/observe"
)

type forecastOptions struct {
	*invocation
	into string
}

func newForecast(a *invocation) *cobra.Command {
	o := &forecastOptions{invocation: a}
	cmd := &cobra.Command{
		Use:   "forecast [AGENT...]",
		Short: "Show whose work would conflict, and in which order to land",
		Long: exits(`Show how the work of agents goes together with your branch and with each other's, and the
order in which it collides least. It looks at the ends of their last turns, and at what they have
committed since. Nothing is changed, no agent is disturbed.`, exitUsage, "8    something conflicts", exitNotFound, exitMissing),
		Example: `  paw forecast
  paw forecast claude codex --into develop`,
		ValidArgsFunction: a.completes(completion.agents),
		RunE:              o.run,
	}
	cmd.Flags().StringVar(&o.into, "into", "", "branch to land in (default: the one the session was started from)")
	a.addJSON(cmd)
	a.addSession(cmd)
	return cmd
}

func (o *forecastOptions) run(cmd *cobra.Command, args []string) error {
	f, err := o.look(cmd, args)
	if err != nil {
		return err
	}
	if err := o.showForecast(f); err != nil {
		return err
	}
	if f.Collides() {
		return exitStatus(errs.Conflict)
	}
	return nil
}

func (o *forecastOptions) look(cmd *cobra.Command, args []string) (*landing.Forecast, error) {
	if o.far != nil {
		h, work, err := o.fetch(cmd, true, false)
		if err != nil {
			return nil, err
		}
		return landing.Look(cmd.Context(), h, work.Session, work.Agents, o.into, work.Handed)
	}
	h, s, agents, err := o.agents(cmd, args)
	if err != nil {
		return nil, err
	}
	defer o.busy(h, "comparing the work of "+errs.Counted(cmp.Or(len(agents), len(s.Agents)), "agent"))()
	return landing.Look(cmd.Context(), h, s, agents, o.into, nil)
}

// showForecast prints a forecast: a row for each agent, then the order in which to land.
func (o *forecastOptions) showForecast(f *landing.Forecast) error {
	if o.json {
		return o.printJSON(forecastView(f))
	}
	rows := [][]cell{heads("AGENT", "FILES", "WITH "+f.Target, "WITH EACH OTHER")}
	for _, one := range f.Agents {
		row := texts(one.Agent, fmt.Sprint(one.Files), withTarget(one), collisions(f, one.Agent))
		if len(one.Conflicts) > 0 {
			row[2].state = "error"
		} else if one.LeftOut != "" && one.Lands() {
			row[2].state = "limited"
		}
		if row[3].text != "" {
			row[3].state = "error"
		}
		rows = append(rows, row)
	}
	o.printTable(o.stdout, "", rows, "FILES")
	o.showOrder(f)
	return nil
}

// showOrder prints the order in which to land, and names the agents that paw land --all leaves out,
// with the command that lands them.
func (o *forecastOptions) showOrder(f *landing.Forecast) {
	var conflicting, leftOut []string
	line := "paw land"
	for _, one := range f.Agents {
		switch {
		case len(one.Conflicts) > 0:
			conflicting = append(conflicting, one.Agent)
		case one.LeftOut != "" && one.Lands():
			leftOut, line = append(leftOut, one.Agent), line+" "+f.Session+"/"+one.Agent
		}
	}
	switch {
	case len(f.Order) > 0:
		fmt.Fprintf(o.stdout, "best order to land: %s\n", strings.Join(f.Order, ", "))
	case len(conflicting) > 0 && len(leftOut) == 0:
		fmt.Fprintf(o.stdout, "no order to land: each conflicts with %s: %s\n", f.Target, strings.Join(conflicting, ", "))
	}
	if len(leftOut) > 0 {
		if o.into != "" {
			line += " --into " + errs.Quote(o.into)
		}
		fmt.Fprintf(o.stdout, "left out by --all: %s; %s lands all the same\n", strings.Join(leftOut, ", "), line)
	}
}

// withTarget says how the work of an agent fits the branch it would land on.
func withTarget(o observe.Forecast) string {
	if end := o.LeftOut; end != "" && o.Lands() {
		o.LeftOut = ""
		return withTarget(o) + ", but " + end
	}
	switch {
	case o.Unknown != "":
		return "unknown: " + o.Unknown
	case len(o.Conflicts) > 0:
		return first(o.Told)
	case len(o.Submodules) > 0:
		return "does not land: it would add, remove or move a submodule: " + first(o.Submodules)
	case o.Files == 0:
		return "nothing to land"
	}
	return "fits"
}

// collisions says which agents an agent's work conflicts with. Agents that conflict in the same
// files are named together.
func collisions(f *landing.Forecast, agent string) string {
	names := map[string][]string{}
	var kinds []string // file lists in the order of the pairs, each once
	for _, p := range f.Pairs {
		other := p.One
		if p.One == agent {
			other = p.Other
		} else if p.Other != agent {
			continue
		}
		files := first(p.Files)
		if names[files] == nil {
			kinds = append(kinds, files)
		}
		names[files] = append(names[files], other)
	}
	var all []string
	for _, files := range kinds {
		all = append(all, first(names[files])+": "+files)
	}
	return strings.Join(all, "; ")
}

// first joins the first items of a list and counts the others.
func first(all []string) string {
	const most = 3
	if more := len(all) - most; more > 0 {
		return strings.Join(all[:most], ", ") + fmt.Sprintf(" and %d more", more)
	}
	return strings.Join(all, ", ")
}

// forecastView returns the JSON of a forecast. An agent's turn is null if the forecast is of the tip
// of the agent's branch.
func forecastView(f *landing.Forecast) object {
	agents := objects(f.Agents, func(o observe.Forecast) object {
		return object{
			{"name", o.Agent}, {"commit", o.Commit}, {"turn", orNull(o.Turn)}, {"files_changed", o.Files}, {"conflicts", o.Conflicts},
			{"submodules", o.Submodules}, {"cut_short", orNull(o.CutShort)}, {"unknown", orNull(o.Unknown)},
			{"left_out", orNull(o.LeftOut)},
		}
	})
	pairs := objects(f.Pairs, func(p landing.Pair) object {
		return object{{"agents", []string{p.One, p.Other}}, {"conflicts", p.Files}}
	})
	return object{{"version", 1}, {"session", f.Session}, {"target", f.Target}, {"agents", agents}, {"pairs", pairs}, {"order", f.Order}}
}
