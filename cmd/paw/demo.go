package main

import (
	_ "embed"
	"os"
	"os/exec"
	"strings"

	"github.com/spf13/cobra"
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
		RunE: func(cmd *cobra.Command, _ []string) error {
			own, err := os.Executable()
			if err != nil {
				return err
			}
			sh := exec.CommandContext(cmd.Context(), "sh", "-s")
			sh.Stdin, sh.Stdout, sh.Stderr = strings.NewReader(demoScript), forChild(a.stdout), a.stderr
			sh.Env = append(a.env, "PAW="+own)
			return sh.Run()
		},
	}
}
