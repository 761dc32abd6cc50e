package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"paw/orchestrator"
)

func newSend(a *app) *cobra.Command {
	var name string
	var noWait bool
	cmd := &cobra.Command{
		Use:   "send AGENT[,AGENT...] [TEXT...]",
		Short: "Type a prompt into an agent's pane, and confirm that it arrived",
		Long: exits(`Type a prompt into an agent's pane and wait for the CLI's own word that it arrived.
Without TEXT the prompt is read from standard input. It waits for a CLI that is
still starting and never types into a permission dialog. Quote a TEXT that has words
beginning with a dash.`, exitUsage, exitRefused, "6    the prompt was typed, but nothing says that it arrived", exitNotFound, exitLocked, exitMissing),
		Example: `  paw send claude fix the failing test
  paw send claude "what does the flag --stat do?"
  paw send codex < prompt.md`,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: a.completeAgent,
		RunE: func(cmd *cobra.Command, args []string) error {
			h, s, agents, err := a.agents(cmd, name, strings.Split(args[0], ","), false)
			if err != nil {
				return err
			}
			prompt := strings.Join(args[1:], " ")
			if len(args) == 1 {
				if prompt, err = a.readPrompt(cmd.Context()); err != nil {
					return err
				}
			}
			for _, agent := range agents {
				sent, err := orchestrator.Send(cmd.Context(), h, s, agent, prompt, !noWait)
				if err != nil {
					return err
				}
				fmt.Fprintln(a.stdout, sent)
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.BoolVar(&noWait, "no-wait", false, "do not wait for the confirmation")
	a.addSession(cmd, &name)
	return cmd
}
