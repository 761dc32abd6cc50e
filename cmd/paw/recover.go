package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"paw/orchestrator"
	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/launch"
	"paw/session"
)

type recoverOptions struct {
	*invocation
	orchestrator.RecoverOptions
	detach bool
}

func newRecover(a *invocation) *cobra.Command {
	o := &recoverOptions{invocation: a}
	cmd := &cobra.Command{
		Use:   "recover [NAME] [AGENT...]",
		Short: "Bring a session back after a crash: same panes, same conversations",
		Long: exits(`Bring a session back after a crash of tmux, of paw or of the machine: the same
panes, with each CLI's own conversation. Agents that still run are left alone, none
is started twice, nothing is deleted, and no prompt is sent but those that an agent
has never got. Sessions and agents that you stopped, and agents whose CLI ended with
0, come back only when NAME or AGENT is given; with AGENT, that agent alone. A word
that names both the session you stand in and an agent of it is the session.
Where [agents] max_running allows less, those come first whose turn was cut.`, exitUsage, exitRefused, exitNotFound, exitLocked, exitMissing, exitBroken),
		Example: `  paw recover
  paw recover shop
  paw recover codex
  paw recover --all --detach
  paw recover shop --dry-run`,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: a.completes(completion.sessionsAndAgents),
		RunE:              a.withHome(o.run),
	}
	f := cmd.Flags()
	f.BoolVarP(&o.All, "all", "a", false, "every session that was active, of all repositories")
	f.BoolVarP(&o.DryRun, "dry-run", "n", false, "say what would be done and do nothing")
	f.BoolVar(&o.AllAgents, "all-agents", false, "also more than [agents] max_running allows")
	f.BoolVarP(&o.detach, "detach", "d", false, "do not attach")
	a.addJSON(cmd)
	a.addSession(cmd)
	return cmd
}

func (o *recoverOptions) run(cmd *cobra.Command, h *app.App, args []string) error {
	if q := o.question(cmd, h, args); len(args) > 0 || q.name != "" {
		s, agents, err := q.sessionAndAgents()
		if err != nil {
			return err
		}
		o.Name, o.Agents = s.Name, agents
	}
	return o.bringBack(cmd, h)
}

func (o *recoverOptions) bringBack(cmd *cobra.Command, h *app.App) error {
	done := o.busy(h, "bringing back")
	recovered, problems, err := orchestrator.Recover(cmd.Context(), h, o.RecoverOptions)
	done()
	if err != nil {
		return err
	}
	failed := slices.ContainsFunc(recovered, func(r orchestrator.Recovered) bool {
		return r.Err != nil || len(r.Unfinished) > 0 || anyRefused(r.Results)
	})
	var last *session.Session
	if o.json {
		err = o.printJSON(recoveredView(recovered, problems, o.noted()))
	} else {
		o.printProblems(problems)
		last = o.printRecovered(recovered)
	}
	switch {
	case err != nil:
		return err
	case failed:
		return exitStatus(errs.Failed)
	case slices.ContainsFunc(recovered, leftOver) && (last == nil || o.DryRun || o.detach || o.All || !isTerminal(o.stdout)):
		return exitStatus(errs.Refused)
	case last == nil || o.DryRun || o.detach || o.All || !isTerminal(o.stdout):
		return o.unread(problems)
	}
	agent := ""
	if len(o.Agents) > 0 {
		agent = o.Agents[0]
	}
	return attachTo(cmd.Context(), o.invocation, h, last, agent)
}

// printRecovered prints the result for each session, and returns the last session that was
// recovered.
func (o *recoverOptions) printRecovered(recovered []orchestrator.Recovered) (last *session.Session) {
	for _, r := range recovered {
		switch {
		case r.Err != nil:
			o.printError(r.Err)
		case r.Left != "":
			fmt.Fprintf(o.stdout, "%s: %s\n", r.Session.Name, r.Left)
		default:
			last = r.Session
			o.printResults(r.Session, r.Results, o.DryRun)
			if line := goOnLine(r); line != "" && !o.DryRun {
				fmt.Fprintln(o.stdout, line)
			}
		}
		for _, one := range r.Unfinished {
			o.sayError(fmt.Sprintf("%s: %s is not finished", r.Session.Name, one), []string{"paw recover " + r.Session.Name})
		}
	}
	return last
}

// goOnLine returns the command that lets recovered agents go on with interrupted turns, "" if there
// are none.
func goOnLine(r orchestrator.Recovered) string {
	var cut []string
	for _, one := range r.Results {
		if one.CutTurn > 0 && one.Kind != launch.ResultRefused {
			cut = append(cut, one.Agent)
		}
	}
	whom := "them"
	switch len(cut) {
	case 0:
		return ""
	case 1:
		whom = "it"
	}
	return errs.Line("paw send %s/%s \"go on\"", r.Session.Name, strings.Join(cut, ",")) + " lets " + whom + " go on"
}

// wouldBe are the words for results that a dry run foresees.
var wouldBe = map[launch.ResultKind]string{
	launch.ResultResumed: "would resume",
	launch.ResultFresh:   "would start fresh",
	launch.ResultRemoved: "would be removed",
}

// printResults prints the result for each agent, or with dryRun the result that it would have.
func (p *printer) printResults(s *session.Session, results []launch.Result, dryRun bool) {
	fmt.Fprintf(p.stdout, "%s  %s\n", s.Name, shortened(s.RepoPath))
	rows := make([][]cell, 0, len(results))
	for _, r := range results {
		word := string(r.Kind)
		if would := wouldBe[r.Kind]; dryRun && would != "" {
			word = would
		}
		rows = append(rows, []cell{{text: r.Agent}, {text: r.CLI}, {word, string(r.Kind)}, {text: r.Reason}})
	}
	p.printTable(p.stdout, "  ", rows)
	for _, r := range results {
		for _, note := range r.Notes {
			p.note(r.Agent + ": " + note)
		}
		if r.Kind == launch.ResultRefused {
			p.sayError(r.Agent+": "+r.Reason, r.Hints)
		}
	}
}

func (p *printer) showPlan(steps []string) error {
	return p.show(object{{"version", 1}, {"plan", steps}, {"notes", p.noted()}}, strings.Join(steps, "\n"))
}

// leftOver reports whether an agent was left because no more may run.
func leftOver(r orchestrator.Recovered) bool {
	return slices.ContainsFunc(r.Results, func(one launch.Result) bool { return one.Kind == launch.ResultLeft })
}

// anyRefused reports whether an agent could not be started.
func anyRefused(results []launch.Result) bool {
	return slices.ContainsFunc(results, func(r launch.Result) bool { return r.Kind == launch.ResultRefused })
}
