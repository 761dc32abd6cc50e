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
	"paw/worktree/gitdir"
)

// headlessTurn is a headless turn in progress; it holds the agent's lock.
type headlessTurn struct {
	*heldAgent
	home    *app.App
	o       RunOptions
	spec    cli.Spec
	command cli.Command
	one     *turn.Turn
	notes   []string
}

// prepareRun refuses a run that cannot work, takes the agent's lock and builds the CLI's command.
// It writes nothing of the turn.
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
	if err := gitdir.Verify(held.w.WorktreePath, held.s.GitCommonDir, ""); err != nil {
		return nil, errs.New(errs.Refused, "%s: not run: %w", o.Agent, err).Hint("paw recover %s", s.Name)
	}
	turns.Cut(ctx, h, held.s, *held.w, turn.ReasonCrash)
	r = &headlessTurn{heldAgent: held, home: h, o: o}
	return r, r.choose(ctx, executable)
}

// requireHeadless refuses a CLI that has no one-shot mode, and a prompt that the mode does not
// accept.
func requireHeadless(h *app.App, c cli.CLI, executable, prompt string) error {
	_, err := c.Headless(h.Specs().Draft(c, executable, prompt))
	var refused *cli.PromptError
	switch {
	case errors.Is(err, cli.ErrNoHeadless):
		return errs.New(errs.Usage, "%s: has no one-shot mode that paw knows", c.Name()).Hint("paw clis")
	case errors.As(err, &refused):
		return errs.New(errs.Usage, "%w", err)
	}
	return nil // other errors are about the conversation, which is made up in a draft
}

// choose picks the conversation of the turn, writes a new one into the record before the CLI makes
// it, and builds the command.
func (r *headlessTurn) choose(ctx context.Context, executable string) error {
	h := r.home
	r.spec = h.Specs().Launch(r.s, r.w, executable)
	r.spec.Hook, r.spec.Prompt = "", r.o.Prompt // Run itself records the begin and the end of the turn
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

// remember makes a conversation the newest one in the record.
func (r *headlessTurn) remember(ctx context.Context, id string) error {
	if id == "" || r.w.Conversation() == id {
		return nil
	}
	r.w.AddConversation(id)
	return r.home.UpdateAgent(ctx, r.s.Name, r.w.Name, func(w *session.Agent) { w.AddConversation(id) })
}

// addHeadless adds an agent for headless turns: a branch, a worktree with its set-up and tag 0, as
// Add does, and no pane. It returns the record, the agent's name and notes for the user.
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

// turnResult returns the answer of a CLI, or the reason to abort the turn.
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

// execute runs the command of a headless turn until the command ends or ctx is done, and writes the
// output to the user and to a file beside the log.
func (r *headlessTurn) execute(ctx context.Context) cli.Ended {
	kept := &launch.SharedWriter{W: r.output()}
	defer kept.Close()
	return cli.Process{
		Argv: r.command.Argv, Dir: r.w.WorktreePath, Env: r.environment(),
		Lock: r.lock, // inherited, so that even when paw is killed no other process starts a second CLI
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
		Began: func(pid int) { _ = session.NoteCLI(r.lock, pid) }, // needed for a CLI that closes the inherited lock
		Started: func(kill func()) {
			if r.o.Started != nil {
				r.o.Started(kill)
			}
		},
	}.Run(ctx)
}

// environment returns the environment of a launch without PAW_LAUNCH: hooks of this CLI, and of
// CLIs that it starts, must not count the turn, since Run counts it.
func (r *headlessTurn) environment() []string {
	env := launch.Environment(r.home, r.s, r.w, r.generation, r.command)
	return slices.DeleteFunc(env, func(kv string) bool { return strings.HasPrefix(kv, "PAW_LAUNCH=") })
}

// output opens the file beside the turn's log that keeps the CLI's output, and returns nil if that
// fails: the turn goes on without the file.
func (r *headlessTurn) output() io.Writer {
	f, err := os.OpenFile(strings.TrimSuffix(r.one.Path(), ".log")+".output", os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
	if err != nil {
		_ = r.one.Note("its output is not kept: " + err.Error())
		return nil
	}
	return f
}

// show writes text and drops errors, as those of a closed terminal.
func show(to io.Writer, text string) {
	if to != nil && text != "" {
		_, _ = io.WriteString(to, text)
	}
}

// lastLine returns the last line of a text that is not blank.
func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:])
}
