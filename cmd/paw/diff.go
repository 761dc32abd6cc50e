package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"paw/orchestrator"
	"paw/orchestrator/fault"
)

func newDiff(a *app) *cobra.Command {
	var o orchestrator.DiffOptions
	var name string
	cmd := &cobra.Command{
		Use:   "diff [AGENT[@N]] [N | N..M | AGENT] [-- PATH...]",
		Short: "Show what an agent changed",
		Long: exits(`Show what an agent changed, as a patch that git apply takes: since its base with
uncommitted work included, or in turn N, or from the end of turn N to the end of
turn M (0 is the base). A single turn is compared with the state at its begin, so
what you edited between turns is not shown as the agent's. With a second AGENT it
is what the two differ in, as they are now: - is the first one's, + the second one's.`, exitUsage, exitRefused, exitNotFound, exitMissing),
		Example: `  paw diff claude
  paw diff claude@2 --stat
  paw diff claude 0..3 | git apply
  paw diff claude codex
  paw diff claude -- src`,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: a.completeAgentAndTurn,
		RunE: func(cmd *cobra.Command, args []string) error {
			if dash := cmd.ArgsLenAtDash(); dash >= 0 {
				args, o.Paths = args[:dash], args[dash:]
			}
			if len(args) > 2 {
				return usagef(cmd, "%s: is one too many; paths come behind --", args[2])
			}
			h, s, agent, number, err := a.agentAndTurn(cmd, name, args)
			if err != nil {
				return err
			}
			if isTurns(number) {
				o.Range = number
			} else if o.Than = strings.TrimPrefix(number, s.Name+"/"); s.Worktree(o.Than) == nil {
				return &usageError{message: number + ": neither the number of a turn nor an agent of " + s.Name,
					hint: fmt.Sprintf("paw diff %s/%s -- %s", s.Name, agent, fault.Quote(number))}
			}
			o.Color = a.coloured()
			return a.paged(cmd.Context(), h, func() error { return orchestrator.Diff(cmd.Context(), h, s, agent, o, a.stdout) })
		},
	}
	f := cmd.Flags()
	f.BoolVar(&o.Stat, "stat", false, "only the names and sizes of the changes")
	f.BoolVarP(&o.Force, "force", "f", false, "also of a turn without a snapshot: by its commit alone")
	a.addSession(cmd, &name)
	return cmd
}

// isTurns reports whether a word is the number of a turn or a range of them: agents are not called so.
func isTurns(word string) bool {
	return strings.Trim(word, "0123456789.") == ""
}
