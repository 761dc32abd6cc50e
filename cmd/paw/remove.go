package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"paw/orchestrator"
	"paw/orchestrator/app"
	"paw/orchestrator/errs"
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
		ValidArgsFunction: completer{a}.completeAgents,
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
	q := newQuestion(cmd, h, args)
	q.strict = true
	s, agents, err := q.agents(args)
	if err != nil {
		return err
	}
	view := removeJSON{Version: 1, Session: s.Name, Removed: []removedJSON{}}
	done := o.busy(h, "removing "+strings.Join(agents, ", "))
	plan, err := orchestrator.Remove(cmd.Context(), h, s, agents, o.Options, func(removed *teardown.Removed) {
		done()
		if view.Removed = append(view.Removed, removedView(removed)); !o.json {
			o.printRemoved(removed)
		}
	})
	done()
	if view.Notes = o.noted(); o.json && (err == nil || len(view.Removed) > 0) {
		if o.DryRun {
			view.Plan = strings.Split(plan.String(), "\n")
		}
		return errors.Join(err, o.printJSON(view))
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
		fmt.Fprintf(out, "%s removed; its worktree %s stays, there is no branch %s any more\n", r.Name, r.Worktree, r.Branch)
	case r.BranchGone:
		fmt.Fprintf(out, "%s removed; there is no branch %s any more\n", r.Name, r.Branch)
	case r.Place == teardown.Stays:
		fmt.Fprintf(out, "%s removed; its worktree %s and branch %s stay\n", r.Name, r.Worktree, r.Branch)
		if r.Back {
			fmt.Fprintf(out, "paw add --cli %s --branches %s --session %s takes it back\n", r.CLI, r.Branch, r.Session)
		}
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

type purgeOptions struct {
	*invocation
	teardown.Options
	yes bool
}

func newPurge(a *invocation) *cobra.Command {
	o := &purgeOptions{invocation: a}
	cmd := &cobra.Command{
		Use:   "purge [NAME]",
		Short: "End a session for good: agents, worktrees, merged branches, record",
		Long: exits(`End a session for good: stop it, remove every agent, delete those branches that paw
made and that have no commit of their own, and the record. It refuses like remove, before
it changed anything.

Turn tags and refs/paw stay, and keep the name of the session taken. With --tags they
go too, except for rescued work; that goes only with --tags --force.`, exitUsage, exitRefused, exitNotFound, exitLocked, exitMissing),
		Example: `  paw purge
  paw purge shop --yes
  paw purge shop --tags`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: completer{a}.completeSessions,
		RunE:              o.run,
	}
	f := cmd.Flags()
	f.BoolVar(&o.NoTeardown, "no-teardown", false, "do not run worktree.teardown")
	f.BoolVarP(&o.yes, "yes", "y", false, "do not ask")
	f.BoolVar(&o.Tags, "tags", false, "also delete turn tags, refs/paw and turn logs; works without a record")
	f.BoolVarP(&o.Force, "force", "f", false, "save what is not committed, then remove")
	f.BoolVarP(&o.DryRun, "dry-run", "n", false, "say what would be done and do nothing")
	return cmd
}

func (o *purgeOptions) run(cmd *cobra.Command, args []string) error {
	name := ""
	if len(args) > 0 {
		if name = args[0]; name == "" {
			return usagef(cmd, "the name of the session is empty")
		}
	}
	h, err := o.paw()
	if err != nil {
		return err
	}
	s, _, err := question{App: h, cmd: cmd, name: name, strict: true}.agents(nil)
	if err != nil && name == "" && exitCode(err) == int(errs.NotFound) {
		fmt.Fprintln(o.stdout, "no session here; nothing to purge")
		return nil
	}
	if err != nil && o.Tags && name != "" && exitCode(err) == int(errs.NotFound) {
		return o.purgeTurns(cmd, h, name)
	}
	if err != nil {
		return err
	}
	if !o.yes && !o.DryRun {
		look := o.Options
		look.DryRun = true
		if _, err := orchestrator.Purge(cmd.Context(), h, s, look); err != nil {
			return err
		}
		if err := o.confirm(cmd.Context(), fmt.Sprintf("purge session %s with %s?", s.Name, errs.Counted(len(s.Agents), "agent")), "paw purge "+s.Name+" --yes"); err != nil {
			return err
		}
	}
	done := o.busy(h, "purging "+s.Name)
	purged, err := orchestrator.Purge(cmd.Context(), h, s, o.Options)
	done()
	if err != nil {
		return err
	}
	if o.DryRun {
		o.printPurge(purged.Purge)
		return nil
	}
	o.printPurged(purged)
	if !o.Tags && purged.Gone == "" {
		fmt.Fprintf(o.stdout, "its turn tags stay, and keep the name taken: paw purge %s --tags deletes them\n", purged.Name)
	}
	return nil
}

// purgeTurns deletes the tags, refs and turn logs of a session whose record is gone.
func (o *purgeOptions) purgeTurns(cmd *cobra.Command, h *app.App, name string) error {
	plan, err := teardown.PlanPurgeTurns(cmd.Context(), h, name, o.Force)
	if err != nil {
		return err
	}
	if o.DryRun {
		o.printPurge(plan)
		return nil
	}
	if !o.yes {
		if err := o.confirm(cmd.Context(), "delete the turn tags, hidden refs and turn logs of "+name+"?", "paw purge "+name+" --tags --yes"); err != nil {
			return err
		}
	}
	purged, err := plan.Apply(cmd.Context(), h)
	if err != nil {
		return err
	}
	o.printPurged(purged)
	return nil
}

func (o *purgeOptions) printPurge(plan teardown.Purge) {
	fmt.Fprintf(forReading(o.stdout), "%s can be purged\n%s\n", plan.Name, plan) // branches and folders have names from other people
}

func (o *purgeOptions) printPurged(purged *teardown.Purged) {
	out := forReading(o.stdout)
	if purged.Gone == "" {
		fmt.Fprintf(out, "%s purged\n", purged.Name)
	} else {
		fmt.Fprintf(out, "%s purged; its repository %s is gone, so only its record was deleted\n", purged.Name, purged.Gone)
	}
	if dropped := purged.Dropped(); dropped != "" {
		fmt.Fprintln(out, dropped)
	}
	for _, dir := range purged.Stay {
		fmt.Fprintf(out, "%s stays: without the repository nobody can say what would be lost with it\n", dir)
	}
	for _, r := range purged.Aside {
		for _, line := range r.Kept() {
			if !strings.HasPrefix(line, " ") {
				line = r.Name + ": " + line
			}
			fmt.Fprintln(out, line)
		}
	}
	for _, ref := range purged.Rescues {
		fmt.Fprintf(out, "%s stays: it holds work that was rescued\n", ref)
	}
	if len(purged.Rescues) > 0 {
		fmt.Fprintf(out, "  look: git show --stat --first-parent %s\n  drop: paw purge %s --tags --force\n", purged.Rescues[0], purged.Name)
	}
	for _, branch := range purged.Deleted {
		fmt.Fprintf(out, "branch %s deleted\n", branch)
	}
	for _, branch := range slices.Sorted(maps.Keys(purged.Kept)) {
		fmt.Fprintf(out, "branch %s stays: %s\n", branch, purged.Kept[branch])
	}
}

// confirm asks a question that must be answered with yes. Without a terminal it returns an error
// whose hint is the command that does not ask.
func (a *invocation) confirm(ctx context.Context, question, command string) error {
	if !a.interactive() {
		return errs.New(errs.Usage, "%s not asked, there is no terminal", question).Hint("%s", command)
	}
	answer, err := a.ask(ctx, question+" [y/N]")
	if err != nil {
		return err
	}
	if answer = strings.ToLower(answer); answer != "y" && answer != "yes" {
		return errs.New(errs.Failed, "the answer was no, nothing was done")
	}
	return nil
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
