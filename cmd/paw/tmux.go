package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"paw/orchestrator"
	"paw/orchestrator/app"
)

// newTmux prints what a user may put into his tmux.conf.
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
