package orchestrator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"paw/orchestrator/app"
	"paw/orchestrator/cli"
	"paw/orchestrator/errs"
	"paw/orchestrator/launch"
	"paw/orchestrator/startplan"
	"paw/orchestrator/turns"
	"paw/session"
	"paw/session/turn"
	"paw/worktree"
)

// headlessTurn is one headless turn on its way; whoever has it holds the agent's lock.
type headlessTurn struct {
	*heldAgent
	home    *app.App
	o       RunOptions
	spec    cli.Spec
	command cli.Command
	one     *turn.Turn
	notes   []string
}

// prepareRun refuses what cannot work, takes the agent's lock and decides how to
// run its CLI. Nothing of a turn is written.
func prepareRun(ctx context.Context, h *app.App, s *session.Session, o RunOptions) (r *headlessTurn, err error) {
	w, err := app.AgentNamed(s, o.Agent)
	if err != nil {
		return nil, err
	}
	cli, executable, err := h.ProgramOf(w)
	if err != nil {
		return nil, err
	}
	if err := requireHeadless(h, cli, executable, o.Prompt); err != nil {
		return nil, err
	}
	held, err := holdAgent(ctx, h, s, o.Agent, cli)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			held.giveBack()
		}
	}()
	if err := worktree.Verify(held.w.WorktreePath, held.s.GitCommonDir, ""); err != nil {
		return nil, errs.New(errs.Refused, "%s: not run: %w", o.Agent, err).Hint("paw recover %s", s.Name)
	}
	turns.Cut(ctx, h, held.s, *held.w, turn.ReasonCrash)
	r = &headlessTurn{heldAgent: held, home: h, o: o}
	return r, r.choose(ctx, executable)
}

// requireHeadless refuses CLIs without a one-shot mode, and prompts that it cannot take.
func requireHeadless(h *app.App, c cli.CLI, executable, prompt string) error {
	_, err := c.Headless(h.DraftSpec(c, executable, prompt))
	var refused *cli.PromptError
	switch {
	case errors.Is(err, cli.ErrNoHeadless):
		return errs.New(errs.Usage, "%s: has no one-shot mode that paw knows", c.Name()).Hint("paw clis")
	case errors.As(err, &refused):
		return errs.New(errs.Usage, "%w", err)
	}
	return nil // anything else is about a conversation, and this one is made up
}

// choose settles the conversation of the turn, writes a new one into the record
// before it exists, and builds the command.
func (r *headlessTurn) choose(ctx context.Context, executable string) error {
	h := r.home
	r.spec = h.Spec(r.s, r.w, executable)
	r.spec.Hook, r.spec.Prompt = "", r.o.Prompt // paw itself knows the begin and the end
	how := launch.FindContinuation(ctx, h, r.s, r.cli, r.spec)
	switch {
	case how.Resumable:
		r.spec.ConversationID = cmp.Or(how.Found, r.spec.ConversationID)
	case !r.cli.Facts().ChoosesID:
		r.spec.ConversationID = ""
	case !how.KeepID:
		r.spec.ConversationID = how.NewID
	}
	if !how.Resumable && r.w.TurnHighWater > 0 {
		r.notes = append(r.notes, "a fresh conversation: "+how.FreshReason)
	}
	if err := r.remember(ctx, r.spec.ConversationID); err != nil {
		return err
	}
	var err error
	if r.command, err = r.cli.Headless(r.spec); err != nil {
		return errs.New(errs.Failed, "%s: %w", r.w.Name, err)
	}
	for _, file := range r.command.Files {
		if err := app.WritePrivate(file.Path, file.Content); err != nil {
			return err
		}
	}
	return nil
}

// remember makes a conversation the newest of the record.
func (r *headlessTurn) remember(ctx context.Context, id string) error {
	if id == "" || r.w.Conversation() == id {
		return nil
	}
	r.w.AddConversation(id)
	return r.home.UpdateAgent(ctx, r.s.Name, r.w.Name, func(w *session.Agent) { w.AddConversation(id) })
}

// addHeadless makes an agent for headless turns: a branch, a worktree with its
// set-up and tag 0, as add does, and no pane. It returns the record, the agent's
// name and what the user would otherwise miss.
func addHeadless(ctx context.Context, h *app.App, s *session.Session, o RunOptions) (*session.Session, string, []string, error) {
	add := *o.New
	add.Headless = true
	rec, a, err := startplan.Add(ctx, h, s, add, func(agents []startplan.Agent) error {
		if len(agents) != 1 {
			return errs.New(errs.Usage, "--cli: one CLI at a time can run a turn").Hint("paw clis")
		}
		cli, _ := h.CLIs.Get(agents[0].CLI)
		executable, err := h.Program(cli)
		if err != nil {
			return err
		}
		return requireHeadless(h, cli, executable, o.Prompt)
	}, nil)
	if err != nil {
		return nil, "", nil, err
	}
	name := a.Draft.Agents[0].Name
	jobs := []launch.Job{{Agent: name, Worktree: launch.WorktreeCreate, Result: launch.ResultStopped, Notes: a.Notes[name]}}
	err = launch.TagStarts(ctx, h, a.Manager, rec, jobs)
	if err == nil {
		err = launch.PrepareWorktrees(ctx, h, a.Manager, rec, jobs)
	}
	saved := rec
	if err == nil {
		saved, err = launch.SettleHeadless(ctx, h, rec, jobs)
	}
	if err == nil && jobs[0].Result == launch.ResultRefused {
		err = errs.New(errs.Failed, "%s: %s", name, jobs[0].Reason).Hint("paw recover %s", s.Name)
	}
	if err != nil {
		return nil, "", nil, launch.UndoAdd(h, rec, a.Plans, err)
	}
	notes := append(jobs[0].Notes, notes(ctx, h, a.Manager, &a.Draft, nil)()...)
	return saved, name, notes, nil
}

// turnResult is the answer of a CLI, or why the turn is aborted.
func turnResult(c cli.CLI, e cli.Ended) (answer string, failed *turn.Abort) {
	if e.Err != nil {
		return "", &turn.Abort{Reason: turn.ReasonError, Message: e.Err.Error(), Cause: e.Err}
	}
	if e.Signal != 0 {
		return "", &turn.Abort{Reason: turn.ReasonError, ErrorType: "signal", Trace: e.Trace,
			Message: fmt.Sprintf("%s was killed by signal %d (%s)", c.Name(), int(e.Signal), unix.SignalName(e.Signal))}
	}
	answer, err := c.HeadlessResult(e.Stdout, e.ExitCode)
	if err == nil && e.ExitCode == 0 {
		return answer, nil
	}
	failed = &turn.Abort{Reason: turn.ReasonError, Trace: e.Trace, Cause: err}
	var said *cli.TurnError
	if errors.As(err, &said) {
		failed.ErrorType, failed.Message = said.Type, said.Message
	}
	if failed.Message == "" {
		failed.Message = lastLine(e.Trace)
	}
	if failed.Message == "" {
		failed.Message = fmt.Sprintf("%s ended with exit code %d", c.Name(), e.ExitCode)
	}
	return "", failed
}

// execute runs the command of a headless turn until it ends or ctx does, shows
// what it says and keeps that beside the log.
func (r *headlessTurn) execute(ctx context.Context) cli.Ended {
	kept := &launch.SharedWriter{W: r.output()}
	defer kept.Close()
	return cli.Process{
		Argv: r.command.Argv, Dir: r.w.WorktreePath, Env: r.environment(),
		Lock: r.lock, // killed or not, paw must not let anybody start a second CLI
		Stdout: func(line []byte) {
			text := r.cli.HeadlessLine(line)
			show(kept, text)
			show(r.o.Out, text)
		},
		Stderr: func(line []byte) {
			text := string(line) + "\n"
			show(kept, text)
			show(r.o.Err, text)
		},
		Began: func(pid int) { _ = session.NoteCLI(r.lock, pid) }, // only a CLI that closes its lock needs it
		Started: func(kill func()) {
			if r.o.Started != nil {
				r.o.Started(kill)
			}
		},
	}.Run(ctx)
}

// environment is that of a launch, without its mark: no hook of this CLI, or of
// one that it starts, is to count a turn that paw itself counts.
func (r *headlessTurn) environment() []string {
	env := launch.Environment(r.home, r.s, r.w, r.generation, r.command)
	return slices.DeleteFunc(env, func(kv string) bool { return strings.HasPrefix(kv, "PAW_LAUNCH=") })
}

// output opens the file beside the turn's log that keeps what the user saw; nil
// when it cannot be made: that must not cost the turn.
func (r *headlessTurn) output() io.Writer {
	f, err := os.OpenFile(strings.TrimSuffix(r.one.Path(), ".log")+".output", os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
	if err != nil {
		_ = r.one.Note("its output is not kept: " + err.Error())
		return nil
	}
	return f
}

// show writes to the user, who may have gone away.
func show(to io.Writer, text string) {
	if to != nil && text != "" {
		_, _ = io.WriteString(to, text)
	}
}

// lastLine is the last line of text that says something.
func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:])
}
