package main

import (
	"cmp"
	"maps"
	"os"
	"syscall"

	"github.com/spf13/cobra"

	"paw/orchestrator/app"
	"paw/orchestrator/cli"
	"paw/orchestrator/errs"
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
