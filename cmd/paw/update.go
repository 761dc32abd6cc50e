package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/landing"
)

type updateOptions struct {
	*invocation
	from        string
	all, dryRun bool
}

func newUpdate(a *invocation) *cobra.Command {
	o := &updateOptions{invocation: a}
	cmd := &cobra.Command{
		Use:   "update AGENT... | --all",
		Short: "Bring your branch, with what has landed, into agents' worktrees",
		Long: exits(`Bring the branch that work lands on into the worktrees of agents at rest, by the same merge
as a landing, the other way round. What an agent has not committed stays uncommitted.
What was there is saved first, and paw rewind AGENT --undo takes it back. A conflict
changes nothing. The agent is not told.`, exitUsage, exitRefused, "8    conflict, that worktree is as it was", exitNotFound, exitLocked, exitMissing),
		Example: `  paw update claude
  paw update --all
  paw update codex --from develop`,
		ValidArgsFunction: completer{a}.completeAgents,
		RunE:              o.run,
	}
	f := cmd.Flags()
	f.StringVar(&o.from, "from", "", "branch to bring in (default: the one the session was started from)")
	f.BoolVarP(&o.all, "all", "a", false, "all agents that are at rest")
	f.BoolVarP(&o.dryRun, "dry-run", "n", false, "say what would be done and do nothing")
	a.addJSON(cmd)
	a.addSession(cmd)
	return cmd
}

func (o *updateOptions) run(cmd *cobra.Command, args []string) error {
	if o.all == (len(args) > 0) {
		return errs.New(errs.Usage, "give agents, or --all").Hint("paw update --all")
	}
	h, s, agents, err := o.agents(cmd, args)
	if err != nil {
		return err
	}
	if o.all {
		agents = app.AgentNames(s)
	}
	var conflict error
	view := updateJSON{Version: 1, Agents: []updatedJSON{}}
	for _, agent := range agents {
		updated, err := landing.Update(cmd.Context(), h, s, agent, o.from, o.dryRun)
		var refused *errs.Error
		switch {
		case err == nil && o.json:
			view.Agents = append(view.Agents, updatedView(updated))
		case err == nil:
			fmt.Fprintln(forReading(o.stdout), updated)
		case o.all && errors.As(err, &refused) && refused.Kind == errs.Refused:
			h.Notef("skipped: %v", err)
		case o.all && errors.As(err, &refused) && refused.Kind == errs.Conflict:
			h.Notef("skipped: %v", err)
			conflict = exitStatus(errs.Conflict)
		default:
			return err
		}
	}
	if o.json {
		view.Notes = o.noted()
		return errors.Join(o.printJSON(view), conflict)
	}
	return conflict
}

type updateJSON struct {
	Version int           `json:"version"`
	Agents  []updatedJSON `json:"agents"`
	Notes   []string      `json:"notes"`
}

type updatedJSON struct {
	Session      string  `json:"session"`
	Name         string  `json:"name"`
	From         string  `json:"from"`
	Result       string  `json:"result"` // updated, planned or up_to_date
	Head         *string `json:"head"`   // null if the worktree was up to date
	FilesChanged int     `json:"files_changed"`
}

func updatedView(u *landing.Updated) updatedJSON {
	view := updatedJSON{Session: u.Session, Name: u.Agent, From: u.From, Result: "updated", FilesChanged: u.Files}
	switch {
	case u.Nothing:
		view.Result = "up_to_date"
		return view
	case u.DryRun:
		view.Result = "planned"
	}
	view.Head = &u.Head
	return view
}
