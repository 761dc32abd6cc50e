package main

import (
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"paw/orchestrator"
	"paw/orchestrator/app"
	"paw/orchestrator/errs"
)

func newEnv(a *invocation) *cobra.Command {
	var export bool
	cmd := &cobra.Command{
		Use:   "env [NAME] [AGENT]",
		Short: "Print the variables that an agent has from its project",
		Long: exits(`Print the variables that the project gives an agent: those of worktree.env, filled in for this
agent, and those that its set-up has found out. With --export they are lines that a shell
reads, such as the one in which your editor or direnv runs.`, exitUsage, exitNotFound),
		Example: `  paw env claude
  eval "$(paw env claude --export)"
  paw env shop/claude --json`,
		Args:              cobra.MaximumNArgs(2),
		ValidArgsFunction: a.completeSessionsAndAgents,
		RunE: func(cmd *cobra.Command, args []string) error {
			h, s, agent, err := a.oneAgent(cmd, args)
			if err != nil {
				return err
			}
			w, err := app.AgentNamed(s, agent)
			if err != nil {
				return err
			}
			set := h.ProjectVariables(s, w)
			if a.json {
				return a.printJSON(envJSON{1, s.Name, agent, set, portsView(w.Ports)})
			}
			for _, name := range slices.Sorted(maps.Keys(set)) {
				if export {
					fmt.Fprintf(a.stdout, "export %s=%s\n", name, errs.Quote(set[name]))
				} else {
					fmt.Fprintf(forReading(a.stdout), "%s=%s\n", name, set[name])
				}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&export, "export", false, "as lines that a shell reads")
	a.addJSON(cmd)
	a.addSession(cmd)
	return cmd
}

type envJSON struct {
	Version   int               `json:"version"`
	Session   string            `json:"session"`
	Agent     string            `json:"agent"`
	Variables map[string]string `json:"variables"`
	Ports     *[2]int           `json:"ports"`
}

func newSetup(a *invocation) *cobra.Command {
	all := false
	cmd := &cobra.Command{
		Use:   "setup AGENT... | --all",
		Short: "Copy, link and set up again in agents' worktrees",
		Long: exits(`Do again what makes a new worktree usable: copy and link what is not there, and run the set-up
command. The agents have to be at rest. Variables and ports that an agent does not have yet,
because the configuration has changed since, are given to it; those that it has stay. What
is new reaches its CLI with its next launch.`, exitUsage, exitNotFound, exitLocked),
		Example: `  paw setup claude
  paw setup --all`,
		ValidArgsFunction: a.completeAgents,
		RunE: func(cmd *cobra.Command, args []string) error {
			if all == (len(args) > 0) {
				return errs.New(errs.Usage, "give agents, or --all").Hint("paw setup --all")
			}
			h, s, agents, err := a.agents(cmd, args)
			if err != nil {
				return err
			}
			if all {
				agents = agentNames(s)
			}
			failed := error(nil)
			err = orchestrator.SetUpAgain(cmd.Context(), h, s, agents, func(agent string, notes []string) {
				for _, note := range notes {
					h.Notef("%s: %s", agent, note)
					failed = exitStatus(errs.Failed)
				}
				if len(notes) == 0 {
					fmt.Fprintf(a.stdout, "%s is set up\n", agent)
				}
			})
			if err != nil {
				return err
			}
			return failed
		},
	}
	cmd.Flags().BoolVarP(&all, "all", "a", false, "all agents")
	a.addSession(cmd)
	return cmd
}
