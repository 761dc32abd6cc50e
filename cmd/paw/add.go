package main

import (
	"slices"

	"github.com/spf13/cobra"

	"paw/orchestrator"
	"paw/orchestrator/errs"
	"paw/orchestrator/startplan"
)

type addOptions struct {
	startOptions
	from         string
	conversation string
	here         string
	force        bool
}

func newAdd(a *invocation) *cobra.Command {
	o := &addOptions{startOptions: startOptions{invocation: a}}
	cmd := &cobra.Command{
		Use:   "add --cli LIST [--from AGENT[@N]]",
		Short: "Add agents to a running session",
		Long: exits(`Add agents to a running session, each with a branch, a worktree and a pane. The
branches start from HEAD of the worktree of yours that you stand in, elsewhere from
HEAD of the main checkout.

With --from they start where turn N of another agent ended, by default its last
finished one: on the commit of its tag, with the files that were not committed then.
The conversation comes along: copied where the CLI is the same and can copy one, else
told in a brief as the first prompt, with --prompt behind it.

With --conversation they begin with a copy of a conversation that you had by hand in
your checkout, and with --with-changes what you have not committed there comes along.`, exitUsage, exitRefused, exitNotFound, exitLocked, exitMissing, exitBroken),
		Example: `  paw add --cli gemini
  paw add --cli review=claude --branches feat/review --prompt "review"
  paw add --cli claude --from claude@3
  paw add --cli codex --from claude --prompt "review what it did"
  paw add --cli claude --conversation last --with-changes
  paw add --cli claude --here ../shop-parser
  paw add --cli claude --pr 7 --prompt "go through the comments"`,
		Args: o.noWords,
		RunE: o.run,
	}
	o.addFlags(cmd, "CLIs to add", "do not attach (what it does anyway)")
	cmd.Flags().StringVar(&o.from, "from", "", "AGENT[@N]: start where turn N of that agent ended")
	cmd.Flags().BoolVarP(&o.force, "force", "f", false, "with --from: also from a turn without a snapshot, from its commit alone")
	cmd.Flags().StringVar(&o.conversation, "conversation", "", "begin with a copy of a conversation of yours: its id, or last for the last one in your checkout")
	completeFlag(cmd, "conversation", cobra.FixedCompletions([]string{startplan.LastConversation}, cobra.ShellCompDirectiveNoFileComp))
	cmd.Flags().StringVar(&o.here, "here", "", "a worktree of yours that the agent works in, on its branch; paw never removes it")
	completeFlag(cmd, "from", a.completes(completion.agents))
	a.addSession(cmd)
	return cmd
}

func (o *addOptions) run(cmd *cobra.Command, _ []string) error {
	if err := refuseEmpty(cmd, "conversation", "here", "from", "pr"); err != nil {
		return err
	}
	h, s, from, err := o.originSession(cmd, o.from)
	if err != nil {
		return err
	}
	if err := o.readPrompt(o.stdin); err != nil {
		return err
	}
	if len(o.CLIs) == 0 {
		e := errs.New(errs.Usage, "which CLIs? pass --cli")
		if len(s.Agents) > 0 {
			e = e.Hint("%s", pasted(append(o.repeated(cmd, nil), "--cli", s.Agents[0].CLI)))
		}
		return e
	}
	if countTrue(from != "" || o.far != nil, o.Base != "", o.pull != "", o.WithChanges) > 1 {
		return usagef(cmd, "--from, --base, --pr and --with-changes exclude each other")
	}
	if o.here != "" && (from != "" || o.far != nil || o.Base != "" || o.pull != "" || o.WithChanges || len(o.Branches) > 0) {
		return usagef(cmd, "--here takes a worktree with its branch and files: no --from, --base, --branches, --pr or --with-changes")
	}
	if o.conversation != "" && (from != "" || o.far != nil) {
		return usagef(cmd, "--from and --conversation exclude each other")
	}
	if err := o.firstPrompt(cmd.Context(), h, s.RepoPath); err != nil {
		return err
	}
	origin, err := o.fetchOrigin(cmd, h, s)
	if err != nil {
		return err
	}
	done := o.busy(h, "starting")
	started, err := orchestrator.Add(cmd.Context(), h, s, startplan.Options{
		CLIs: o.CLIs, Branches: o.Branches, Base: o.Base, From: from, Conversation: o.conversation, Here: o.here, Origin: origin, Prompt: o.Prompt, Force: o.force, DryRun: o.DryRun,
		WithChanges: o.WithChanges, WaitSetUp: o.WaitSetUp,
	})
	done()
	if err != nil {
		return err
	}
	return o.showStarted(cmd, h, started, true)
}

func countTrue(all ...bool) int {
	return len(slices.DeleteFunc(all, func(is bool) bool { return !is }))
}
