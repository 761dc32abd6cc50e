package main

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"errors"

	"paw/orchestrator"
	"paw/orchestrator/errs"
	"paw/orchestrator/landing"
)

type rewindOptions struct {
	*invocation
	orchestrator.RewindOptions
	undo, all bool
	to        string
}

func newRewind(a *invocation) *cobra.Command {
	o := &rewindOptions{invocation: a}
	cmd := &cobra.Command{
		Use:   "rewind AGENT N | AGENT@N | AGENT --undo | --all --to TIME",
		Short: "Put a worktree back to the end of a turn",
		Long: exits(`Put an agent's worktree back to the end of turn N (0 is its base, last its last one): every tracked and
untracked file as it was then, ignored files untouched. The present state is
saved first, so --undo brings it back until another turn has come. The branch goes along; the conversation does not.
It refuses while a turn runs, or may run: then stop the agent first. --all --to TIME puts all worktrees of the session back to
what they were then, or none; one that was in a turn, to the begin of that. Your branch stays: paw land --undo.`, exitUsage, exitRefused, exitNotFound, exitMissing),
		Example: `  paw rewind claude 2
  paw rewind claude --undo
  paw rewind --all --to 14:05 --dry-run`,
		Args: func(cmd *cobra.Command, args []string) error {
			if o.all {
				return cobra.NoArgs(cmd, args)
			}
			return cobra.RangeArgs(1, 2)(cmd, args)
		},
		ValidArgsFunction: a.completes(completion.agentAndTurn),
		RunE:              o.run,
	}
	f := cmd.Flags()
	f.BoolVar(&o.undo, "undo", false, "take the last rewind or update back")
	f.BoolVarP(&o.all, "all", "a", false, "all agents of the session, with --to")
	f.StringVar(&o.to, "to", "", "with --all: a time of today (14:05), a date with a time, or how long ago (90m)")
	completeFlag(cmd, "to", cobra.FixedCompletions([]string{"15m", "1h", "8h"}, cobra.ShellCompDirectiveNoFileComp))
	f.BoolVarP(&o.Force, "force", "f", false, "also to a turn without a snapshot: to its commit alone")
	f.BoolVarP(&o.DryRun, "dry-run", "n", false, "say what would change and do nothing")
	a.addJSON(cmd)
	a.addSession(cmd)
	return cmd
}

func (o *rewindOptions) run(cmd *cobra.Command, args []string) error {
	if o.all || o.to != "" {
		return o.rewindAll(cmd)
	}
	h, s, agent, number, err := o.agentAndTurn(cmd, args)
	if err != nil {
		return err
	}
	var rewound *orchestrator.Rewound
	switch {
	case o.undo && number == "":
		rewound, err = orchestrator.UndoRewind(cmd.Context(), h, s, agent, o.DryRun)
	case !o.undo && number != "":
		n, convErr := strconv.Atoi(number)
		if convErr != nil || n < 0 {
			return usagef(cmd, "%s: not the number of a turn", number)
		}
		rewound, err = orchestrator.Rewind(cmd.Context(), h, s, agent, n, o.RewindOptions)
	default:
		return errs.New(errs.Usage, "%s: which turn? give its number, or --undo", agent).Hint("paw turns %s/%s", s.Name, agent)
	}
	if err != nil {
		return err
	}
	return o.show(rewoundView(rewound, o.noted()), rewound)
}

func (o *rewindOptions) rewindAll(cmd *cobra.Command) error {
	if err := alone(cmd, "all", "to", "dry-run"); err != nil {
		return err
	}
	if !o.all || o.to == "" {
		return usagef(cmd, "--all and --to TIME go together")
	}
	h, s, err := o.session(cmd)
	if err != nil {
		return err
	}
	at, err := sinceWhen(o.to, h.Now())
	switch {
	case err != nil:
		return usagef(cmd, "--to %s: %s", o.to, err)
	case at.After(h.Now()):
		return usagef(cmd, "--to %s: is still to come", o.to)
	}
	all, err := orchestrator.RewindAll(cmd.Context(), h, s, at, o.DryRun)
	if o.json && (err == nil || len(all) > 0) {
		views := objects(all, func(r *orchestrator.Rewound) object { return rewoundView(r, nil)[1:] })
		return errors.Join(o.printJSON(object{{"version", 1}, {"agents", views}, {"notes", o.noted()}}), err)
	}
	for _, r := range all {
		fmt.Fprintln(forReading(o.stdout), r)
	}
	if err == nil && len(all) == 0 {
		fmt.Fprintf(o.stdout, "%s: nothing has happened since in any worktree\n", s.Name)
	}
	return err
}

// rewoundView returns the turn whose end the worktree is at, 0 for the base, and the ref of the state
// before, null if the worktree was there already.
func rewoundView(r *orchestrator.Rewound, notes []string) object {
	if r.Remembers != "" {
		notes = append(notes, r.Remembers)
	}
	return object{
		{"version", 1}, {"session", r.Session}, {"agent", r.Agent}, {"turn", r.At}, {"head", orNull(r.Head)}, {"files_changed", r.Changed},
		{"rescue_ref", orNull(r.RescueRef)}, {"untouched", r.Untouched}, {"notes", notes},
	}
}

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
		ValidArgsFunction: a.completes(completion.agents),
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
	h, s, agents, err := o.agentsOrAll(cmd, args, o.all)
	if err != nil {
		return err
	}
	var conflict error
	var views []object
	for _, agent := range agents {
		updated, err := landing.Update(cmd.Context(), h, s, agent, o.from, o.dryRun)
		var refused *errs.Error
		switch {
		case err == nil && o.json:
			views = append(views, updatedView(updated))
		case err == nil:
			fmt.Fprintln(forReading(o.stdout), updated)
		case o.all && errors.As(err, &refused) && (refused.Kind == errs.Refused || refused.Kind == errs.Locked):
			h.Notef("skipped: %v", err)
		case o.all && errors.As(err, &refused) && refused.Kind == errs.Conflict:
			h.Notef("skipped: %v", err)
			conflict = exitStatus(errs.Conflict)
		default:
			return err
		}
	}
	if o.json {
		return errors.Join(o.printJSON(object{{"version", 1}, {"agents", views}, {"notes", o.noted()}}), conflict)
	}
	return conflict
}

// updatedView returns the update of an agent. The result is updated, planned or up_to_date; head is
// null if the worktree was up to date.
func updatedView(u *landing.Updated) object {
	result, head := "updated", any(u.Head)
	switch {
	case u.Nothing:
		result, head = "up_to_date", nil
	case u.DryRun:
		result = "planned"
	}
	return object{{"session", u.Session}, {"name", u.Agent}, {"from", u.From}, {"result", result}, {"head", head}, {"files_changed", u.Files}}
}
