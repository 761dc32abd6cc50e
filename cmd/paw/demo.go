package main

import (
	_ "embed"
	"os"
	"syscall"

	"github.com/spf13/cobra"

	"paw/orchestrator/cli"
)

// demoScript shows paw at work in a scratch repository.
//
//go:embed demo.sh
var demoScript string

func newDemo(a *invocation) *cobra.Command {
	return &cobra.Command{
		Use:   "demo",
		Short: "Show paw at work in a scratch repository",
		Long: exits(`Start two agents of the built-in demo CLI in a scratch repository, on a tmux server of their own, and
end with lines to paste. Nothing of yours is touched, and the last line takes all of it away.`),
		Example: "  paw demo",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			own, err := os.Executable()
			if err != nil {
				return err
			}
			sh, err := cli.LookPath("sh", a.env)
			if err != nil {
				return err
			}
			return syscall.Exec(sh, []string{"sh", "-c", demoScript}, append(a.env, "PAW="+own))
		},
	}
}
