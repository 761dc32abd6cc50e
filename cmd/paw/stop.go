package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"paw/orchestrator"
)

func newStop(a *app) *cobra.Command {
	var name string
	var only bool
	cmd := &cobra.Command{
		Use:   "stop [NAME] [AGENT...]",
		Short: "End the agents; branches, worktrees and conversations stay",
		Long: exits(`End the agents of a session, or only the named ones with those that they have
started. Branches, worktrees, tags, conversations and the record stay; paw recover NAME
brings them back. Stopping twice is stopping once. A word that names both an agent of
the session you stand in and a session is refused; --session says which session is
meant.`, exitUsage, exitNotFound, exitLocked, exitMissing),
		Example: `  paw stop
  paw stop shop
  paw stop codex
  paw stop codex --only`,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: a.completeSessionsAndAgents,
		RunE: func(cmd *cobra.Command, args []string) error {
			h, err := a.paw()
			if err != nil {
				return err
			}
			s, agents, err := question{Home: h, cmd: cmd, words: args}.sessionAndAgents(name)
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
			stopped, err := orchestrator.Stop(cmd.Context(), h, s, orchestrator.StopOptions{Agents: agents, Only: only})
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
	a.addSession(cmd, &name)
	cmd.Flags().BoolVar(&only, "only", false, "leave those running that the named agents have started")
	return cmd
}
