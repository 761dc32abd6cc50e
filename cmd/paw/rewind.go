package main

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"paw/orchestrator"
	"paw/orchestrator/errs"
)

type rewindOptions struct {
	*invocation
	orchestrator.RewindOptions
	undo bool
}

func newRewind(a *invocation) *cobra.Command {
	o := &rewindOptions{invocation: a}
	cmd := &cobra.Command{
		Use:   "rewind AGENT N | AGENT@N | AGENT --undo",
		Short: "Put a worktree back to the end of a turn",
		Long: exits(`Put an agent's worktree back to the end of turn N (0 is its base, last its last one): every tracked and
untracked file as it was then, ignored files untouched. The present state is
saved first, so --undo brings it back. The branch goes along; the conversation does not.
It refuses while a turn runs, or may run: then stop the agent first.`, exitUsage, exitRefused, exitNotFound, exitMissing),
		Example: `  paw rewind claude 2
  paw rewind claude --undo`,
		Args:              cobra.RangeArgs(1, 2),
		ValidArgsFunction: completer{a}.completeAgentAndTurn,
		RunE:              o.run,
	}
	f := cmd.Flags()
	f.BoolVar(&o.undo, "undo", false, "take the last rewind back")
	f.BoolVarP(&o.Force, "force", "f", false, "also to a turn without a snapshot: to its commit alone")
	f.BoolVarP(&o.DryRun, "dry-run", "n", false, "say what would change and do nothing")
	a.addJSON(cmd)
	a.addSession(cmd)
	return cmd
}

func (o *rewindOptions) run(cmd *cobra.Command, args []string) error {
	h, s, agent, number, err := o.agentAndTurn(cmd, args)
	if err != nil {
		return err
	}
	var rewound *orchestrator.Rewound
	switch {
	case o.undo && number == "":
		rewound, err = orchestrator.UndoRewind(cmd.Context(), h, s, agent, o.DryRun)
	case !o.undo && number != "":
		n, convErr := strconv.Atoi(number)
		if convErr != nil || n < 0 {
			return usagef(cmd, "%s: not the number of a turn", number)
		}
		rewound, err = orchestrator.Rewind(cmd.Context(), h, s, agent, n, o.RewindOptions)
	default:
		return errs.New(errs.Usage, "%s: which turn? give its number, or --undo", agent).Hint("paw turns %s %s", s.Name, agent)
	}
	if err != nil {
		return err
	}
	if o.json {
		return o.printJSON(rewoundView(rewound, o.noted()))
	}
	fmt.Fprintln(o.stdout, rewound)
	return nil
}
