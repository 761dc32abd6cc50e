package main

import (
	"context"
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
go too, except for rescued work that no branch has; that goes only with --tags --force.`, exitUsage, exitRefused, exitNotFound, exitLocked, exitMissing),
		Example: `  paw purge
  paw purge shop --yes
  paw purge shop --tags`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: a.completes(completion.sessions),
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
	s, _, err := question{App: h, asked: o.invocation, cmd: cmd, name: name, strict: true}.agents(nil)
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
		what, force := "", ""
		if len(purged.Aside)+len(purged.Rescues) > 0 {
			what, force = " and what was rescued", " --force"
		}
		fmt.Fprintf(o.stdout, "its turn tags%s stay, and keep the name taken: %s deletes them\n", what, errs.Line("paw purge %s --tags%s", purged.Name, force))
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
		fmt.Fprintf(out, "  look: %s\n  drop: %s\n", errs.Line("git show --stat --first-parent %s", purged.Rescues[0]), errs.Line("paw purge %s --tags --force", purged.Name))
	}
	for _, branch := range purged.Deleted {
		fmt.Fprintf(out, "branch %s deleted\n", branch)
	}
	for _, branch := range slices.Sorted(maps.Keys(purged.Kept)) {
		fmt.Fprintf(out, "branch %s stays: %s\n", branch, purged.Kept[branch])
	}
	for _, window := range purged.Others {
		fmt.Fprintln(out, window+" is yours and stays")
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
