package main

import (
	"github.com/spf13/cobra"

	"paw/orchestrator"
	"paw/orchestrator/landing"
)

type undoOptions struct {
	*invocation
	dryRun bool
}

func newUndo(a *invocation) *cobra.Command {
	o := &undoOptions{invocation: a}
	cmd := &cobra.Command{
		Use:   "undo [AGENT]",
		Short: "Take back the last landing, rewind or update",
		Long: exits(`Take back what paw did last to your branch or to a worktree, in the session or for one
agent: a landing (as paw land --undo), or a rewind or an update (as paw rewind AGENT --undo). Typed
again it takes back what was done before that; of a worktree only its last rewind or update can be taken back. It
refuses where something has come after that it would take off too, and says what is possible instead.`, exitUsage, exitRefused, exitNotFound, exitLocked, exitMissing),
		Example: `  paw undo --dry-run
  paw undo
  paw undo claude`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: a.completes(completion.agents),
		RunE:              o.run,
	}
	cmd.Flags().BoolVarP(&o.dryRun, "dry-run", "n", false, "say what would be undone and do nothing")
	a.addJSON(cmd)
	a.addSession(cmd)
	return cmd
}

func (o *undoOptions) run(cmd *cobra.Command, args []string) error {
	h, s, agents, err := o.agents(cmd, args)
	if err != nil {
		return err
	}
	agent := ""
	if len(agents) > 0 {
		agent = agents[0]
	}
	newest, err := orchestrator.NewestOperation(cmd.Context(), h, s, agent)
	if err != nil {
		return err
	}
	if newest.Landing > 0 {
		l, err := landing.Undo(cmd.Context(), h, s, newest.Landing, o.dryRun)
		if err != nil {
			return err
		}
		return o.showUndone(s, l, o.dryRun)
	}
	rewound, err := orchestrator.UndoRewind(cmd.Context(), h, s, newest.Agent, o.dryRun)
	if err != nil {
		return err
	}
	return o.show(rewoundView(rewound, o.noted()), rewound)
}
