package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"paw/orchestrator"
	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/launch"
)

type spawnOptions struct {
	startOptions
	cli string
}

func newSpawn(a *invocation) *cobra.Command {
	o := &spawnOptions{startOptions: startOptions{invocation: a}}
	cmd := &cobra.Command{
		Use:   "spawn [--cli [AGENT=]CLI] --prompt TEXT",
		Short: "Start, as an agent, another agent that works beside",
		Long: exits(`Start another agent. This is for an agent, in its own pane; the new one is its child.
It has a fresh conversation, a pane, and a worktree on a branch from the state that the
caller is in now: its last commit, with the files that are not committed. The caller's
own worktree stays as it is.

The configuration says how many children an agent may have at work (agents.max_children)
and how deep families go (agents.max_depth).`, exitUsage, exitRefused, exitNotFound, exitLocked, exitMissing, exitBroken),
		Example: `  paw spawn --prompt "write tests for the parser, then run paw done"
  paw spawn --cli codex --prompt-file task.md
  paw spawn --cli docs=claude --prompt "describe the flags in README.md" --json`,
		Args: cobra.NoArgs,
		RunE: a.withHome(o.run),
	}
	f := cmd.Flags()
	f.StringVar(&o.cli, "cli", "", "CLI of the new agent, [AGENT=]CLI (default: that of the caller)")
	f.StringVarP(&o.Prompt, "prompt", "p", "", "what the new agent is to do")
	f.StringVar(&o.promptFile, "prompt-file", "", "file with the prompt, - for standard input")
	a.addJSON(cmd)
	completeFlag(cmd, "cli", a.completes(completion.clis))
	completeFlag(cmd, "prompt", cobra.NoFileCompletions)
	return cmd
}

func (o *spawnOptions) run(cmd *cobra.Command, h *app.App, _ []string) error {
	if err := o.readPrompt(o.stdin); err != nil {
		return err
	}
	if o.Prompt == "" {
		return usagef(cmd, "no prompt: pass --prompt or --prompt-file")
	}
	spawned, err := orchestrator.Spawn(cmd.Context(), h, orchestrator.SpawnOptions{CLI: o.cli, Prompt: o.Prompt})
	if err != nil {
		return err
	}
	return o.showSpawned(spawned)
}

// showSpawned prints where the child is, and how the parent waits for it.
func (o *spawnOptions) showSpawned(s *orchestrator.Spawned) error {
	w, notes := s.Child, append(append([]string{}, s.Result.Notes...), s.Notes...)
	snapshot := ""
	if w.From != nil {
		snapshot = w.From.Snapshot
	}
	failed := s.Result.Kind == launch.ResultRefused
	if o.json {
		err := o.printJSON(object{
			{"version", 1}, {"session", s.Session.Name}, {"name", w.Name}, {"cli", w.CLI}, {"parent", w.Parent}, {"branch", w.Branch},
			{"worktree_path", w.WorktreePath}, {"base_commit", w.BaseCommit}, {"snapshot", orNull(snapshot)}, {"result", s.Result.Kind},
			{"reason", orNull(s.Result.Reason)}, {"notes", notes},
		})
		if err == nil && failed {
			err = exitStatus(errs.Failed)
		}
		return err
	}
	if failed {
		o.printResults(s.Session, []launch.Result{s.Result}, false)
		return exitStatus(errs.Failed)
	}
	start := w.BaseCommit[:min(len(w.BaseCommit), 10)]
	if snapshot != "" {
		start += " with what is not committed"
	}
	fmt.Fprintf(o.stdout, "%s  %s  started by %s\n", w.Name, w.CLI, w.Parent)
	o.printTable(o.stdout, "  ", [][]cell{
		texts("branch", w.Branch), texts("from", start), texts("worktree", w.WorktreePath),
	})
	fmt.Fprintf(o.stdout, "paw wait --notify %s, then the end of your turn: its result comes as a prompt\n", w.Name)
	for _, note := range notes {
		o.note(w.Name + ": " + note)
	}
	return nil
}

func newDone(a *invocation) *cobra.Command {
	var o orchestrator.DoneOptions
	cmd := &cobra.Command{
		Use:   "done",
		Short: "Say, as an agent, that the work is finished",
		Long: exits(`Say that the work is finished. This is for an agent, in its own pane. From the end of
the turn on paw status shows the agent as completed or, with the outcome failure or
error, in error; the turn gets that outcome and the message. Another turn takes it back.

Without --outcome it is that of the last commit made in the turn (a footer
"outcome: WORD"), else success.`, exitUsage, exitNotFound, exitLocked),
		Example: `  paw done
  paw done --message "wrote twelve tests; all pass"
  paw done --outcome failure --message "the parser needs a decision first"`,
		Args: cobra.NoArgs,
		RunE: a.withHome(func(cmd *cobra.Command, h *app.App, _ []string) error {
			done, err := orchestrator.Done(cmd.Context(), h, o)
			if err != nil {
				return err
			}
			fmt.Fprintln(a.stdout, done)
			return nil
		}),
	}
	f := cmd.Flags()
	f.StringVar(&o.Outcome, "outcome", "", "how the work went, in a word: success, failure, error or any other")
	f.StringVar(&o.Message, "message", "", "what was done, or why not")
	completeFlag(cmd, "outcome", cobra.FixedCompletions([]string{"success", "failure", "error"}, cobra.ShellCompDirectiveNoFileComp))
	completeFlag(cmd, "message", cobra.NoFileCompletions)
	return cmd
}
