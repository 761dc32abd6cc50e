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

type envOptions struct {
	*invocation
	export bool
}

func newEnv(a *invocation) *cobra.Command {
	o := &envOptions{invocation: a}
	cmd := &cobra.Command{
		Use:   "env [AGENT]",
		Short: "Print the variables that an agent has from its project",
		Long: exits(`Print the variables that the project gives an agent: those of worktree.env, filled in for this
agent, and those that its set-up has found out. With --export they are lines that a shell
reads, such as the one in which your editor or direnv runs.`, exitUsage, exitNotFound),
		Example: `  paw env claude
  eval "$(paw env claude --export)"
  paw env shop/claude --json`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: a.completes(completion.oneAgent),
		RunE:              o.run,
	}
	cmd.Flags().BoolVar(&o.export, "export", false, "as lines that a shell reads")
	a.addJSON(cmd)
	a.addSession(cmd)
	return cmd
}

func (o *envOptions) run(cmd *cobra.Command, args []string) error {
	h, s, agent, err := o.oneAgent(cmd, args)
	if err != nil {
		return err
	}
	w, err := app.AgentNamed(s, agent)
	if err != nil {
		return err
	}
	set := h.Agent(s, w).ProjectVariables()
	if o.json {
		return o.printJSON(object{{"version", 1}, {"session", s.Name}, {"agent", agent}, {"variables", set}, {"ports", portsView(w.Ports)}})
	}
	if len(set) == 0 {
		o.note(fmt.Sprintf("%s/%s has no variables of the project: worktree.env in .paw.toml gives some", s.Name, agent))
	}
	for _, name := range slices.Sorted(maps.Keys(set)) {
		if o.export {
			fmt.Fprintf(o.stdout, "export %s=%s\n", name, errs.Quote(set[name]))
		} else {
			fmt.Fprintf(forReading(o.stdout), "%s=%s\n", name, set[name])
		}
	}
	return nil
}

type setupOptions struct {
	*invocation
	all bool
}

func newSetup(a *invocation) *cobra.Command {
	o := &setupOptions{invocation: a}
	cmd := &cobra.Command{
		Use:   "setup AGENT... | --all",
		Short: "Copy, link and set up again in agents' worktrees",
		Long: exits(`Do again what makes a new worktree usable: copy and link what is not there, and run the set-up
command. The agents have to be at rest. Variables and ports that an agent does not have yet,
because the configuration has changed since, are given to it; those that it has stay. What
is new reaches its CLI with its next launch.`, exitUsage, exitNotFound, exitLocked),
		Example: `  paw setup claude
  paw setup --all`,
		ValidArgsFunction: a.completes(completion.agents),
		RunE:              o.run,
	}
	cmd.Flags().BoolVarP(&o.all, "all", "a", false, "all agents")
	a.addSession(cmd)
	return cmd
}

func (o *setupOptions) run(cmd *cobra.Command, args []string) error {
	h, s, agents, err := o.agentsOrAll(cmd, args, o.all)
	if err != nil {
		return err
	}
	failed := error(nil)
	err = orchestrator.SetUpAgain(cmd.Context(), h, s, agents, func(agent string, notes []string) {
		for _, note := range notes {
			h.Notef("%s: %s", agent, note)
			failed = exitStatus(errs.Failed)
		}
		if len(notes) == 0 {
			fmt.Fprintf(o.stdout, "%s is set up\n", agent)
		}
	})
	if err != nil {
		return err
	}
	return failed
}
