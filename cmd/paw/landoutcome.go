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
	err    error // why it has not landed
}

// String says it in a few words.
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

// about returns the text for one outcome: what has landed, or the error.
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

// showOutcomes ends a landing of several agents with a line for each.
func (o *landOptions) showOutcomes(outcomes []landOutcome) {
	if o.json {
		return
	}
	rows := [][]cell{}
	for _, one := range outcomes {
		rows = append(rows, texts(one.agent, one.String(), display.OneLine(one.about())))
	}
	o.printTable(o.stdout, "", rows)
}

// notLandedJSON is an agent that has not landed while others went on.
type notLandedJSON struct {
	Agent     string          `json:"agent"`
	Error     string          `json:"error"`
	ExitCode  int             `json:"exit_code"` // as if it had landed alone
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
