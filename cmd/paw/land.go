package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"paw/orchestrator"
	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/landing"
	"paw/orchestrator/teardown"
	"paw/session"
)

type landOptions struct {
	*invocation
	landing.Options
	as         string
	edit, list bool
	undo, all  bool
	remove     bool
	keepGoing  bool
	sendBack   bool
	push       bool
}

func newLand(a *invocation) *cobra.Command {
	o := &landOptions{invocation: a}
	cmd := &cobra.Command{
		Use:   "land AGENT[@N]... | --all | --list | --undo [ID] | --without AGENT@N",
		Short: "Bring what an agent has done into your branch, or take it back",
		Long: exits(`Bring exactly what an agent has done, committed or not, into the branch that was checked
out where the session was started, or into another one. AGENT@N is its state at the end of turn N, whatever
it does meanwhile. Its worktree, index, HEAD and process are not touched. What you have changed in
your checkout stays as it is; where the landing would write over any of it, nothing is done. It lands as one commit whose
message comes from the turns. The checks of the configuration run on what would
land, in a worktree of their own, before anything moves.

Several agents land in the order of paw forecast, up to the first conflict or failed check; with
--keep-going all that pass. --send-back types to each that does not land the conflict, or the check with its last lines, unless
it is at work; --push pushes the branch to its upstream at the end, if all have landed.
--undo takes the last landing back, or that of a number, as long as the branch has not moved on.

--without takes one turn that has landed out of the branch by a new commit: what the turn changed, and nothing else. Where a
later turn, or anybody else, has built on that, it is a conflict that says who. The turn stays out when the agent lands
again. paw undo takes the new commit back; once the branch has moved on, --again lands the turn once more.`,
			exitUsage, exitRefused, "8    conflict with the branch, nothing has moved", exitChecks, exitNotFound, exitLocked, exitMissing),
		Example: `  paw land claude
  paw land claude@3 --dry-run
  paw land codex --into develop --as commits
  paw land --all
  paw land --undo
  paw land --without claude@3`,
		ValidArgsFunction: a.completes(completion.agents),
		RunE:              o.run,
	}
	f := cmd.Flags()
	f.StringVar(&o.Into, "into", "", "branch to land in (default: the one the session was started from)")
	f.StringVar(&o.as, "as", string(landing.Squash), "squash: one commit; commits: each one of the agent; merge: a merge")
	completeFlag(cmd, "into", a.completes(completion.branches))
	completeFlag(cmd, "as", cobra.FixedCompletions(forms, cobra.ShellCompDirectiveNoFileComp))
	f.StringVar(&o.Message, "message", "", "message of the commit (default: from the turns)")
	f.StringArrayVar(&o.Checks, "check", nil, "command that has to pass on what would land (default: [land] checks)")
	f.BoolVar(&o.NoCheck, "no-check", false, "run no checks")
	f.BoolVar(&o.Fresh, "fresh", false, "run checks also on what has passed them before")
	f.BoolVar(&o.Again, "again", false, "land also what the branch had and has lost, as by git revert")
	f.BoolVar(&o.edit, "edit", false, "change the message in your editor")
	f.BoolVar(&o.remove, "remove", false, "remove the agent when its work has landed, as paw remove does")
	f.BoolVarP(&o.all, "all", "a", false, "land the work of all agents at rest whose last turn ended well")
	f.BoolVar(&o.keepGoing, "keep-going", false, "of several agents, land all that pass, whatever stands in the way of others")
	f.BoolVar(&o.sendBack, "send-back", false, "type to each agent that does not land what stood in its way")
	f.BoolVar(&o.push, "push", false, "push the branch to its upstream once all have landed")
	f.BoolVar(&o.list, "list", false, "list what has landed")
	f.BoolVar(&o.undo, "undo", false, "take a landing back, the last one or that of a number")
	f.BoolVar(&o.Without, "without", false, "take the turn AGENT@N out of the branch, which has it")
	f.BoolVarP(&o.DryRun, "dry-run", "n", false, "say what would be done and do nothing")
	addState(cmd, &o.State)
	a.addJSON(cmd)
	a.addSession(cmd)
	return cmd
}

// forms are the values of --as.
var forms = []cobra.Completion{
	cobra.CompletionWithDesc(string(landing.Squash), "one commit"),
	cobra.CompletionWithDesc(string(landing.Commits), "each commit of the agent"),
	cobra.CompletionWithDesc(string(landing.Merge), "a merge"),
}

func (o *landOptions) run(cmd *cobra.Command, args []string) error {
	if err := o.refuseFlags(cmd, args); err != nil {
		return err
	}
	switch {
	case o.list:
		return o.listLandings(cmd)
	case o.undo:
		return o.undoLanding(cmd, args, o.DryRun)
	}
	return o.land(cmd, args)
}

func (o *landOptions) refuseFlags(cmd *cobra.Command, args []string) error {
	if err := alone(cmd, "list"); err != nil {
		return err
	}
	if err := alone(cmd, "undo", "dry-run"); err != nil {
		return err
	}
	if err := alone(cmd, "without", "dry-run", "into", "message", "edit", "check", "no-check", "fresh", "push"); err != nil {
		return err
	}
	switch {
	case o.Without && (o.far != nil || len(args) != 1 || !strings.Contains(args[0], "@")):
		return usagef(cmd, "--without takes one turn of an agent of this machine, AGENT@N").Hint("paw bisect --main")
	case o.list && len(args) > 0:
		return usagef(cmd, "--list takes no agent")
	case o.list, o.undo:
	case o.all && len(args) > 0:
		return usagef(cmd, "--all takes no agent")
	case o.State != "" && (o.all || len(args) == 0):
		return usagef(cmd, "--state is of named agents")
	case o.far != nil && (o.remove || o.sendBack):
		return usagef(cmd, "--remove and --send-back are for agents of this machine").Hint("paw send %s:AGENT PROMPT", o.far.host.Name)
	case o.edit && o.Message != "":
		return usagef(cmd, "--message and --edit exclude each other")
	}
	return nil
}

func (o *landOptions) land(cmd *cobra.Command, args []string) error {
	h, s, numbers, err := o.toLand(cmd, args)
	if err != nil {
		return err
	}
	if h, err = h.ConfiguredFor(s); err != nil {
		return err
	}
	o.As = landing.As(o.as)
	o.Sizes, o.Color = !o.json, o.coloured()
	if o.edit {
		o.Edit = orchestrator.MessageEditor(h, o.stdin, o.stderr, o.stderr)
	}
	var push *landing.Push
	if o.push {
		if push, err = landing.PreparePush(cmd.Context(), h, s, o.Into, orchestrator.Terminal(h, o.stdin, o.stderr, o.json)); err != nil {
			return err
		}
	}
	results := landResults{dryRun: o.DryRun}
	several := landing.Several{Options: o.Options, Numbers: numbers, Skip: o.all, KeepGoing: o.keepGoing}
	if len(args) > 1 && o.State != "" {
		if several.States, err = statesOf(cmd, o.State, numbers); err != nil {
			return err
		}
		several.State = ""
	}
	var all []landOutcome
	err = landing.LandSeveral(cmd.Context(), h, s, several, func(agent string, l *landing.Landed, err error) error {
		if all = append(all, landOutcome{agent, l, err}); err == nil || o.keepGoing {
			results.outcomes = all
		}
		if err == nil {
			results.done = append(results.done, l)
			o.showLanded(cmd.Context(), h, s, l)
			if o.remove && !o.DryRun {
				return o.removeLanded(cmd.Context(), h, l)
			}
		}
		return nil
	})
	if o.sendBack && !o.DryRun && o.far == nil {
		sendBack(cmd.Context(), h, s, o.Into, all)
	}
	pushErr := o.pushLanded(cmd.Context(), push, err)
	results.collisions = landing.CollisionsOf(err)
	results.behind = o.agentsBehind(cmd.Context(), h, s, results.done)
	if o.json && (err == nil || results.any()) {
		return errors.Join(o.printJSON(o.landView(results)), cmp.Or(err, pushErr))
	}
	o.showResults(h, s, results)
	return cmp.Or(err, pushErr)
}

// showResults prints what follows from landings that are shown already.
func (o *landOptions) showResults(h *app.App, s *session.Session, r landResults) {
	behind := r.behind
	if len(r.done) == 1 { // a landing alone is news for the other agents, not for its own
		behind = slices.DeleteFunc(behind, func(name string) bool { return name == r.done[0].Agent })
	}
	if len(behind) > 0 {
		fmt.Fprintln(o.stdout, behindLine(h, s, behind))
	}
	o.showCollisions(r.collisions)
	if o.keepGoing {
		o.showOutcomes(r.outcomes)
	}
}

// sendBack sends each agent that did not land a prompt about the conflict or the failed check.
func sendBack(ctx context.Context, h *app.App, s *session.Session, into string, outcomes []landOutcome) {
	for _, o := range outcomes {
		prompt := landing.BackPrompt(s, into, o.err)
		if prompt == "" {
			continue
		}
		if _, err := orchestrator.SendBack(ctx, h, s, o.agent, prompt); err != nil {
			h.Notef("%v", err)
			continue
		}
		h.Notef("%s: was told what stood in the way", o.agent)
	}
}

func (o *landOptions) pushLanded(ctx context.Context, push *landing.Push, failed error) error {
	say := func(format string, args ...any) {
		if !o.json {
			fmt.Fprintf(o.stdout, format+"\n", args...)
		}
	}
	switch {
	case push == nil:
	case failed != nil:
		say("not pushed: not all have landed")
	case o.DryRun:
		say("push %s", push)
	default:
		pushed, err := push.Do(ctx)
		if err != nil {
			return err
		}
		if !pushed {
			say("nothing to push")
			return nil
		}
		say("pushed %s", push)
	}
	return nil
}

// agentsBehind returns the agents whose branches lack what has landed on the session's target.
func (o *landOptions) agentsBehind(ctx context.Context, h *app.App, s *session.Session, done []*landing.Landed) []string {
	moved := slices.IndexFunc(done, func(l *landing.Landed) bool { return !l.Nothing })
	if o.DryRun || o.far != nil || moved < 0 || s.Target != done[moved].Target {
		return nil
	}
	if o.remove {
		var err error
		if s, err = h.Load(s.Name); err != nil { // without the agents that were removed
			return nil
		}
	}
	made := ""
	if last := done[len(done)-1]; last.As != string(landing.Commits) && !last.Nothing { // a commit that --as commits makes again may be the same as the agent's
		made = last.After
	}
	names, err := landing.Behind(ctx, h, s, made)
	if err != nil {
		h.Notef("who is behind %s is not known: %v", s.Target, err)
	}
	return names
}

func (o *landOptions) removeLanded(ctx context.Context, h *app.App, l *landing.Landed) error {
	s, err := h.Load(l.Session) // read again, with the landing
	if err != nil {
		return err
	}
	how := teardown.Options{}
	if !l.Nothing {
		how.Landed = &l.Landing
	}
	_, err = orchestrator.Remove(ctx, h, s, []string{l.Agent}, how, func(removed *teardown.Removed) {
		if !o.json {
			o.printRemoved(removed)
		}
	})
	return err
}

// toLand returns the agents that are to land, each with the number of a turn or "".
func (o *landOptions) toLand(cmd *cobra.Command, args []string) (*app.App, *session.Session, map[string]string, error) {
	numbers := map[string]string{}
	if o.far != nil {
		h, work, err := o.fetch(cmd, false, !o.DryRun)
		if err != nil {
			return nil, nil, nil, err
		}
		for _, agent := range work.Agents {
			numbers[agent] = ""
		}
		o.Handed = work.Handed
		return h, work.Session, numbers, nil
	}
	if o.all {
		h, s, err := o.session(cmd)
		if err != nil {
			return nil, nil, nil, err
		}
		for _, w := range s.Agents {
			numbers[w.Name] = ""
		}
		return h, s, numbers, nil
	}
	h, s, agents, turns, err := o.agentsAndTurns(cmd, args)
	for i, agent := range agents {
		if _, twice := numbers[agent]; twice {
			return nil, nil, nil, usagef(cmd, "%s: is there twice", agent)
		}
		numbers[agent] = turns[i]
	}
	return h, s, numbers, err
}

// statesOf reads the states of several agents from AGENT=COMMIT[,AGENT=COMMIT...].
func statesOf(cmd *cobra.Command, pairs string, agents map[string]string) (map[string]string, error) {
	states := map[string]string{}
	for pair := range strings.SplitSeq(pairs, ",") {
		agent, state, _ := strings.Cut(pair, "=")
		if _, lands := agents[agent]; !lands || state == "" {
			return nil, usagef(cmd, "--state %s: of several agents it is AGENT=COMMIT", errs.Quote(pair))
		}
		states[agent] = state
	}
	return states, nil
}

// maxBehind limits the agents that are named as behind the branch.
const maxBehind = 3

// behindLine names the agents that lack what has landed, and the command that brings it to them.
func behindLine(h *app.App, s *session.Session, behind []string) string {
	if len(behind) > maxBehind {
		return fmt.Sprintf("%d agents are behind %s: paw update --all%s", len(behind), s.Target, h.Place().Of(s.Name))
	}
	verb := "is"
	if len(behind) > 1 {
		verb = "are"
	}
	return fmt.Sprintf("%s %s behind %s: paw update %s%s", strings.Join(behind, ", "), verb, s.Target, strings.Join(behind, " "), h.Place().Of(s.Name))
}

// showLanded prints a landing, or with --dry-run its plan.
func (o *landOptions) showLanded(ctx context.Context, h *app.App, s *session.Session, l *landing.Landed) {
	out := forReading(o.stdout)
	switch {
	case o.json:
	case o.DryRun && !l.Nothing:
		fmt.Fprintln(out, strings.Join(o.landPlan(ctx, h, s, l), "\n"))
	case l.Nothing:
		fmt.Fprintln(out, l)
	default:
		fmt.Fprintln(out, strings.Join(landedLines(h, l), "\n"))
	}
}

// showCollisions prints the files of a conflict, before the error.
func (o *landOptions) showCollisions(files []landing.Collision) {
	rows := [][]cell{}
	for _, f := range files {
		rows = append(rows, texts(f.Path, f.With))
	}
	o.printTable(o.stdout, "  ", rows)
}
