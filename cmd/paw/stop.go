package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"paw/orchestrator"
	"paw/session"
)

func newStop(a *app) *cobra.Command {
	var only bool
	cmd := &cobra.Command{
		Use:   "stop [NAME] [AGENT...]",
		Short: "End the agents; branches, worktrees and conversations stay",
		Long: exits(`End the agents of a session, or only the named ones with those that they have
started. Branches, worktrees, tags, conversations and the record stay; paw recover NAME
brings them back. Stopping twice is stopping once.`, exitUsage, exitNotFound, exitLocked, exitMissing),
		Example: `  paw stop
  paw stop shop
  paw stop codex
  paw stop codex --only`,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: a.completeSessionsAndAgents,
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := a.paw()
			if err != nil {
				return err
			}
			s, agents, err := sessionAndAgents(p, args)
			if err != nil {
				return err
			}
			if s == nil {
				fmt.Fprintln(a.stdout, "no session here; nothing to stop")
				return nil
			}
			if only && len(agents) == 0 {
				return usagef(cmd, "--only is about named agents")
			}
			stopped, err := p.Stop(cmd.Context(), s, orchestrator.StopOptions{Agents: agents, Only: only})
			if err != nil {
				return err
			}
			fmt.Fprintln(a.stdout, stopped)
			for _, window := range stopped.Others {
				fmt.Fprintf(a.stdout, "window %s of tmux session %s is yours and stays\n", window, s.Tmux.Session)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&only, "only", false, "not the agents that the named ones have started: they go on")
	return cmd
}

// sessionAndAgents reads [NAME] [AGENT...]: the first word is a session when
// there is one of that name, else an agent of the session of this place. It
// returns nil when nothing is named and nothing is here.
func sessionAndAgents(p *orchestrator.Paw, args []string) (*session.Session, []string, error) {
	if len(args) > 0 {
		if s, err := p.Store.Load(args[0]); err == nil && s != nil {
			return s, args[1:], nil
		}
	}
	s, err := p.Here()
	if err != nil {
		return nil, nil, err
	}
	if s == nil && len(args) > 0 {
		s, err = p.Find(args[0]) // says that there is none of that name
		return s, nil, err
	}
	return s, args, nil
}

// sessionAndAgent reads [NAME] [AGENT] of a session that must exist; the agent
// is "" when none is given.
func (a *app) sessionAndAgent(cmd *cobra.Command, args []string) (*orchestrator.Paw, *session.Session, string, error) {
	p, err := a.paw()
	if err != nil {
		return nil, nil, "", err
	}
	s, agents, err := sessionAndAgents(p, args)
	switch {
	case err != nil:
		return nil, nil, "", err
	case s == nil:
		_, err := p.Find("")
		return nil, nil, "", err
	case len(agents) > 1:
		return nil, nil, "", usagef(cmd, "%s: no such session", args[0])
	case len(agents) == 1:
		return p, s, agents[0], nil
	}
	return p, s, "", nil
}
