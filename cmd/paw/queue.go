package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"paw/config/display"
	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/forge"
	"paw/orchestrator/queue"
	"paw/session"
	"paw/session/turn"
)

func newQueue(a *invocation) *cobra.Command {
	dryRun := false
	cmd := &cobra.Command{
		Use:   "queue [NAME] [AGENT...]",
		Short: "Show the prompts that wait for their moment, and what they wait for",
		Long: exits(`Show the prompts that wait, run, are held and are done. The queue of a session types a prompt to
an agent when its turn has ended, and starts agents for tasks of their own, so many at a time. It
goes on by itself until it is empty; a person always goes first.`, exitUsage, exitNotFound),
		Example: `  paw queue
  paw queue --json
  paw queue add claude "now the tests"
  paw queue go --all`,
		ValidArgsFunction: a.completes(completion.agents),
		RunE: func(cmd *cobra.Command, args []string) error {
			h, s, agents, err := a.sessionAndAgents(cmd, args)
			if err != nil {
				return err
			}
			return showQueue(cmd.Context(), a, h, s, agents, dryRun)
		},
	}
	cmd.Flags().BoolVarP(&dryRun, "dry-run", "n", false, "say what would be done next, and do nothing")
	a.addJSON(cmd)
	a.addSession(cmd)
	for _, sub := range []*cobra.Command{
		newQueueAdd(a), newQueueChange(a, queue.ChangeHold, "Keep tasks from beginning"),
		newQueueChange(a, queue.ChangeGo, "Let tasks go that are held"),
		newQueueChange(a, queue.ChangeRetry, "Begin tasks again, whatever was typed before"), newQueueChange(a, queue.ChangeDrop, "Take tasks out"),
	} {
		cmd.AddCommand(sub)
	}
	return cmd
}

type queueAddOptions struct {
	*invocation
	session.Task
	file, plan, timeout, label string
	issues                     []string
	dryRun, yes                bool
}

func newQueueAdd(a *invocation) *cobra.Command {
	o := &queueAddOptions{invocation: a}
	cmd := &cobra.Command{
		Use:   "add [AGENT[,AGENT...]] TEXT | -f FILE | - | --plan FILE | --issue N... | --issues LABEL",
		Short: "Queue a prompt, or tasks with agents of their own",
		Long: exits(`Queue a prompt. With AGENT it is typed there when the turn of the agent has ended; without, an agent of
its own is started for it, and TEXT is one argument, or follows --cli or --. It prints the id, and on a terminal the queue. A task is done when its turn has ended well and its check, if
any, has passed; a failed check goes back to the agent with its last lines, so often as --retries says.
With --on ci the agent gets the failed checks of its pull request as paw send --ci has them, once for each commit
that was pushed, so often as --retries says (default: 3), until they pass.

A plan is a TOML file of [[task]] tables with id, prompt or prompt_file, cli, agent, after, from, base, brief,
check, retries and timeout; max may stand before them. All of it is queued, or nothing.`,
			exitUsage, exitRefused, exitNotFound, exitLocked, exitMissing),
		Example: `  paw queue add claude "now write the tests"
  paw queue add --cli codex,claude --check "make test" --retries 2 "write the lexer"
  paw queue add --after t1 --from t1 "write the parser"
  paw queue add --plan night.toml
  paw queue add --issue 12 --issue 17 --cli claude`,
		ValidArgsFunction: a.completes(completion.agents),
		RunE:              o.run,
	}
	f := cmd.Flags()
	f.StringVar(&o.ID, "id", "", "id of the task (default: t1, t2, ...)")
	f.StringVarP(&o.file, "prompt-file", "f", "", "file with the prompt, - for standard input")
	f.StringSliceVar(&o.CLIs, "cli", nil, "CLI of the new agent; of several the first that is installed and not limited")
	f.StringArrayVar(&o.After, "after", nil, "id of a task that has to be done first")
	f.StringVar(&o.From, "from", "", "AGENT[@N] or id of a task: begin where that ended")
	f.BoolVar(&o.Brief, "brief", false, "with --from, take the conversation over as well")
	f.StringVar(&o.Base, "base", "", "commit or branch to begin at (default: HEAD)")
	f.StringArrayVar(&o.Check, "check", nil, "command that has to pass on the work")
	f.IntVar(&o.Retries, "retries", 0, "how often a failed check goes back to the agent")
	f.StringVar(&o.On, "on", "", "ci: when the checks of the agent's pull request have failed (gh, glab)")
	f.BoolVar(&o.Push, "push", false, "with --on ci: push as paw pr does when the turn has ended")
	f.StringVar(&o.timeout, "timeout", "", "fail when the turn takes longer, such as 30m")
	f.StringVar(&o.plan, "plan", "", "file with many tasks (TOML)")
	f.StringSliceVar(&o.issues, "issue", nil, "number of an issue: a task gh-N with its text, quoted (gh, glab)")
	f.StringVar(&o.label, "issues", "", "all open issues with this label, which are shown first")
	f.BoolVarP(&o.dryRun, "dry-run", "n", false, "say what would be queued, and queue nothing")
	f.BoolVarP(&o.yes, "yes", "y", false, "queue --issues without asking")
	a.addJSON(cmd)
	a.addSession(cmd)
	completeFlag(cmd, "cli", a.completes(completion.clis))
	completeFlag(cmd, "on", cobra.FixedCompletions([]string{session.OnCI}, cobra.ShellCompDirectiveNoFileComp))
	for _, flag := range []string{"id", "after", "from", "base", "check", "retries", "timeout", "issue", "issues"} {
		completeFlag(cmd, flag, cobra.NoFileCompletions)
	}
	return cmd
}

func (o *queueAddOptions) run(cmd *cobra.Command, args []string) error {
	h, s, agents, text, err := o.recipients(cmd, args)
	if err != nil {
		return err
	}
	o.Kind = session.AgentTask
	tasks, most, err := o.newTasks(cmd, h, s, text)
	if err != nil {
		return err
	}
	if len(agents) > 0 {
		if tasks, err = o.forEach(cmd, tasks[0], agents); err != nil {
			return err
		}
	}
	if o.label != "" && !o.dryRun && !o.yes {
		for _, t := range tasks {
			fmt.Fprintf(o.stderr, "%s  %s\n", t.ID, display.FirstLine(turn.Prompt(t.Prompt).Words()))
		}
		if err := o.confirm(cmd.Context(), fmt.Sprintf("queue these %s, whose texts strangers may have written?", errs.Counted(len(tasks), "issue")), "paw queue add --issues "+errs.Quote(o.label)+" --yes"); err != nil {
			return err
		}
	}
	list, err := queue.Enqueue(cmd.Context(), h, s, tasks, most, nil, o.dryRun)
	if err != nil {
		return err
	}
	if o.json {
		return o.printJSON(object{{"version", 1}, {"session", s.Name}, {"held", given(orNull(list.Held))}, {"tasks", objects(list.Tasks, taskView)}})
	}
	if !o.dryRun && isTerminal(o.stdout) {
		return showOpen(cmd.Context(), o.invocation, h, s)
	}
	for _, t := range list.Tasks {
		if o.dryRun {
			fmt.Fprintf(o.stdout, "queue %s: %s\n", t.ID, t.What)
		} else {
			fmt.Fprintln(o.stdout, t.ID)
		}
	}
	if held := heldBy(list); held != "" {
		o.note("the queue is held" + held)
	}
	return nil
}

// recipients returns the session, the agents that the first word names, none for a new agent, and
// the words of the prompt.
func (o *queueAddOptions) recipients(cmd *cobra.Command, args []string) (h *app.App, s *session.Session, agents, text []string, err error) {
	if h, err = o.paw(); err != nil {
		return nil, nil, nil, nil, err
	}
	q, changed := o.question(cmd, h, args), cmd.Flags().Changed
	named := (namesFirst(cmd, args) || o.On != "" && len(args) > 0) && !changed("cli")
	known := len(args) > 0 && cmd.ArgsLenAtDash() != 0 && !changed("plan") && !changed("issue") && !changed("issues") && q.known(args[0])
	if !named && !known {
		if s, _, err = q.agents(nil); err == nil {
			o.From = strings.TrimPrefix(o.From, s.Name+"/")
		}
		return h, s, nil, args, err
	}
	s, agents, err = q.agents(args[:1])
	if err == nil {
		err = app.RequireAgents(s, agents...)
	}
	switch {
	case err != nil && named && len(args) > 1:
		err = errs.WithHints(err, pasted(slices.Concat(o.repeated(cmd, args), []string{"--"}, args)))
	case err != nil:
	case len(args) == 1 && o.file == "" && o.On == "":
		err = usagef(cmd, "%s: is an agent; what is it to be asked?", args[0])
	case cmd.ArgsLenAtDash() != 1:
		err = o.refuseNames(cmd, h.Place(), s, args)
	}
	return h, s, app.Once(agents), args[1:], err
}

// newTasks returns the tasks that the words and flags ask for, and the number of agents that a plan
// allows at work.
func (o *queueAddOptions) newTasks(cmd *cobra.Command, h *app.App, s *session.Session, args []string) ([]queue.New, int, error) {
	given := countTrue(o.plan != "", len(o.issues) > 0, o.label != "", o.file != "")
	if o.timeout != "" {
		var err error
		if o.Timeout, err = time.ParseDuration(o.timeout); err != nil || o.Timeout <= 0 {
			return nil, 0, usagef(cmd, "--timeout %s: not a time, such as 90s or 10m", o.timeout)
		}
	}
	switch {
	case o.yes && o.label == "":
		return nil, 0, usagef(cmd, "--yes goes with --issues LABEL")
	case given > 1:
		return nil, 0, usagef(cmd, "--plan, --issue, --issues and --prompt-file: give one of them")
	case o.plan != "" && len(args) > 0:
		return nil, 0, usagef(cmd, "--plan takes no text")
	case o.plan != "":
		return queue.ReadPlan(o.plan)
	case len(o.issues) > 0 || o.label != "":
		tasks, err := o.issueTasks(cmd.Context(), h, s, strings.Join(args, " "))
		return tasks, 0, err
	case o.On != "" && given+len(args) > 0:
		return nil, 0, usagef(cmd, "--on ci takes no text: the failed checks are the prompt")
	case o.On != "":
		if o.Checking = true; !cmd.Flags().Changed("retries") {
			o.Retries = 3
		}
		return []queue.New{{Task: o.Task, Prompt: "Mend what the checks of your pull request say."}}, 0, nil
	}
	prompt, err := o.queuedPrompt(cmd, args)
	return []queue.New{{Task: o.Task, Prompt: prompt}}, 0, err
}

// forEach returns a task for each of several agents that get the same prompt.
func (o *queueAddOptions) forEach(cmd *cobra.Command, t queue.New, agents []string) (tasks []queue.New, err error) {
	if len(agents) > 1 && o.ID != "" {
		return nil, usagef(cmd, "--id goes with one agent")
	}
	for _, agent := range agents {
		one := t
		one.Kind, one.Agent = session.PromptTask, agent
		one.After, one.Check = slices.Clone(t.After), slices.Clone(t.Check)
		tasks = append(tasks, one)
	}
	return tasks, nil
}

// queuedPrompt returns the prompt from the argument, from --prompt-file, or for "-" from standard
// input.
func (o *queueAddOptions) queuedPrompt(cmd *cobra.Command, args []string) (string, error) {
	read := startOptions{}
	read.promptFile = o.file
	switch {
	case o.file != "" && len(args) > 0:
		return "", usagef(cmd, "TEXT and --prompt-file: give one of them")
	case o.file != "":
		err := read.readPrompt(o.stdin)
		return read.Prompt, err
	case len(args) == 1 && args[0] == "-":
		text, err := io.ReadAll(o.stdin)
		return strings.TrimSuffix(string(text), "\n"), err
	case len(args) == 0:
		return "", usagef(cmd, "no prompt: pass TEXT, -f FILE, or - for standard input")
	}
	return strings.Join(args, " "), nil
}

// issueTasks returns a task with its own agent for each issue. The prompt is words, then the text
// of the issue.
func (o *queueAddOptions) issueTasks(ctx context.Context, h *app.App, s *session.Session, words string) ([]queue.New, error) {
	if o.label != "" {
		numbers, err := forge.IssuesWith(ctx, h, s.RepoPath, o.label)
		if err != nil {
			return nil, err
		}
		if len(numbers) == 0 {
			return nil, errs.New(errs.NotFound, "--issues %s: no open issue has this label", o.label)
		}
		o.issues = numbers
	}
	if o.ID != "" {
		return nil, errs.New(errs.Usage, "--id goes with one prompt; a task of an issue is called gh-N")
	}
	var tasks []queue.New
	for _, number := range o.issues {
		text, err := forge.FromIssue(ctx, h, s.RepoPath, number)
		if err != nil {
			return nil, err
		}
		t := queue.New{Task: o.Task, Prompt: strings.TrimSpace(words + "\n\n" + text)}
		t.ID = "gh-" + strings.TrimLeft(number[strings.LastIndexByte(number, '/')+1:], "#")
		t.After, t.Check = slices.Clone(o.After), slices.Clone(o.Check)
		tasks = append(tasks, t)
	}
	return tasks, nil
}

func newQueueChange(a *invocation, do queue.Change, short string) *cobra.Command {
	var all, done bool
	var starts int
	cmd := &cobra.Command{
		Use:   string(do) + " ID... | --all",
		Short: short,
		Long:  exits(queueHelp[do], exitUsage, exitNotFound, exitLocked),
		Example: "  paw queue " + string(do) + " t1 t2" + map[bool]string{true: "\n  paw queue " + string(do) + " --all"}[do != queue.ChangeRetry] +
			map[bool]string{true: "\n  paw queue go --all --starts 100"}[do == queue.ChangeGo],
		RunE: func(cmd *cobra.Command, ids []string) error {
			raises := cmd.Flags().Changed("starts")
			if raises && starts < 1 {
				return usagef(cmd, "--starts %d: not a number from 1 on", starts)
			}
			if countTrue(all, done, len(ids) > 0) != 1 && !raises {
				if do == queue.ChangeRetry {
					return usagef(cmd, "name the tasks").Hint("paw queue")
				}
				return errs.New(errs.Usage, "name the tasks, or say --all").Hint("paw queue %s --all", do)
			}
			h, s, err := a.session(cmd)
			if err != nil {
				return err
			}
			if done {
				gone, err := queue.Forget(cmd.Context(), h, s)
				if err == nil {
					fmt.Fprintf(a.stdout, "%s left the list\n", errs.Counted(len(gone), "task"))
				}
				return err
			}
			said, err := queue.Apply(cmd.Context(), h, s, do, eachOf(ids), starts)
			if err != nil {
				return err
			}
			for _, line := range said {
				fmt.Fprintln(a.stdout, line)
			}
			if isTerminal(a.stdout) {
				return showOpen(cmd.Context(), a, h, s)
			}
			return nil
		},
	}
	if do == queue.ChangeRetry {
		cmd.Use = "retry ID..."
	} else {
		cmd.Flags().BoolVarP(&all, "all", "a", false, "all tasks")
	}
	if do == queue.ChangeDrop {
		cmd.Flags().BoolVar(&done, "done", false, "take out of the list what is over, with its prompts")
	}
	if do == queue.ChangeGo {
		cmd.Flags().IntVar(&starts, "starts", 0, "let the queue make so many launches and prompts in this session")
	}
	a.addSession(cmd)
	return cmd
}

var queueHelp = map[queue.Change]string{
	queue.ChangeHold: `Keep tasks that wait from beginning until paw queue go. One that an agent works on is not held: paw stop
ends that.`,
	queue.ChangeGo: `Let tasks go that are held: because you have turned to their agent, after a stop, a crash or a recovery, by a
usage limit or by ends at the start, after a task that has failed. A prompt that may have been typed is not
repeated; paw queue retry does that. With ID the rest of a queue that is held stays held.`,
	queue.ChangeRetry: `Begin tasks again that have failed, were dropped, or are held, whatever was typed before: at their agents
where these are there, else with new ones.`,
	queue.ChangeDrop: `Take tasks out of the queue. What an agent works on it goes on with. With --done the list forgets
what is over, but for that which a task comes after that is not.`,
}
