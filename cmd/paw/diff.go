package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"paw/config/disk"
	"paw/orchestrator"
	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/session"
)

type diffOptions struct {
	*invocation
	orchestrator.DiffOptions
	mark bool
}

func newDiff(a *invocation) *cobra.Command {
	o := &diffOptions{invocation: a}
	cmd := &cobra.Command{
		Use:   "diff [AGENT[@N]] [N | N..M | AGENT] [-- PATH...]",
		Short: "Show what an agent changed",
		Long: exits(`Show what an agent changed, as a patch that git apply takes. Work that your branch already has
is left out. A single turn is compared with the state at its begin, so what you edited between
turns is not shown as the agent's. Of two agents - is the first one's and + the second one's,
and their names stand in front of the paths. --unseen is what is new since paw seen, a landing
or --mark. Showing something does not mark it.`, exitUsage, exitRefused, exitNotFound, exitMissing),
		Example: `  paw diff claude                    all that would land, committed or not
  paw diff claude 2                  what turn 2 changed; last is the last turn
  paw diff claude 0..3 | git apply   turns 1 to 3; 0 is the base
  paw diff claude codex              how the two differ now
  paw diff claude --unseen --mark    what is new, and marked as seen
  paw diff claude --stat -- src      names and sizes, below src`,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: a.completes(completion.agentAndTurn),
		RunE:              o.run,
	}
	f := cmd.Flags()
	f.BoolVar(&o.Unseen, "unseen", false, "only what is new since you looked last")
	f.BoolVar(&o.mark, "mark", false, "mark what is shown as seen")
	f.Bool("stat", false, "only the names and sizes of the changes")
	f.Bool("numstat", false, "lines added, lines deleted, and the name, for programs")
	f.Bool("name-only", false, "only the names")
	f.BoolVarP(&o.Force, "force", "f", false, "also of a turn without a snapshot: by its commit alone")
	addState(cmd, &o.State)
	a.addJSON(cmd)
	a.addSession(cmd)
	return cmd
}

// form sets how the changes are shown, as the flags say.
func (o *diffOptions) form(cmd *cobra.Command) error {
	shown := ""
	for _, flag := range []string{"stat", "numstat", "name-only", "json"} {
		on, _ := cmd.Flags().GetBool(flag)
		switch {
		case on && shown != "":
			return usagef(cmd, "--%s and --%s exclude each other", shown, flag)
		case on:
			shown = flag
		}
	}
	if !o.json {
		o.Form = shown
	}
	return nil
}

func (o *diffOptions) run(cmd *cobra.Command, args []string) error {
	if err := o.form(cmd); err != nil {
		return err
	}
	if dash := cmd.ArgsLenAtDash(); dash >= 0 {
		args, o.Paths = args[:dash], args[dash:]
	}
	if len(args) > 2 {
		return usagef(cmd, "%s: is one too many; paths come behind --", args[2])
	}
	h, s, agent, number, err := o.agentAndTurn(cmd, o.bothOf(o.withoutTarget(args)))
	if err != nil {
		return err
	}
	if number != "" && (o.Unseen || o.mark) {
		return usagef(cmd, "%s: --unseen and --mark are about the agent as it is now", number)
	}
	if o.State != "" && (number != "" || o.mark) {
		return usagef(cmd, "--state is a state of the agent, and marks nothing")
	}
	if o.mark && len(o.Paths) > 0 {
		return usagef(cmd, "--mark is about all of it, and not about paths")
	}
	if isTurns(number) {
		o.Range = number
	} else if o.Than = strings.TrimPrefix(number, s.Name+"/"); s.Agent(o.Than) == nil {
		e := errs.New(errs.Usage, "%s: neither the number of a turn nor an agent of %s", number, s.Name)
		if number == "HEAD" {
			return e.Hint("paw sh %s/%s git diff HEAD", s.Name, agent)
		}
		if w := s.Agent(agent); w != nil && disk.Exists(filepath.Join(w.WorktreePath, number)) {
			return e.Hint("paw diff %s/%s -- %s", s.Name, agent, errs.Quote(number))
		}
		return e.Hint("paw status %s", s.Name)
	}
	o.Color, o.Reads = o.coloured(), !o.mark
	compared, err := orchestrator.Compare(cmd.Context(), h, s, agent, o.DiffOptions)
	if err != nil {
		return err
	}
	defer compared.Close()
	if n := len(compared.Conflict); n > 0 {
		o.note(fmt.Sprintf("%s: conflicts with what it would land on in %s; this is what it has done since both were the same", agent, errs.Counted(n, "file")))
	}
	if o.json {
		return o.printDiff(cmd, s, agent, compared)
	}
	err = o.paged(cmd.Context(), h, func() error { return compared.Patch(cmd.Context(), o.DiffOptions, forChild(o.stdout)) })
	if err == nil && isTerminal(o.stdout) {
		if files, err := compared.Files(cmd.Context(), o.DiffOptions); err == nil && len(files) == 0 {
			o.note(agent + ": no changes to show")
		}
	}
	if err == nil && o.mark {
		_, err = compared.MarkSeen(cmd.Context())
	}
	return err
}

// printDiff prints the files of a comparison as JSON.
func (o *diffOptions) printDiff(cmd *cobra.Command, s *session.Session, agent string, compared *orchestrator.Compared) error {
	files, err := compared.Files(cmd.Context(), o.DiffOptions)
	if err == nil && o.mark {
		_, err = compared.MarkSeen(cmd.Context())
	}
	if err != nil {
		return err
	}
	return o.printJSON(object{
		{"version", 1}, {"session", s.Name}, {"agent", agent}, {"conflicts", compared.Conflict},
		{"files", objects(files, func(f orchestrator.FileChange) object {
			added, deleted := &f.Added, &f.Deleted
			if f.Binary {
				added, deleted = nil, nil
			}
			return object{{"path", f.Path}, {"from", orNull(f.From)}, {"status", f.Status}, {"added", added}, {"deleted", deleted}}
		})}, {"notes", o.noted()},
	})
}

// bothOf splits A..B or A...B, as git writes ranges, if both are agents.
func (o *diffOptions) bothOf(args []string) []string {
	if len(args) != 1 {
		return args
	}
	one, other, both := strings.Cut(args[0], "..")
	if s := o.sessionHere(); both && s.Agent(one) != nil && s.Agent(strings.TrimPrefix(other, ".")) != nil {
		return []string{one, strings.TrimPrefix(other, ".")}
	}
	return args
}

// withoutTarget drops the target branch from the end of "paw diff AGENT main": paw diff AGENT
// without a turn already compares the agent with the target.
func (o *diffOptions) withoutTarget(args []string) []string {
	if len(args) == 0 {
		return args
	}
	last := len(args) - 1
	if s := o.sessionHere(); s.Target != "" && args[last] == s.Target && s.Agent(s.Target) == nil {
		return args[:last]
	}
	return args
}

// addState adds the hidden flag --state, with which the desk names the state of an agent that it
// has shown.
func addState(cmd *cobra.Command, state *string) {
	cmd.Flags().StringVar(state, "state", "", "commit of the agent's state that was shown")
	_ = cmd.Flags().MarkHidden("state") // fails only for an undefined flag
}

type seenOptions struct {
	*invocation
	state string
}

func newSeen(a *invocation) *cobra.Command {
	o := &seenOptions{invocation: a}
	cmd := &cobra.Command{
		Use:   "seen [AGENT[@N]...]",
		Short: "Mark what an agent has done as seen",
		Long: exits(`Mark all that an agent has done as seen, committed or not, or what it had done at the end
of turn N (0 is its base). paw diff --unseen shows what comes after that, and paw status
counts the finished turns that are left to review. Without AGENT it is the one whose
worktree you stand in, or the session's only one.`, exitUsage, exitRefused, exitNotFound, exitMissing),
		Example: `  paw diff claude --unseen
  paw seen claude
  paw seen claude@3
  paw seen claude codex`,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: a.completes(completion.agents),
		RunE:              o.run,
	}
	addState(cmd, &o.state)
	a.addSession(cmd)
	return cmd
}

func (o *seenOptions) run(cmd *cobra.Command, args []string) error {
	if o.state != "" && len(args) > 1 {
		return usagef(cmd, "--state is of one agent")
	}
	return o.eachAgent(cmd, args, func(h *app.App, s *session.Session, agent, number string) error {
		if o.state != "" && number == "" {
			return usagef(cmd, "--state takes the turn up to which it is: %s@N", agent)
		}
		seen, err := orchestrator.MarkSeen(cmd.Context(), h, s, agent, number, o.state)
		if err != nil {
			return err
		}
		fmt.Fprintln(o.stdout, seen)
		return nil
	})
}
