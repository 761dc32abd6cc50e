package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"paw/config/display"
	"paw/orchestrator"
	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/teardown"
	"paw/session"
)

func newStop(a *invocation) *cobra.Command {
	var only, all, dryRun bool
	cmd := &cobra.Command{
		Use:   "stop [NAME] [AGENT...]",
		Short: "End the agents; branches, worktrees and conversations stay",
		Long: exits(`End the agents of a session, or only the named ones with their children. Branches, worktrees, tags, conversations and the record stay; paw recover NAME
brings them back. Stopping twice is stopping once. A word that names both an agent of
the session you stand in and a session is refused; --session says which session is
meant. --all stops every session that is active, of all repositories.`, exitUsage, exitNotFound, exitLocked, exitMissing),
		Example: `  paw stop
  paw stop shop
  paw stop codex
  paw stop codex --only
  paw stop --all`,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: a.completeSessionsAndAgents,
		RunE: a.withHome(func(cmd *cobra.Command, h *app.App, args []string) error {
			if all {
				if len(args) > 0 || only || cmd.Flags().Changed("session") {
					return usagef(cmd, "--all is about every session")
				}
				return a.stopAll(cmd.Context(), h, dryRun)
			}
			s, agents, err := newQuestion(cmd, h, args).sessionAndAgents()
			if err != nil {
				return h.WithEnd(cmd.Context(), err)
			}
			if s == nil {
				if err := h.Place().Unreadable(); err != nil {
					return h.WithEnd(cmd.Context(), err)
				}
				if a.json {
					return a.showStopped(nil)
				}
				fmt.Fprintln(a.stdout, "no session here; nothing to stop")
				return nil
			}
			if only && len(agents) == 0 {
				return usagef(cmd, "--only is about named agents")
			}
			view, err := a.stop(cmd.Context(), h, s, teardown.StopOptions{Agents: agents, Only: only, DryRun: dryRun})
			if err != nil {
				return err
			}
			return a.showStopped([]stoppedSessionJSON{view})
		}),
	}
	a.addJSON(cmd)
	a.addSession(cmd)
	cmd.Flags().BoolVarP(&all, "all", "a", false, "every session that is active, of all repositories")
	cmd.Flags().BoolVarP(&dryRun, "dry-run", "n", false, "say what would end and do nothing")
	cmd.Flags().BoolVar(&only, "only", false, "leave those running that the named agents have started")
	return cmd
}

// showStopped prints what has stopped as JSON, where that is asked for.
func (a *invocation) showStopped(sessions []stoppedSessionJSON) error {
	if !a.json {
		return nil
	}
	return a.printJSON(stopJSON{Version: 1, Sessions: append([]stoppedSessionJSON{}, sessions...), Notes: a.noted()})
}

// stop ends agents of one session and says so, to programs by what it returns.
func (a *invocation) stop(ctx context.Context, h *app.App, s *session.Session, o teardown.StopOptions) (view stoppedSessionJSON, err error) {
	done := a.busy(h, "stopping "+s.Name)
	stopped, err := orchestrator.Stop(ctx, h, s, o)
	done()
	switch {
	case err != nil:
		return view, err
	case a.json:
		return stoppedView(h, stopped, o.DryRun), nil
	case o.DryRun:
		fmt.Fprintln(a.stdout, stopped)
		return view, nil
	}
	fmt.Fprintln(a.stdout, stopped.Done())
	if !stopped.Whole {
		return view, nil // paw's tmux session goes on, with what else is in it
	}
	for _, window := range stopped.Others {
		fmt.Fprintln(a.stdout, display.OneLine(window)+" is yours and stays")
	}
	return view, nil
}

// stopAll stops every active session. One that cannot be stopped does not keep the others running.
func (a *invocation) stopAll(ctx context.Context, h *app.App, dryRun bool) error {
	sessions, problems, err := h.Store.List()
	if err != nil {
		return err
	}
	for _, problem := range problems {
		a.printError(h.WithEnd(ctx, h.RecordError("", problem)))
	}
	failed, active := len(problems) > 0, 0
	var views []stoppedSessionJSON
	for _, s := range sessions {
		if s.Status != session.StatusActive {
			continue
		}
		active++
		view, err := a.stop(ctx, h, s, teardown.StopOptions{DryRun: dryRun})
		if err != nil {
			a.printError(err)
			failed = true
			continue
		}
		views = append(views, view)
	}
	if err := a.showStopped(views); err != nil {
		return err
	}
	switch {
	case failed:
		return exitStatus(errs.Failed)
	case active == 0 && !a.json:
		fmt.Fprintln(a.stdout, "no session is active; nothing to stop")
	}
	return nil
}
