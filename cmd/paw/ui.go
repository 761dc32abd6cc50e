package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"paw/orchestrator"
	"paw/orchestrator/app"
	"paw/orchestrator/errs"
)

func newUI(a *invocation) *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:   "ui",
		Short: "The desk: who needs you, what is new; answer, review, land",
		Long: exits(`Show the desk: all agents, those that need you first, with the pane, the turns, the diff and
the log of the selected one. Each key does what a command of paw does; ? lists them. It only
shows: leaving it, or killing it, changes nothing. paw without a command opens it, too,
on a terminal where a session exists.`, exitUsage),
		Example: `  paw
  paw ui --all`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !a.canShowDesk() {
				return errs.New(errs.Failed, "ui: not on a terminal that can show it").Hint("paw status --all")
			}
			h, err := a.paw()
			if err != nil {
				return err
			}
			return openDesk(cmd.Context(), a, h, all)
		},
	}
	cmd.Flags().BoolVarP(&all, "all", "a", false, "every session, of all repositories")
	return cmd
}

// newTmux prints key bindings for the user's tmux.conf.
func newTmux(a *invocation) *cobra.Command {
	return &cobra.Command{
		Use:   "tmux",
		Short: "Print key bindings for your tmux.conf; installs nothing",
		Long: exits(`Print lines for your tmux.conf: a key for the desk in a popup, one that goes to the agent that
needs you most. paw itself binds no key and changes no option of yours.`, exitUsage),
		Example: `  paw tmux
  paw tmux >> ~/.tmux.conf`,
		Args: cobra.NoArgs,
		RunE: a.withHome(func(_ *cobra.Command, h *app.App, _ []string) error {
			_, err := fmt.Fprint(a.stdout, orchestrator.TmuxBindings(h, os.Args[0]))
			return err
		}),
	}
}
