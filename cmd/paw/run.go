package main

import (
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"paw/orchestrator"
	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/startplan"
	"paw/session"
	"paw/session/turn"
)

type runOptions struct {
	startOptions
	typ    string
	branch string
}

func newRun(a *invocation) *cobra.Command {
	o := &runOptions{startOptions: startOptions{invocation: a}}
	cmd := &cobra.Command{
		Use:   "run AGENT | run --cli [AGENT=]CLI",
		Short: "Do one turn in the foreground, without a pane",
		Long: exits(`Do one turn in the foreground, without a pane: the CLI's one-shot mode, in the
agent's worktree and conversation. What the CLI says is shown while it works. A turn
that fails or is interrupted is recorded as such and gets no tag. With --cli a new
agent is made first: a branch, a worktree and no pane.

Without --prompt and --prompt-file the prompt is read from standard input. Where the
CLI asks for a permission the turn waits for paw answer. claude and codex cannot ask
without a terminal: grant what they need in their own configuration.`,
			exitUsage, exitRefused, "5    the turn failed", exitNotFound, "11   the agent's CLI runs, or another paw holds a lock", exitMissing, exitBroken),
		Example: `  paw run claude --prompt "fix the failing test"
  paw run codex --type review < prompt.md
  paw run --cli docs=claude --prompt "write the manual" --json`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return errs.New(errs.Usage, "%s: paw run takes its prompt with --prompt", strings.Join(args[1:], " ")).
					Hint("%s", pasted(append(a.repeated(cmd, args[1:]), "--prompt", strings.Join(args[1:], " "))))
			}
			return nil
		},
		ValidArgsFunction: a.completes(completion.oneAgent),
		RunE:              o.run,
	}
	f := cmd.Flags()
	f.StringSliceVar(&o.CLIs, "cli", nil, "make a new agent with this CLI, [AGENT=]CLI")
	f.StringVar(&o.branch, "branch", "", "branch of the new agent, made if it is missing")
	f.StringVar(&o.Base, "base", "", "commit that the new agent's branch starts from (default: HEAD)")
	f.StringVarP(&o.Prompt, "prompt", "p", "", "what the CLI is asked")
	f.StringVar(&o.promptFile, "prompt-file", "", "file with the prompt, - for standard input")
	f.StringVar(&o.typ, "type", string(turn.TypePrompt), "kind of the turn, a word for your own use")
	a.addSession(cmd)
	a.addJSON(cmd)
	completeFlag(cmd, "cli", a.completes(completion.clis))
	return cmd
}

func (o *runOptions) run(cmd *cobra.Command, args []string) error {
	if (len(args) == 0) == (len(o.CLIs) == 0) {
		return usagef(cmd, "which agent? name one, or pass --cli for a new one")
	}
	if len(args) > 0 && (o.branch != "" || o.Base != "") {
		return usagef(cmd, "--branch and --base are for a new agent (--cli)")
	}
	h, s, agent, err := o.runSession(cmd, args)
	if err != nil {
		return err
	}
	if err := o.readRunPrompt(cmd); err != nil {
		return err
	}
	run := orchestrator.RunOptions{Prompt: o.Prompt, Type: turn.Type(o.typ), Started: func(kill func()) { o.killTurn.Store(&kill) }}
	if len(args) > 0 {
		run.Agent = agent
	} else {
		run.New = &startplan.Options{CLIs: o.CLIs, Base: o.Base}
		if o.branch != "" {
			run.New.Branches = []string{o.branch}
		}
	}
	if !o.json {
		run.Out, run.Err = forReading(o.stdout), forReading(o.stderr)
	}
	// If the reader goes away (paw run ... | head), the turn goes on.
	pipes := make(chan os.Signal, 1)
	signal.Notify(pipes, syscall.SIGPIPE)
	defer signal.Stop(pipes)
	ran, err := orchestrator.Run(cmd.Context(), h, s, run)
	if ran == nil {
		return err
	}
	if shown := o.showRan(ran); err == nil {
		err = shown
	}
	return err
}

// runSession returns the session of the turn, and the agent, "" for a new one.
func (o *runOptions) runSession(cmd *cobra.Command, args []string) (*app.App, *session.Session, string, error) {
	if len(args) > 0 {
		return o.agent(cmd, args[0])
	}
	h, s, err := o.session(cmd)
	return h, s, "", err
}

// readRunPrompt reads the prompt from the file of --prompt-file, else from standard input, which
// must not be a terminal.
func (o *runOptions) readRunPrompt(cmd *cobra.Command) error {
	if cmd.Flags().Changed("prompt") {
		return requireText(o.Prompt)
	}
	if o.promptFile == "" {
		if isTerminal(o.stdin) {
			return usagef(cmd, "no prompt: pass --prompt or --prompt-file")
		}
		o.promptFile = "-"
	}
	return o.readPrompt(o.stdin)
}

func (o *runOptions) showRan(ran *orchestrator.Ran) error {
	if o.json {
		return o.printJSON(append(object{{"version", 1}, {"session", ran.Session.Name}, {"agent", ran.Agent}}, turnView(ran.Turn, ran.Notes...)...))
	}
	for _, note := range ran.Notes {
		o.note(ran.Agent + ": " + note)
	}
	outcome, colour := turnOutcome(ran.Turn)
	words := []string{fmt.Sprintf("%s: turn %d", ran.Agent, ran.Turn.Number), o.colour(outcome, colour)}
	if commit := ran.Turn.CommitHash; commit != "" {
		words = append(words, commit[:min(len(commit), 10)])
	}
	if ran.Turn.Files != nil {
		words = append(words, errs.Counted(*ran.Turn.Files, "file"))
	}
	_, err := fmt.Fprintln(o.stdout, strings.Join(words, "  "))
	return err
}
