package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"paw/orchestrator"
	"paw/orchestrator/app"
	"paw/orchestrator/cli"
	"paw/orchestrator/errs"
	"paw/orchestrator/live"
	"paw/orchestrator/observe"
	"paw/session"
)

func newPath(a *invocation) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "path [AGENT]",
		Short: "Print where an agent's worktree is",
		Long: exits(`Print the path of an agent's worktree. AGENT may be left out where there is one agent
only.`, exitUsage, exitNotFound),
		Example: `  paw path claude
  cd "$(paw path claude)"
  code "$(paw path shop/claude)"`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: a.completes(completion.oneAgent),
		RunE: func(cmd *cobra.Command, args []string) error {
			_, s, agent, err := a.oneAgent(cmd, args)
			if err != nil {
				return err
			}
			w, err := placeOf(s, agent)
			if err != nil {
				return err
			}
			return a.show(object{
				{"version", 1}, {"session", s.Name}, {"agent", agent}, {"worktree_path", w.WorktreePath}, {"ports", portsView(w.Ports)},
			}, w.WorktreePath)
		},
	}
	a.addJSON(cmd)
	a.addSession(cmd)
	return cmd
}

func newSh(a *invocation) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "sh AGENT [COMMAND...]",
		Short: "Open a shell, or run a command, in an agent's worktree",
		Long: exits(`Open your shell in the worktree of an agent, or run a command there, with the variables
that the agent was started with. It ends with the exit code of the command. Flags of
paw come before AGENT, everything behind it is the command.`, exitUsage, exitNotFound, "...  else what the command ends with"),
		Example: `  paw sh claude
  paw sh claude git status
  paw sh shop/claude make test`,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: a.completeCommand,
		RunE: func(cmd *cobra.Command, args []string) error {
			h, s, agent, err := a.agent(cmd, args[0])
			if err != nil {
				return err
			}
			w, err := placeOf(s, agent)
			if err != nil {
				return err
			}
			argv := args[1:]
			if len(argv) > 0 && argv[0] == "--" { // as ssh, docker exec and kubectl exec take it
				argv = argv[1:]
			}
			if len(argv) == 0 {
				argv = []string{cmp.Or(h.Getenv("SHELL"), "/bin/sh")}
			}
			return becomeIn(h.Agent(s, w), argv)
		},
	}
	cmd.Flags().SetInterspersed(false)
	a.addSession(cmd)
	return cmd
}

// placeOf returns an agent whose worktree exists.
func placeOf(s *session.Session, agent string) (*session.Agent, error) {
	w, err := app.AgentNamed(s, agent)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(w.WorktreePath); err != nil {
		return nil, errs.New(errs.Failed, "%s: its worktree %s is not there", agent, w.WorktreePath).
			Hint("paw stop %s %s --only && paw recover %s", s.Name, agent, s.Name)
	}
	return w, nil
}

// becomeIn replaces this process with another program in an agent's worktree, so that the
// terminal's signals reach that program alone. The program is no agent: it gets neither the agent's
// name nor PAW_LAUNCH.
func becomeIn(a app.Agent, argv []string) error {
	if err := os.Chdir(a.Record.WorktreePath); err != nil {
		return err
	}
	program, err := cli.LookPath(argv[0], a.App.Env)
	if err != nil {
		return errs.New(errs.Failed, "%s: no such command", argv[0])
	}
	set := app.Variables(a.App.UserEnv())
	maps.Copy(set, a.ProjectVariables())
	maps.Copy(set, a.Record.Environment)
	set["PWD"] = a.Record.WorktreePath
	return syscall.Exec(program, argv, app.Environment(set))
}

type nextOptions struct {
	*invocation
	dryRun bool
}

func newNext(a *invocation) *cobra.Command {
	o := &nextOptions{invocation: a}
	cmd := &cobra.Command{
		Use:   "next",
		Short: "Go to the agent that needs you most",
		Long: exits(`Show the pane of the agent, of any session, that needs you most: first agents that wait for
an answer, the longest wait first, then failed ones, then ones with turns that you have
not seen. Inside tmux the client is switched; again it goes on to the next one.`, exitNotFound, exitMissing),
		Example: `  paw next
  paw next --dry-run`,
		Args: cobra.NoArgs,
		RunE: a.withHome(o.run),
	}
	cmd.Flags().BoolVarP(&o.dryRun, "dry-run", "n", false, "only say which one it is")
	return cmd
}

func (o *nextOptions) run(cmd *cobra.Command, h *app.App, _ []string) error {
	answers := askHosts(cmd.Context(), h, true)
	next, nobody, problems, err := orchestrator.Next(cmd.Context(), h, func() []observe.SessionStatus { return reached(answers(), h.Now()) })
	for _, problem := range problems {
		o.note(problem.Error())
	}
	if err != nil {
		if !isTerminal(o.stdout) && orchestrator.TellInTmux(cmd.Context(), h, "paw: "+err.Error()) { // a key of tmux has no place for an error
			return nil
		}
		return err
	}
	for _, one := range silent(answers()) {
		if nobody += "; " + one; next != nil {
			o.note(one)
		}
	}
	switch {
	case next == nil && isTerminal(o.stdout) || next == nil && !orchestrator.TellInTmux(cmd.Context(), h, "paw: "+nobody):
		fmt.Fprintln(o.stdout, nobody)
		return nil
	case next == nil:
		return nil
	case o.dryRun:
		state := next.Agent.InWords()
		if next.Group == orchestrator.ToReview {
			state = toReview(&next.Agent) + " to review"
		}
		fmt.Fprintf(o.stdout, "%s/%s: %s\n", next.Session.Name, next.Agent.Record.Name, state)
		return nil
	}
	if next.Session.Host != "" {
		return attachThere(cmd.Context(), h, next.Session.Name+"/"+next.Agent.Record.Name)
	}
	return attachTo(cmd.Context(), o.invocation, h, next.Session, next.Agent.Record.Name)
}

func newAttach(a *invocation) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "attach [NAME] [AGENT]",
		Short: "Show a session in this terminal",
		Long: exits(`Attach this terminal to a session, with the pane of AGENT selected, or of the
agent that has waited longest for your answer; its number at the desk is AGENT, too. Inside the same tmux server the client is
switched instead.`, exitUsage, exitNotFound, exitMissing),
		Example: `  paw attach
  paw attach codex
  paw attach shop codex`,
		Args:              cobra.MaximumNArgs(2),
		ValidArgsFunction: a.completes(completion.sessionsAndAgents),
		RunE: func(cmd *cobra.Command, args []string) error {
			h, s, agents, err := a.sessionAndAgents(cmd, args)
			if err != nil {
				return err
			}
			agent := ""
			switch len(agents) {
			case 0:
			case 1:
				agent = agents[0]
			default:
				return usagef(cmd, "%s: one agent at a time", strings.Join(agents, " "))
			}
			switch by := numbered(s, agent); {
			case agent == "":
				agent = orchestrator.WaitingIn(cmd.Context(), h, s)
			case s.Agent(agent) == nil && by != "":
				agent = by
			}
			return attachTo(cmd.Context(), a, h, s, agent)
		},
	}
	a.addSession(cmd)
	return cmd
}

// attachTo shows a session on this terminal, and says what goes on there after the user has left it.
func attachTo(ctx context.Context, a *invocation, h *app.App, s *session.Session, agent string) error {
	err := orchestrator.Attach(ctx, h, s, agent)
	if err != nil || h.Getenv("TMUX") != "" { // in tmux the client shows the session from now on
		return err
	}
	f, err := observe.Observe(ctx, h, s)
	if err != nil {
		return nil //nolint:nilerr // the session was shown
	}
	there := slices.DeleteFunc(f.Agents, func(one observe.Agent) bool { return f.Running(one) != live.InPane })
	if len(there) > 0 {
		verb := map[bool]string{true: " goes", false: " go"}[len(there) == 1]
		a.note(fmt.Sprintf("%s%s on; paw opens the desk, %s comes back", errs.Counted(len(there), "agent"), verb, errs.Line("paw attach %s", s.Name)))
	}
	return nil
}

// numbered returns the agent with a number of the desk, "" for none.
func numbered(s *session.Session, number string) string {
	for i := range s.Agents {
		if strconv.Itoa(s.Number(i)) == number {
			return s.Agents[i].Name
		}
	}
	return ""
}

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
