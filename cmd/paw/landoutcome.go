package main

import (
	"fmt"

	"paw/config/display"
	"paw/orchestrator/errs"
	"paw/orchestrator/landing"
)

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

// notLandedJSON is an agent that has not landed, while the others did with --keep-going.
type notLandedJSON struct {
	Agent     string          `json:"agent"`
	Error     string          `json:"error"`
	ExitCode  int             `json:"exit_code"` // exit code of paw land for this agent alone
	Conflicts []collisionJSON `json:"conflicts"`
	Hints     []string        `json:"hints"`
}

func (o landOutcome) view() notLandedJSON {
	view := notLandedJSON{Agent: o.agent, Error: o.err.Error(), ExitCode: exitCode(o.err), Conflicts: []collisionJSON{}, Hints: hintsOf(o.err)}
	for _, f := range landing.CollisionsOf(o.err) {
		view.Conflicts = append(view.Conflicts, collisionJSON{f.Path, f.With})
	}
	return view
}

type collisionJSON struct {
	Path string `json:"path"`
	With string `json:"with"`
}
