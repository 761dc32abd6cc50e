package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"paw/config/display"
	"paw/orchestrator"
	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/teardown"
	"paw/session"
)

type stopOptions struct {
	*invocation
	only, all, dryRun bool
}

func newStop(a *invocation) *cobra.Command {
	o := &stopOptions{invocation: a}
	cmd := &cobra.Command{
		Use:   "stop [NAME] [AGENT...]",
		Short: "End the agents; branches, worktrees and conversations stay",
		Long: exits(`End the agents of a session, or only the named ones with their children. Branches, worktrees, tags, conversations and the record stay; paw recover NAME
brings them back. A turn that runs is recorded as stopped. Stopping twice is stopping once. A word that names both an agent of
the session you stand in and a session is refused; --session says which session is
meant. --all stops every session that is active, of all repositories.`, exitUsage, exitNotFound, exitLocked, exitMissing),
		Example: `  paw stop
  paw stop shop
  paw stop codex
  paw stop codex --only
  paw stop --all`,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: a.completes(completion.sessionsAndAgents),
		RunE:              a.withHome(o.run),
	}
	a.addJSON(cmd)
	a.addSession(cmd)
	cmd.Flags().BoolVarP(&o.all, "all", "a", false, "every session that is active, of all repositories")
	cmd.Flags().BoolVarP(&o.dryRun, "dry-run", "n", false, "say what would end and do nothing")
	cmd.Flags().BoolVar(&o.only, "only", false, "leave those running that the named agents have started")
	return cmd
}

func (o *stopOptions) run(cmd *cobra.Command, h *app.App, args []string) error {
	if o.all {
		if len(args) > 0 || o.only || cmd.Flags().Changed("session") {
			return usagef(cmd, "--all is about every session")
		}
		return o.stopAll(cmd.Context(), h)
	}
	s, agents, err := o.question(cmd, h, args).sessionAndAgents()
	if err != nil {
		return h.WithEnd(cmd.Context(), err)
	}
	if s == nil {
		if err := h.Place().Unreadable(); err != nil {
			return h.WithEnd(cmd.Context(), err)
		}
		if o.json {
			return o.showStopped(nil)
		}
		fmt.Fprintln(o.stdout, "no session here; nothing to stop")
		return nil
	}
	if o.only && len(agents) == 0 {
		return usagef(cmd, "--only is about named agents")
	}
	view, err := o.end(cmd.Context(), h, s, teardown.StopOptions{Agents: agents, Only: o.only, DryRun: o.dryRun})
	if err != nil {
		return err
	}
	return o.showStopped([]object{view})
}

// showStopped prints the stopped sessions, with --json only.
func (o *stopOptions) showStopped(sessions []object) error {
	if !o.json {
		return nil
	}
	return o.printJSON(object{{"version", 1}, {"sessions", sessions}, {"notes", o.noted()}})
}

// end ends agents of one session. It prints the result, or with --json returns it.
func (o *stopOptions) end(ctx context.Context, h *app.App, s *session.Session, how teardown.StopOptions) (view object, err error) {
	done := o.busy(h, "stopping "+s.Name)
	stopped, err := orchestrator.Stop(ctx, h, s, how)
	done()
	switch {
	case err != nil:
		return view, err
	case o.json:
		return stoppedView(h, stopped, how.DryRun), nil
	case how.DryRun:
		fmt.Fprintln(o.stdout, stopped)
		return view, nil
	}
	fmt.Fprintln(o.stdout, stopped.Done())
	for _, window := range stopped.Others {
		fmt.Fprintln(o.stdout, display.OneLine(window)+" is yours and stays")
	}
	return view, nil
}

// stopAll stops every active session. A session that cannot be stopped does not keep the others
// running.
func (o *stopOptions) stopAll(ctx context.Context, h *app.App) error {
	sessions, problems, err := h.Store.List()
	if err != nil {
		return err
	}
	for _, problem := range problems {
		o.printError(h.WithEnd(ctx, h.RecordError("", problem)))
	}
	failed, active := len(problems) > 0, 0
	var views []object
	for _, s := range sessions {
		if s.Status != session.StatusActive {
			continue
		}
		active++
		view, err := o.end(ctx, h, s, teardown.StopOptions{DryRun: o.dryRun})
		if err != nil {
			o.printError(err)
			failed = true
			continue
		}
		views = append(views, view)
	}
	if err := o.showStopped(views); err != nil {
		return err
	}
	switch {
	case failed:
		return exitStatus(errs.Failed)
	case active == 0 && !o.json:
		fmt.Fprintln(o.stdout, "no session is active; nothing to stop")
	}
	return nil
}

// stoppedView returns a stopped session. The turn of an agent is the one that the stop interrupted.
func stoppedView(h *app.App, p *teardown.Stop, dryRun bool) object {
	plan := absent
	if dryRun {
		plan = strings.Split(p.String(), "\n")
	}
	agents := objects(p.Agents, func(e teardown.Ended) object {
		var queued []string
		for _, one := range h.Texts().QueuedPrompts(p.Session.Name, e.Agent) {
			queued = append(queued, one.Text)
		}
		return object{{"name", e.Agent}, {"turn", orNull(e.Turn)}, {"queued", queued}}
	})
	return object{
		{"name", p.Session.Name}, {"whole", p.Whole}, {"already", p.Already}, {"agents", agents}, {"go_on", p.GoOn}, {"others", p.Others}, {"plan", plan},
	}
}
