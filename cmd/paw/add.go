package main

import (
	"strings"

	"github.com/spf13/cobra"

	"paw/orchestrator"
	"paw/orchestrator/app"
	"paw/orchestrator/startplan"
	"paw/session"
)

func newAdd(a *invocation) *cobra.Command {
	var o startOptions
	var from string
	var force bool
	cmd := &cobra.Command{
		Use:   "add --cli LIST [--from AGENT[@N]]",
		Short: "Add agents to a running session",
		Long: exits(`Add agents to a running session, each with a branch, a worktree and a pane. The
branches start from HEAD of the worktree of yours that you stand in, elsewhere from
HEAD of the main checkout.

With --from they start where turn N of another agent ended, by default its last
finished one: on the commit of its tag, with the files that were not committed then.
The conversation comes along: copied where the CLI is the same and can copy one, else
told in a brief as the first prompt, with --prompt behind it.`, exitUsage, exitRefused, exitNotFound, exitLocked, exitMissing, exitBroken),
		Example: `  paw add --cli gemini
  paw add --cli review=claude --branches feat/review --prompt "review"
  paw add --cli claude --from claude@3
  paw add --cli codex --from claude --prompt "review what it did"`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			h, s, from, err := a.originSession(cmd, from)
			if err != nil {
				return err
			}
			if err := o.readPrompt(a.stdin); err != nil {
				return err
			}
			if len(o.CLIs) == 0 {
				return usagef(cmd, "which CLIs? pass --cli")
			}
			if from != "" && o.Base != "" {
				return usagef(cmd, "--from and --base exclude each other")
			}
			done := a.busy(h, "starting")
			started, err := orchestrator.Add(cmd.Context(), h, s, startplan.Options{
				CLIs: o.CLIs, Branches: o.Branches, Base: o.Base, From: from, Prompt: o.Prompt, Force: force, DryRun: o.DryRun,
			})
			done()
			if err != nil {
				return err
			}
			return a.showStarted(cmd, h, started, true)
		},
	}
	f := cmd.Flags()
	f.StringSliceVar(&o.CLIs, "cli", nil, "CLIs to add, items [AGENT=]CLI")
	f.StringSliceVar(&o.Branches, "branches", nil, "branches to work on, one agent each; missing ones are made")
	f.StringVar(&o.Base, "base", "", "commit that new branches start from (default: HEAD)")
	f.StringVar(&from, "from", "", "AGENT[@N]: start where turn N of that agent ended")
	f.BoolVarP(&force, "force", "f", false, "with --from: also from a turn without a snapshot, from its commit alone")
	f.StringVarP(&o.Prompt, "prompt", "p", "", "first prompt of each agent")
	f.StringVar(&o.promptFile, "prompt-file", "", "file with the first prompt, - for standard input")
	f.BoolVarP(&o.detach, "detach", "d", false, "do not attach (what it does anyway)")
	f.BoolVarP(&o.DryRun, "dry-run", "n", false, "say what would be done and do nothing")
	a.addJSON(cmd)
	completeFlag(cmd, "cli", a.completeCLIs)
	completeFlag(cmd, "branches", a.completeBranches)
	completeFlag(cmd, "base", a.completeBranches)
	completeFlag(cmd, "from", a.completeAgents)
	a.addSession(cmd)
	return cmd
}

// originSession is the session that agents are added to, and the AGENT[@N] that they start from.
func (a *invocation) originSession(cmd *cobra.Command, from string) (*app.App, *session.Session, string, error) {
	if from == "" {
		h, s, err := a.session(cmd)
		return h, s, "", err
	}
	word, number, numbered := strings.Cut(from, "@")
	h, s, agent, err := a.agent(cmd, word)
	if numbered {
		agent += "@" + number
	}
	return h, s, agent, err
}
