package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"paw/orchestrator"
	"paw/orchestrator/landing"
)

func newSend(a *app) *cobra.Command {
	var noWait, conflict bool
	var into string
	cmd := &cobra.Command{
		Use:   "send AGENT[,AGENT...] [TEXT...]",
		Short: "Type a prompt into an agent's pane, and confirm that it arrived",
		Long: exits(`Type a prompt into an agent's pane and wait for the CLI's own word that it arrived.
Without TEXT the prompt is read from standard input. It waits for a CLI that is
still starting and never types into a permission dialog. Quote a TEXT that has words
beginning with a dash.`, exitUsage, exitRefused, "6    the prompt was typed, but nothing says that it arrived", exitNotFound, exitLocked, exitMissing),
		Example: `  paw send claude fix the failing test
  paw send claude "what does the flag --stat do?"
  paw send codex < prompt.md
  paw send claude --conflict`,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: a.completeAgent,
		RunE: func(cmd *cobra.Command, args []string) error {
			h, s, agents, err := a.agents(cmd, strings.Split(args[0], ","))
			if err != nil {
				return err
			}
			prompt := strings.Join(args[1:], " ")
			switch {
			case conflict && len(args)+len(agents) > 2:
				return usagef(cmd, "--conflict takes one agent and no text")
			case conflict:
				prompt, err = landing.ConflictPrompt(cmd.Context(), h, s, agents[0], into)
			case into != "":
				return usagef(cmd, "--into goes with --conflict")
			case len(args) == 1:
				prompt, err = a.readPrompt(cmd.Context())
			}
			if err != nil {
				return err
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
	f.BoolVar(&conflict, "conflict", false, "ask it to bring in the branch that its work conflicts with, and to resolve that")
	f.StringVar(&into, "into", "", "with --conflict: that branch (default: the one the session was started from)")
	a.addSession(cmd)
	return cmd
}
