package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"paw/config/display"
	"paw/orchestrator"
	"paw/orchestrator/errs"
	"paw/orchestrator/queue"
	"paw/session"
)

type raceOptions struct {
	*invocation
	queue.RaceOptions
	file string
}

func newRace(a *invocation) *cobra.Command {
	o := &raceOptions{invocation: a}
	cmd := &cobra.Command{
		Use:   "race [NAME] | --cli LIST --prompt-file FILE",
		Short: "One prompt, several CLIs: the checks decide",
		Long: exits(`Give one prompt to several CLIs, each with an agent of its own that starts from the tip of your
branch, or show how races stand. The agents NAME_1, NAME_2, ... are tasks of the queue. At the end of each of
their turns the check runs on what would land: pass, flaky (some of --repeat runs pass), fail or conflict.
GREEN AT is the first turn whose end passed. FLAGS say that tests or the CI's files were touched, or nothing
was changed. Paths that --protect names are as in your branch while the check runs.`, exitUsage, exitRefused, exitNotFound, exitLocked, exitMissing),
		Example: `  paw race --cli claude,codex --prompt-file task.md --check "make test"
  paw race
  paw race pick race race_2
  paw race stop race`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: a.completes(completion.races),
		RunE:              o.run,
	}
	f := cmd.Flags()
	f.StringSliceVar(&o.CLIs, "cli", nil, "CLIs, with one agent for each")
	f.StringVarP(&o.file, "prompt-file", "f", "", "file with the prompt, - for standard input")
	f.StringArrayVar(&o.Check, "check", nil, "command that has to pass (default: [land] checks)")
	f.BoolVar(&o.NoCheck, "no-check", false, "run no checks: you decide")
	f.StringArrayVar(&o.Protect, "protect", nil, "paths that the check takes from your branch, as git matches them")
	f.IntVar(&o.Repeat, "repeat", 1, "how often the check runs on a state")
	f.DurationVar(&o.Task.Timeout, "timeout", 0, "a turn or a check that takes longer has failed, such as 30m")
	f.StringVar(&o.Name, "name", "", "name of the race (default: race, race_2, ...)")
	completeFlag(cmd, "cli", a.completes(completion.clis))
	for _, flag := range []string{"check", "protect", "repeat", "timeout", "name"} {
		completeFlag(cmd, flag, cobra.NoFileCompletions)
	}
	a.addJSON(cmd)
	a.addSession(cmd)
	cmd.AddCommand(newRacePick(a), newRaceStop(a))
	return cmd
}

func (o *raceOptions) run(cmd *cobra.Command, args []string) error {
	h, s, err := o.session(cmd)
	if err != nil {
		return err
	}
	if len(o.CLIs) == 0 {
		for _, flag := range []string{"prompt-file", "check", "no-check", "protect", "repeat", "timeout", "name"} {
			if cmd.Flags().Changed(flag) {
				return usagef(cmd, "--%s goes with --cli, which begins a race", flag)
			}
		}
		races, err := orchestrator.Races(cmd.Context(), h, s, strings.Join(args, ""))
		if err != nil {
			return err
		}
		return o.showRaces(s, races)
	}
	read := startOptions{invocation: o.invocation}
	read.promptFile = o.file
	switch err := read.readPrompt(o.stdin); {
	case err != nil:
		return err
	case read.Prompt == "":
		return usagef(cmd, "no prompt: pass --prompt-file FILE")
	case len(args) > 0:
		return usagef(cmd, "%s: --name names a new race", args[0])
	case o.Repeat < 1 || o.Task.Timeout < 0:
		return usagef(cmd, "--repeat and --timeout: from 1 on, and not below 0")
	case o.NoCheck && len(o.Check) > 0:
		return usagef(cmd, "--check and --no-check exclude each other")
	}
	o.Prompt, o.Again = read.Prompt, pasted(append(o.repeated(cmd, nil), "--no-check"))
	name, err := queue.BeginRace(cmd.Context(), h, s, o.RaceOptions)
	if err != nil {
		return err
	}
	return o.show(object{{"version", 1}, {"session", s.Name}, {"race", name}, {"notes", o.noted()}}, name+"  "+errs.Line("paw race %s", name)+" shows how it stands")
}

// showRaces prints a table for each race.
func (o *raceOptions) showRaces(s *session.Session, races []orchestrator.RaceView) error {
	if o.json {
		return o.printJSON(object{{"version", 1}, {"session", s.Name}, {"races", append([]orchestrator.RaceView{}, races...)}})
	}
	if len(races) == 0 {
		fmt.Fprintf(o.stdout, "%s: no race\n", s.Name)
	}
	for _, r := range races {
		state := "check " + display.Words(strings.Join(r.Check, ", ")) + " on " + s.Target
		if r.Over != "" {
			state = r.Over
		} else if len(r.Check) == 0 {
			state = "no check"
		}
		fmt.Fprintf(o.stdout, "%s  %s  %s\n", r.Name, state, display.Title(r.Prompt))
		rows := [][]cell{heads("AGENT", "CLI", "RESULT", "LINES", "TIME", "TOKENS", "GREEN AT", "FLAGS")}
		for _, one := range r.Racers {
			rows = append(rows, racerRow(one))
		}
		o.printTable(o.stdout, "  ", rows)
	}
	return nil
}

func racerRow(one orchestrator.RacerView) []cell {
	agent, lines, took, tokens, green, flags := one.Agent, "", "", "-", "", slices.Clone(one.Flags)
	if agent == "" {
		agent = "(" + one.Task + ")"
	}
	if one.Turn > 0 {
		lines = fmt.Sprintf("+%d -%d", one.Added, one.Deleted)
	}
	if one.Took > 0 {
		took = one.Took.Round(time.Second).String()
	}
	if one.Spent != nil {
		tokens = count(one.Spent.Input + one.Spent.CacheRead + one.Spent.CacheWrite + one.Spent.Output)
	}
	if one.GreenAt > 0 {
		green = fmt.Sprintf("turn %d", one.GreenAt)
	}
	if one.Why != "" {
		flags = append(flags, one.Why)
	}
	return texts(agent, one.CLI, one.Result, lines, took, tokens, green, strings.Join(flags, ", "))
}

func newRacePick(a *invocation) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "pick NAME AGENT[@N]",
		Short: "Land one agent's work, stop the others",
		Long: exits(`Land the end of turn N of an agent of a race, by default of its last checked turn, as paw land does, if the
check of the race passes on it now. The other agents are stopped; their branches, worktrees and turns stay.`,
			exitUsage, exitRefused, "8    conflict with the branch, nothing has moved", exitChecks, exitNotFound, exitLocked, exitMissing),
		Example:           "  paw race pick race race_2",
		Args:              cobra.ExactArgs(2),
		ValidArgsFunction: a.completes(completion.races),
		RunE: func(cmd *cobra.Command, args []string) error {
			word, number, err := splitTurn(cmd, args[1])
			if err != nil {
				return err
			}
			h, s, agent, err := a.agent(cmd, word)
			if err != nil {
				return err
			}
			landed, err := orchestrator.PickRace(cmd.Context(), h, s, args[0], agent, number)
			if landed == nil {
				return err
			}
			fmt.Fprintln(a.stdout, landed)
			return err
		},
	}
	a.addSession(cmd)
	return cmd
}

func newRaceStop(a *invocation) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "stop NAME",
		Short: "Stop the agents of a race",
		Long: exits(`Stop the agents of a race, and take those that have not begun out of the queue. What was done stays, and
paw race pick still lands it.`, exitUsage, exitNotFound, exitLocked),
		Example:           "  paw race stop race",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completes(completion.races),
		RunE: func(cmd *cobra.Command, args []string) error {
			h, s, err := a.session(cmd)
			if err != nil {
				return err
			}
			if err := orchestrator.EndRace(cmd.Context(), h, s, args[0], ""); err != nil {
				return err
			}
			fmt.Fprintf(a.stdout, "%s: stopped\n", args[0])
			return nil
		},
	}
	a.addSession(cmd)
	return cmd
}
