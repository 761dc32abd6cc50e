package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"paw/orchestrator"
	"paw/orchestrator/app"
	"paw/orchestrator/teardown"
)

type removeOptions struct {
	*invocation
	teardown.Options
}

func newRemove(a *invocation) *cobra.Command {
	o := &removeOptions{invocation: a}
	cmd := &cobra.Command{
		Use:   "remove AGENT...",
		Short: "End an agent and remove its worktree; its branch stays",
		Long: exits(`End an agent and remove its worktree. Its branch and tags stay. It refuses during a
turn, and as long as the worktree holds anything that git does not have: uncommitted,
untracked or ignored files, an unfinished merge or rebase. With --force those are saved first:
a commit under refs/paw holds the files, and the directory is kept in the trash
folder of the repository. So is a directory with folders that are ignored as a whole,
unless they are copies of the main checkout's. Agents that it has started stay.`, exitUsage, exitRefused, exitNotFound, exitLocked, exitMissing),
		Example: `  paw remove codex
  paw remove codex --keep-worktree
  paw remove codex --force`,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: a.completes(completion.agents),
		RunE:              a.withHome(o.run),
	}
	f := cmd.Flags()
	f.BoolVar(&o.NoTeardown, "no-teardown", false, "do not run worktree.teardown")
	f.BoolVar(&o.KeepWorktree, "keep-worktree", false, "leave the worktree where it is, no longer paw's")
	f.BoolVarP(&o.Force, "force", "f", false, "save what is not committed, then remove")
	f.BoolVarP(&o.DryRun, "dry-run", "n", false, "say what would be done and do nothing")
	a.addJSON(cmd)
	a.addSession(cmd)
	return cmd
}

func (o *removeOptions) run(cmd *cobra.Command, h *app.App, args []string) error {
	q := o.question(cmd, h, args)
	q.strict = true
	s, agents, err := q.agents(args)
	if err != nil {
		return err
	}
	var views []object
	done := o.busy(h, "removing "+strings.Join(agents, ", "))
	plan, err := orchestrator.Remove(cmd.Context(), h, s, agents, o.Options, func(removed *teardown.Removed) {
		done()
		if views = append(views, removedView(removed)); !o.json {
			o.printRemoved(removed)
		}
	})
	done()
	if o.json && (err == nil || len(views) > 0) {
		steps := absent
		if o.DryRun {
			steps = strings.Split(plan.String(), "\n")
		}
		return errors.Join(err, o.printJSON(object{{"version", 1}, {"session", s.Name}, {"removed", views}, {"plan", steps}, {"notes", o.noted()}}))
	}
	if err != nil {
		return err
	}
	if o.DryRun {
		fmt.Fprintf(forReading(o.stdout), "%s can be removed\n%s\n", strings.Join(agents, ", "), plan)
	}
	return nil
}

func (p *printer) printRemoved(r *teardown.Removed) {
	out := forReading(p.stdout) // branches and folders have names from other people
	switch {
	case r.BranchGone && r.Place == teardown.Stays:
		fmt.Fprintf(out, "%s removed; its worktree %s stays, there is no branch %s any more\n", r.Name, r.WorktreePath, r.Branch)
	case r.BranchGone:
		fmt.Fprintf(out, "%s removed; there is no branch %s any more\n", r.Name, r.Branch)
	case r.Place == teardown.Stays:
		fmt.Fprintf(out, "%s removed; its worktree %s and branch %s stay\n", r.Name, r.WorktreePath, r.Branch)
	case r.Landed:
		fmt.Fprintf(out, "%s removed, and its branch %s, which has landed\n", r.Name, r.Branch)
	default:
		fmt.Fprintf(out, "%s removed; its branch %s stays\n", r.Name, r.Branch)
	}
	for _, line := range r.Kept() {
		fmt.Fprintln(out, line)
	}
	if len(r.Children) > 0 {
		fmt.Fprintf(out, "the agents that it has started stay: %s\n", strings.Join(r.Children, ", "))
	}
}

func removedView(r *teardown.Removed) object {
	where := map[teardown.Place]string{teardown.Deleted: "deleted", teardown.Trashed: "trashed", teardown.Stays: "stays", teardown.Gone: "gone"}
	return object{
		{"name", r.Name}, {"branch", r.Branch}, {"branch_deleted", r.Landed || r.BranchGone}, {"worktree_path", r.WorktreePath}, {"worktree", where[r.Place]},
		{"rescue_ref", orNull(r.RescueRef)}, {"trash", orNull(r.Trash)}, {"children", r.Children},
	}
}
