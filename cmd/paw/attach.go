package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"paw/orchestrator"
	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/live"
	"paw/orchestrator/observe"
	"paw/session"
)

type nextOptions struct {
	*invocation
	dryRun bool
}

func newNext(a *invocation) *cobra.Command {
	o := &nextOptions{invocation: a}
	cmd := &cobra.Command{
		Use:   "next",
		Short: "Go to the agent that needs you most",
		Long: exits(`Show the pane of the agent, of any session, that needs you most: first agents that wait for
an answer, the longest wait first, then failed ones, then ones with turns that you have
not seen. Inside tmux the client is switched; again it goes on to the next one.`, exitNotFound, exitMissing),
		Example: `  paw next
  paw next --dry-run`,
		Args: cobra.NoArgs,
		RunE: a.withHome(o.run),
	}
	cmd.Flags().BoolVarP(&o.dryRun, "dry-run", "n", false, "only say which one it is")
	return cmd
}

func (o *nextOptions) run(cmd *cobra.Command, h *app.App, _ []string) error {
	answers := askHosts(cmd.Context(), h, true)
	next, nobody, problems, err := orchestrator.Next(cmd.Context(), h, func() []observe.SessionStatus { return reached(answers(), h.Now()) })
	for _, problem := range problems {
		o.note(problem.Error())
	}
	if err != nil {
		if !isTerminal(o.stdout) && orchestrator.TellInTmux(cmd.Context(), h, "paw: "+err.Error()) { // a key of tmux has no place for an error
			return nil
		}
		return err
	}
	for _, one := range silent(answers()) {
		if nobody += "; " + one; next != nil {
			o.note(one)
		}
	}
	switch {
	case next == nil && isTerminal(o.stdout) || next == nil && !orchestrator.TellInTmux(cmd.Context(), h, "paw: "+nobody):
		fmt.Fprintln(o.stdout, nobody)
		return nil
	case next == nil:
		return nil
	case o.dryRun:
		state := next.Agent.InWords()
		if next.Group == orchestrator.ToReview {
			state = toReview(&next.Agent) + " to review"
		}
		fmt.Fprintf(o.stdout, "%s/%s: %s\n", next.Session.Name, next.Agent.Record.Name, state)
		return nil
	}
	if next.Session.Host != "" {
		return attachThere(cmd.Context(), h, next.Session.Name+"/"+next.Agent.Record.Name)
	}
	return attachTo(cmd.Context(), o.invocation, h, next.Session, next.Agent.Record.Name)
}

func newAttach(a *invocation) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "attach [NAME] [AGENT]",
		Short: "Show a session in this terminal",
		Long: exits(`Attach this terminal to a session, with the pane of AGENT selected, or of the
agent that has waited longest for your answer. Inside the same tmux server the client is
switched instead.`, exitUsage, exitNotFound, exitMissing),
		Example: `  paw attach
  paw attach codex
  paw attach shop codex`,
		Args:              cobra.MaximumNArgs(2),
		ValidArgsFunction: a.completes(completion.sessionsAndAgents),
		RunE: func(cmd *cobra.Command, args []string) error {
			h, s, agents, err := a.sessionAndAgents(cmd, args)
			if err != nil {
				return err
			}
			agent := ""
			switch len(agents) {
			case 0:
			case 1:
				agent = agents[0]
			default:
				return usagef(cmd, "%s: one agent at a time", strings.Join(agents, " "))
			}
			if agent == "" {
				agent = orchestrator.WaitingIn(cmd.Context(), h, s)
			}
			return attachTo(cmd.Context(), a, h, s, agent)
		},
	}
	a.addSession(cmd)
	return cmd
}

// attachTo shows a session on this terminal, and says what goes on there after the user has left it.
func attachTo(ctx context.Context, a *invocation, h *app.App, s *session.Session, agent string) error {
	err := orchestrator.Attach(ctx, h, s, agent)
	if err != nil || h.Getenv("TMUX") != "" { // in tmux the client shows the session from now on
		return err
	}
	f, err := observe.Observe(ctx, h, s)
	if err != nil {
		return nil //nolint:nilerr // the session was shown
	}
	there := slices.DeleteFunc(f.Agents, func(one observe.Agent) bool { return f.Running(one) != live.InPane })
	if len(there) > 0 {
		verb := map[bool]string{true: " goes", false: " go"}[len(there) == 1]
		a.note(fmt.Sprintf("%s%s on; paw opens the desk, %s comes back", errs.Counted(len(there), "agent"), verb, errs.Line("paw attach %s", s.Name)))
	}
	return nil
}
