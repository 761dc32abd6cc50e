package main

import (
	"cmp"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"paw/orchestrator/app"
	"paw/orchestrator/checks"
	"paw/orchestrator/errs"
	"paw/orchestrator/landing"
	"paw/session"
)

type checkOptions struct {
	*invocation
	landing.CheckOptions
	shell bool
	here  bool
}

func newCheck(a *invocation) *cobra.Command {
	o := &checkOptions{invocation: a}
	cmd := &cobra.Command{
		Use:   "check [AGENT[@N]...] [COMMAND]",
		Short: "Run the project's checks on exactly what an agent has",
		Long: exits(`Run the checks of the configuration ([land] checks), or COMMAND, on the exact state of an
agent, of the moment or of the end of turn N, in a worktree of their own that is set up like
an agent's. A tree that has passed a command is not tested with it again. --shell opens your
shell there instead. The last word is COMMAND where it names no agent. Without AGENT it is
the one whose worktree you stand in, or the session's only one.`, exitUsage, exitRefused, exitChecks, exitNotFound, exitLocked, exitMissing),
		Example: `  paw check claude
  paw check claude@2 "make test"
  paw check claude codex
  paw check claude --shell`,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: a.completes(completion.agents),
		RunE:              o.run,
	}
	f := cmd.Flags()
	f.BoolVar(&o.shell, "shell", false, "open your shell there, and run nothing")
	f.BoolVar(&o.Fresh, "fresh", false, "run checks also on what has passed them before")
	f.BoolVar(&o.here, "here", false, "run them on this machine also for HOST:AGENT")
	a.addJSON(cmd)
	a.addSession(cmd)
	return cmd
}

func (o *checkOptions) run(cmd *cobra.Command, args []string) error {
	var agents, command []string
	if o.far != nil {
		agents, command = o.far.words, o.far.command
	} else {
		var err error
		if agents, command, err = o.checked(cmd, args); err != nil {
			return err
		}
	}
	switch {
	case o.shell && (len(command) > 0 || o.json):
		return usagef(cmd, "--shell goes with no command, and not with --json")
	case o.shell && len(agents) > 1:
		return usagef(cmd, "--shell opens one shell, of one agent")
	case o.json && len(agents) > 1:
		return usagef(cmd, "--json is about one agent")
	}
	each := o.eachAgent
	if o.far != nil {
		each = func(cmd *cobra.Command, _ []string, do func(*app.App, *session.Session, string, string) error) error {
			h, work, err := o.fetch(cmd, false, true)
			if err != nil {
				return err
			}
			o.Handed = work.Handed
			for _, agent := range work.Agents {
				if err := do(h, work.Session, agent, ""); err != nil {
					return err
				}
			}
			return nil
		}
	}
	return each(cmd, agents, func(h *app.App, s *session.Session, agent, number string) error {
		h, err := h.ConfiguredFor(s)
		if err != nil {
			return err
		}
		one := o.CheckOptions
		one.Turn, one.Commands = number, command
		if o.shell {
			shown, err := landing.Show(cmd.Context(), h, s, agent, one)
			if err != nil {
				return err
			}
			return becomeIn(h.Agent(s, checks.Agent(s, shown.Place)), []string{cmp.Or(h.Getenv("SHELL"), "/bin/sh")})
		}
		checked, err := landing.Check(cmd.Context(), h, s, agent, one)
		if err != nil {
			return err
		}
		return o.show(object{
			{"version", 1}, {"session", s.Name}, {"agent", agent}, {"commit", checked.Commit}, {"checks", checked.Commands}, {"notes", o.noted()},
		}, strings.TrimSpace(checked.String()))
	})
}

// checked divides the words of paw check into agents and a command: the last word is the command
// unless an agent of the session has that name. A single word that is nearly the name of an agent
// is a slip, and no command.
func (o *checkOptions) checked(cmd *cobra.Command, args []string) (agents, command []string, err error) {
	last := len(args) - 1
	if last < 0 || last == 0 && args[0] == everybody {
		return args, nil, nil
	}
	word, _, _ := strings.Cut(args[last], "@")
	_, s, named, err := o.agents(cmd, []string{word})
	if err == nil {
		var other *errs.Error
		_, err = app.AgentNamed(s, named[0])
		if err == nil || last == 0 && errors.As(err, &other) && other.Instead.By != "" {
			return args, nil, nil
		}
	}
	if last > 0 {
		return args[:last], args[last:], nil
	}
	h, s, err := o.session(cmd)
	if err != nil {
		return nil, nil, err
	}
	agent, err := o.agentMeant(cmd, h, s)
	return []string{s.Name + "/" + agent}, args, err
}

func newBisect(a *invocation) *cobra.Command {
	main := false
	cmd := &cobra.Command{
		Use:   "bisect AGENT [COMMAND] | --main [COMMAND]",
		Short: "Find the turn that broke the project's checks",
		Long: exits(`Find the turn of an agent that broke the checks of the configuration ([land] checks), or
COMMAND: they run on the ends of turns, committed or not, in the worktree of paw check, half
of what is left at a time. With --main it is the branch that work lands on which fails them: paw names the turn, of any agent,
that broke it, which paw land --without AGENT@N takes out; where no landing did it, the range for git bisect.`, exitUsage, exitRefused, "9    they fail at the agent's base, or before the first landing, already", exitNotFound, exitLocked, exitMissing),
		Example: `  paw bisect claude
  paw bisect claude "make test"
  paw bisect --main`,
		Args:              cobra.MaximumNArgs(2),
		ValidArgsFunction: a.completes(completion.agents),
		RunE: func(cmd *cobra.Command, args []string) error {
			if main && len(args) == 2 || !main && len(args) == 0 {
				return usagef(cmd, "it takes AGENT, or --main")
			}
			names := args[:min(len(args), 1)]
			if main {
				names = nil
			}
			h, s, agents, err := a.agents(cmd, names)
			if err != nil {
				return err
			}
			if len(agents) > 1 {
				return usagef(cmd, "%s: one agent at a time", args[0])
			}
			if h, err = h.ConfiguredFor(s); err != nil {
				return err
			}
			var broken *checks.Broken
			if main {
				broken, err = landing.BisectMain(cmd.Context(), h, s, args)
			} else {
				broken, err = checks.Bisect(cmd.Context(), h, s, agents[0], args[1:])
			}
			if err != nil {
				return err
			}
			return a.show(bisectView(broken, a.noted()), broken)
		},
	}
	cmd.Flags().BoolVar(&main, "main", false, "the turn that broke the branch which work lands on")
	a.addJSON(cmd)
	a.addSession(cmd)
	return cmd
}

// bisectView returns the turn that broke the checks, null if the end of the last turn passes, and the
// last turn whose end passes, 0 for the base.
func bisectView(b *checks.Broken, notes []string) object {
	broke, good, prompt := any(nil), any(nil), any(nil)
	if b.Turn > 0 {
		broke, good, prompt = b.Turn, b.Good, b.Prompt
	}
	out := absent
	if b.Main != "" {
		out = orNull(b.Out)
	}
	return object{{"version", 1}, {"session", b.Session}, {"agent", orNull(b.Agent)}, {"turn", broke}, {"last_good", good}, {"prompt", prompt}, {"out", out}, {"notes", notes}}
}
