package main

import (
	"strings"

	"paw/orchestrator"
	"paw/orchestrator/app"
	"paw/orchestrator/teardown"
	"paw/orchestrator/typing"
)

// JSON of the commands that act on agents (docs/json.md).

type sendJSON struct {
	Version int        `json:"version"`
	Session string     `json:"session"`
	Sent    []sentJSON `json:"sent"` // agents that got the prompt
	Notes   []string   `json:"notes"`
}

type sentJSON struct {
	Agent   string `json:"agent"`
	Turn    *int   `json:"turn"`   // turn that the prompt began, or waits behind; null if nothing tells
	Queued  bool   `json:"queued"` // the prompt waits behind that turn
	Dropped int    `json:"dropped"`
}

func sentView(s *typing.Sent) sentJSON {
	return sentJSON{Agent: s.Agent, Turn: orNull(s.Turn), Queued: s.Queued, Dropped: s.Dropped}
}

type stopJSON struct {
	Version  int                  `json:"version"`
	Sessions []stoppedSessionJSON `json:"sessions"`
	Notes    []string             `json:"notes"`
}

type stoppedSessionJSON struct {
	Name    string      `json:"name"`
	Whole   bool        `json:"whole"`
	Already bool        `json:"already"`
	Agents  []endedJSON `json:"agents"`
	GoOn    []string    `json:"go_on"`
	Others  []string    `json:"others"`
	Plan    []string    `json:"plan,omitempty"` // only with --dry-run
}

type endedJSON struct {
	Name   string   `json:"name"`
	Turn   *int     `json:"turn"` // turn that the stop interrupted
	Queued []string `json:"queued"`
}

func stoppedView(h *app.App, p *teardown.Stop, dryRun bool) stoppedSessionJSON {
	view := stoppedSessionJSON{Name: p.Session.Name, Whole: p.Whole, Already: p.Already, Agents: []endedJSON{}, GoOn: append([]string{}, p.GoOn...), Others: []string{}}
	if p.Whole {
		view.Others = append(view.Others, p.Others...)
	}
	for _, e := range p.Agents {
		ended := endedJSON{Name: e.Agent, Turn: orNull(e.Turn), Queued: []string{}}
		for _, one := range h.Texts().QueuedPrompts(p.Session.Name, e.Agent) {
			ended.Queued = append(ended.Queued, one.Text)
		}
		view.Agents = append(view.Agents, ended)
	}
	if dryRun {
		view.Plan = strings.Split(p.String(), "\n")
	}
	return view
}

type removeJSON struct {
	Version int           `json:"version"`
	Session string        `json:"session"`
	Removed []removedJSON `json:"removed"`
	Plan    []string      `json:"plan,omitempty"` // only with --dry-run
	Notes   []string      `json:"notes"`
}

type removedJSON struct {
	Name          string   `json:"name"`
	Branch        string   `json:"branch"`
	BranchDeleted bool     `json:"branch_deleted"`
	WorktreePath  string   `json:"worktree_path"`
	Worktree      string   `json:"worktree"` // deleted, trashed, stays or gone
	RescueRef     *string  `json:"rescue_ref"`
	Trash         *string  `json:"trash"`
	Children      []string `json:"children"`
}

func removedView(r *teardown.Removed) removedJSON {
	where := map[teardown.Place]string{teardown.Deleted: "deleted", teardown.Trashed: "trashed", teardown.Stays: "stays", teardown.Gone: "gone"}
	return removedJSON{
		Name: r.Name, Branch: r.Branch, BranchDeleted: r.Landed || r.BranchGone, WorktreePath: r.Worktree, Worktree: where[r.Place],
		RescueRef: orNull(r.RescueRef), Trash: orNull(r.Trash), Children: append([]string{}, r.Children...),
	}
}

type rewindJSON struct {
	Version      int      `json:"version"`
	Session      string   `json:"session"`
	Agent        string   `json:"agent"`
	Turn         int      `json:"turn"` // turn whose end the worktree is at, 0 for the base
	Head         *string  `json:"head"`
	FilesChanged int      `json:"files_changed"`
	RescueRef    *string  `json:"rescue_ref"` // state before the rewind, null if the worktree was there already
	Untouched    []string `json:"untouched"`
	Notes        []string `json:"notes"`
}

func rewoundView(r *orchestrator.Rewound, notes []string) rewindJSON {
	if r.Remembers != "" {
		notes = append(notes, r.Remembers)
	}
	return rewindJSON{
		Version: 1, Session: r.Session, Agent: r.Agent, Turn: r.At, Head: orNull(r.Head), FilesChanged: r.Changed, RescueRef: orNull(r.RescueRef),
		Untouched: append([]string{}, r.Untouched...), Notes: notes,
	}
}
