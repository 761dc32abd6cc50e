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
	"time"

	"golang.org/x/sys/unix"

	"paw/config/display"
	"paw/orchestrator/app"
	"paw/orchestrator/children"
	"paw/orchestrator/cli"
	"paw/orchestrator/errs"
	"paw/orchestrator/launch"
	"paw/orchestrator/observe"
	"paw/orchestrator/turns"
	"paw/session"
	"paw/session/turn"
	"paw/worktree/gitdir"
)

// closePatience bounds the steps after the end of the CLI: snapshot, log and tag.
const closePatience = 2 * time.Minute

// Run does one turn of an agent in the foreground, without a pane: the CLI's one-shot mode in the
// agent's worktree and conversation. It refuses while the agent's CLI runs, and holds the agent's
// lock, which keeps other processes from starting the CLI. For a turn that failed it returns both
// the turn and an error.
func Run(ctx context.Context, h *app.App, s *session.Session, o RunOptions) (*Ran, error) {
	if o.Type == "" {
		o.Type = turn.TypePrompt
	}
	if err := o.Type.Validate(); err != nil {
		return nil, errs.New(errs.Usage, "--type: %w", err)
	}
	if strings.TrimSpace(o.Prompt) == "" {
		return nil, errs.New(errs.Usage, "the prompt is empty").Hint("paw run --help")
	}
	h, err := h.ConfiguredFor(s)
	if err != nil {
		return nil, err
	}
	if err := h.RequireGit(ctx); err != nil {
		return nil, err
	}
	var notes []string
	if o.Agent == "" {
		if s, o.Agent, notes, err = addHeadless(ctx, h, s, o); err != nil {
			return nil, err
		}
	}
	r, err := prepareRun(ctx, h, s, o)
	if err != nil {
		return nil, err
	}
	defer children.ClaimAfter(h, s.Name, o.Agent, 0, true) // runs after the lock is free: a turn counts as open until then
	defer r.giveBack()
	r.notes = append(notes, r.notes...)
	return r.do(ctx)
}

// do runs the turn from START to its tag.
func (r *headlessTurn) do(ctx context.Context) (*Ran, error) {
	if ctx.Err() != nil {
		return nil, r.interrupted(0)
	}
	// A begun turn is always closed: Ctrl-C only ends the CLI.
	lasting, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	if r.o.Started != nil {
		r.o.Started(func() {})
	}
	if err := r.begin(lasting); err != nil {
		return nil, err
	}
	r.App.Step("run.executed")
	end := r.execute(ctx)
	r.App.Step("run.ended")
	lasting, cancel = context.WithTimeout(lasting, closePatience)
	defer cancel()
	failure := r.close(lasting, end)
	ran, err := r.ran(lasting)
	if failure == nil {
		failure = err
	}
	return ran, failure
}

// begin claims the turn number and writes START and EXECUTE to the log.
func (r *headlessTurn) begin(ctx context.Context) error {
	err := turns.Change(ctx, r.Agent, func(t *turns.Recorder) error {
		t.Strict = true
		one, err := t.Begin(ctx, turn.Start{
			Type: r.o.Type, Prompt: r.o.Prompt, Conversation: r.spec.ConversationID,
			Launch: observe.LaunchID(r.Session.Name, r.Record.Name, r.generation),
		})
		if err != nil {
			return err
		}
		r.one = one
		argv := launch.RecordedCommand(r.command.Argv, r.o.Prompt)
		return one.Execute("one-shot mode: " + strings.Join(argv, " "))
	})
	if taken, ok := errors.AsType[*turns.TagTakenError](err); ok {
		return errs.New(errs.Failed, "%s: %w", r.Record.Name, err).Hint("git show --no-patch %s", taken.Tag)
	}
	return err
}

// close writes the end of the turn to the log, and returns the error for the user.
func (r *headlessTurn) close(ctx context.Context, end cli.Ended) error {
	answer, failed := turnResult(r.cli, end)
	if failed == nil {
		failed = r.silentError(ctx)
	}
	var failure error
	err := turns.Change(ctx, r.Agent, func(t *turns.Recorder) error {
		if found, err := r.cli.Conversation(ctx, r.spec); err == nil && found.Transcript != "" && found.Transcript != t.Record.TranscriptPath {
			_ = t.KeepTranscript(ctx, found.Transcript)
		}
		switch {
		case end.Interrupted:
			failure = r.interrupted(r.one.Number())
			return t.Abort(ctx, r.one, &turn.Abort{Reason: turn.ReasonInterrupted})
		case failed != nil:
			failure = errs.New(errs.AgentFailed, "%s: turn %d failed: %s", r.Record.Name, r.one.Number(), failed.Message).Hint("paw turns %s/%s", r.Session.Name, r.Record.Name)
			return t.Abort(ctx, r.one, failed)
		default:
			_, err := t.Finish(ctx, r.one, answer)
			return err
		}
	})
	if failure != nil && err != nil {
		r.App.Notef("%s: turn %d: %v", r.Record.Name, r.one.Number(), err)
	}
	if failure == nil && err != nil {
		return errs.New(errs.Failed, "%s: turn %d: %w", r.Record.Name, r.one.Number(), err).Hint("paw recover %s", r.Session.Name)
	}
	return failure
}

// silentError returns the error that only the CLI's own record has of the turn: copilot tells of it as of an answer.
func (r *headlessTurn) silentError(ctx context.Context) *turn.Abort {
	if !r.cli.Facts().SilentErrors {
		return nil
	}
	last := r.one.Record()
	last.Conversation = r.spec.ConversationID
	seen, _ := r.cli.Observe(ctx, r.spec, &last) // without a record the answer counts
	if seen.Ended == nil || seen.Ended.Kind != turn.KindError {
		return nil
	}
	return &turn.Abort{Reason: turn.ReasonError, ErrorType: seen.Ended.ErrorType, Message: seen.Ended.Message}
}

// interrupted returns the error of a turn that the user interrupted.
func (r *headlessTurn) interrupted(number int) error {
	if number == 0 {
		return errs.New(errs.Interrupted, "%s: interrupted, no turn was begun", r.Record.Name)
	}
	return errs.New(errs.Interrupted, "%s: turn %d interrupted", r.Record.Name, number)
}

// hear records what the CLI tells of its conversation and of a question, which the user is told.
func (r *headlessTurn) hear(ctx context.Context, e turn.Event) {
	if e.Conversation != "" && r.cli.CheckID(e.Conversation) == nil {
		r.spec.ConversationID = e.Conversation
		_ = turns.KeepConversation(ctx, r.Agent, e.Conversation)
	}
	if e.Kind == "" {
		return
	}
	came := r.App.Now()
	err := turns.Change(ctx, r.Agent, func(*turns.Recorder) error {
		if e.Kind == turn.KindInput {
			return r.one.Input(e.Message, "")
		}
		return r.one.Resumed()
	})
	if err != nil {
		r.App.Notef("%s: turn %d: %v", r.Record.Name, r.one.Number(), err)
	}
	if e.Kind == turn.KindInput {
		r.App.Notef("%s asks for permission: %s (paw answer %s/%s)", r.Record.Name, e.Message, r.Session.Name, r.Record.Name)
		notifyOf(r.App, r.Session.Name, r.Record.Name, came)
	}
}

// ran reads the finished turn from the log.
func (r *headlessTurn) ran(ctx context.Context) (*Ran, error) {
	ran := &Ran{Session: r.Session, Agent: r.Record.Name, Turn: turns.Turn{Record: r.one.Record()}, Notes: r.notes}
	repository, err := gitdir.Discover(r.Session.GitCommonDir)
	if err != nil {
		return ran, err
	}
	m := r.App.Manager(repository)
	list, _, err := turns.List(ctx, r.In(m))
	if err == nil {
		err = list.CountFiles(ctx, m)
	}
	if err != nil {
		return ran, err
	}
	for _, one := range list.Turns {
		if one.Number == r.one.Number() {
			ran.Turn = one
		}
	}
	return ran, nil
}

// Ran is the result of a headless turn that was begun.
type Ran struct {
	Session *session.Session
	Agent   string
	Turn    turns.Turn
	Notes   []string // notes for the user
}

// execute runs the command of a headless turn until the command ends or ctx is done, and writes the
// output to the user and to a file beside the log.
func (r *headlessTurn) execute(ctx context.Context) cli.Ended {
	kept := r.output()
	defer kept.Close()
	return cli.Process{
		Argv: r.command.Argv, Dir: r.Record.WorktreePath, Env: r.environment(),
		Lock: r.lock, // inherited, so that even when paw is killed no other process starts a second CLI
		Stdout: func(line []byte) {
			text, event := r.cli.HeadlessLine(line)
			show(kept, text)
			show(r.o.Out, display.Printable(text))
			r.hear(context.WithoutCancel(ctx), event)
		},
		Stderr: func(line []byte) {
			text := string(line) + "\n"
			show(kept, text)
			show(r.o.Err, display.Printable(text))
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
	env := launch.Environment(r.Agent, r.generation, r.command)
	return slices.DeleteFunc(env, func(kv string) bool { return strings.HasPrefix(kv, "PAW_LAUNCH=") })
}

// output opens the file beside the turn's log that keeps the CLI's output, and returns nil if that
// fails: the turn goes on without the file.
func (r *headlessTurn) output() *os.File {
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
	if said, ok := errors.AsType[*cli.TurnError](err); ok {
		failed.ErrorType, failed.Message = said.Type, said.Message
	}
	failed.Message = cmp.Or(failed.Message, display.LastLine(e.Trace), fmt.Sprintf("%s ended with exit code %d", c.Name(), e.ExitCode))
	return "", failed
}
