package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"paw/orchestrator"
	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/selftest"
)

func newDoctor(a *invocation) *cobra.Command {
	var cli string
	var fix bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Look for what is broken and say how to mend it",
		Long: exits(`Look at git, tmux, the configuration, the records, the worktree registrations and
the agents, and say what is broken and how to mend it. It changes nothing; with --fix
it keeps turn tags out of git log, in the repository you stand in. The exit status is 1
when something needs you.

With --cli it tries an installed CLI, which takes about a minute: in a repository, a HOME
and a tmux server of its own, which are deleted afterwards, with a scripted model that
paw runs on loopback meanwhile. Your files, credentials and sessions are not touched,
and nothing is sent to a vendor.`, exitUsage, exitMissing, exitBroken),
		Example: `  paw doctor
  paw doctor --cli claude
  paw doctor --json | jq -r '.findings[] | select(.ok | not).text'`,
		Args: cobra.NoArgs,
		RunE: a.withHome(func(cmd *cobra.Command, h *app.App, _ []string) error {
			if cli != "" {
				return a.try(cmd, h, cli)
			}
			findings := append([]orchestrator.Finding{{OK: true, Text: "paw " + ownVersion(), Hints: []string{}}}, orchestrator.Doctor(cmd.Context(), h, fix)...)
			for _, mistake := range a.forgiven {
				findings = append(findings, orchestrator.Finding{Text: mistake, Hints: []string{}})
			}
			bad := false
			for _, f := range findings {
				bad = bad || !f.OK
			}
			if a.json {
				if err := a.printJSON(map[string]any{"version": 1, "findings": findings}); err != nil {
					return err
				}
			} else {
				a.printFindings(findings)
			}
			if bad {
				return exitStatus(errs.Failed)
			}
			return nil
		}),
	}
	cmd.Flags().BoolVar(&fix, "fix", false, "keep turn tags out of git log in this repository (log.excludeDecoration)")
	cmd.Flags().StringVar(&cli, "cli", "", "try the installed CLI `NAME`")
	_ = cmd.RegisterFlagCompletionFunc("cli", cobra.FixedCompletions(selftest.CLIs(), cobra.ShellCompDirectiveNoFileComp)) // only fails for a flag that is not there
	a.addJSON(cmd)
	return cmd
}

func (a *invocation) printFindings(findings []orchestrator.Finding) {
	for _, f := range findings {
		mark := a.colour("ok", "active")
		switch {
		case !f.OK:
			mark = a.colour("!!", "error")
		case len(f.Hints) > 0:
			mark = a.colour("??", "waiting_input")
		}
		fmt.Fprintf(a.stdout, "%s  %s\n", mark, f.Text)
		for _, hint := range f.Hints {
			fmt.Fprintf(a.stdout, "      %s\n", hint)
		}
	}
}
