package main

import (
	"time"

	"paw/orchestrator/landing"
	"paw/session"
)

// landJSON lists landings: those of one command, or of a session.
type landJSON struct {
	Version   int             `json:"version"`
	Landings  []landingJSON   `json:"landings"`
	Conflicts []collisionJSON `json:"conflicts"`            // of the landing at which the command stopped
	NotLanded []notLandedJSON `json:"not_landed,omitempty"` // only with --keep-going
	Behind    []string        `json:"behind"`               // agents that lack what has landed now
	Notes     []string        `json:"notes"`
}

// landPlanJSON is landJSON with a plan, for --dry-run.
type landPlanJSON struct {
	Plan []string `json:"plan"`
	landJSON
}

// newLandView returns an answer without landings.
func (p *printer) newLandView() landJSON {
	return landJSON{Version: 1, Landings: []landingJSON{}, Conflicts: []collisionJSON{}, Behind: []string{}, Notes: p.noted()}
}

type landingJSON struct {
	ID           *int       `json:"id"` // null before the landing
	Session      string     `json:"session"`
	Agent        string     `json:"agent"`
	Target       string     `json:"target"`
	State        string     `json:"state"`
	Turn         *int       `json:"turn"`  // null for the present state of the agent
	Turns        *string    `json:"turns"` // null if paw knows of no turns
	As           string     `json:"as"`
	Before       string     `json:"before"`
	After        string     `json:"after"`
	FilesChanged int        `json:"files_changed"`
	Title        string     `json:"title"`
	LandedAt     *time.Time `json:"landed_at"`
	Standing     string     `json:"standing,omitempty"` // only in a list: whether the target still has the landing
}

func landingView(sessionName string, l session.Landing) landingJSON {
	view := landingJSON{
		Session: sessionName, Agent: l.Agent, Target: l.Target, State: string(l.Phase), As: l.As,
		Turn: orNull(l.Turn), Turns: orNull(l.Turns), Before: l.Before, After: l.After, FilesChanged: l.Files, Title: l.Title,
	}
	if l.ID == 0 {
		view.State = "planned"
	} else {
		view.ID, view.LandedAt = &l.ID, &l.At
	}
	return view
}

// landView returns the answer for landings: those that took place, the conflict that stopped them,
// and the agents that did not land.
func (p *printer) landView(done []*landing.Landed, outcomes []landOutcome, collisions []landing.Collision, behind []string, dryRun bool) any {
	view := p.newLandView()
	view.Behind = append(view.Behind, behind...)
	plan := []string{}
	for _, l := range done {
		if plan = append(plan, l.Plan...); !l.Nothing {
			view.Landings = append(view.Landings, landingView(l.Session, l.Landing))
		}
		if l.LeftOut > 0 {
			view.Notes = append(view.Notes, l.String())
		}
	}
	for _, f := range collisions {
		view.Conflicts = append(view.Conflicts, collisionJSON{f.Path, f.With})
	}
	for _, one := range outcomes {
		if one.err != nil {
			view.NotLanded = append(view.NotLanded, one.view())
		}
	}
	if dryRun {
		return landPlanJSON{Plan: plan, landJSON: view}
	}
	return view
}
