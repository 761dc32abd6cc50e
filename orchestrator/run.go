package orchestrator

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"time"

	"paw/orchestrator/app"
	"paw/orchestrator/children"
	"paw/orchestrator/cli"
	"paw/orchestrator/errs"
	"paw/orchestrator/launch"
	"paw/orchestrator/live"
	"paw/orchestrator/observe"
	"paw/orchestrator/startplan"
	"paw/orchestrator/turns"
	"paw/session"
	"paw/session/turn"
	"paw/worktree"
)

// closePatience bounds what follows the end of the CLI: a snapshot, the log, the tag.
const closePatience = 2 * time.Minute

// Run does one turn of an agent in the foreground, without a pane: the CLI's
// one-shot mode in the agent's worktree and conversation. It is refused while the
// agent's CLI runs, and keeps everybody else from starting it. With a turn that
// did not succeed come both the turn and an error.
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
	defer children.ClaimAfter(h, s.Name, o.Agent, live.Claim{}) // once the lock is free: until then the turn is under way
	defer r.giveBack()
	r.notes = append(notes, r.notes...)
	return r.do(ctx)
}

// do runs the turn from its claim to its tag.
func (r *headlessTurn) do(ctx context.Context) (*Ran, error) {
	if ctx.Err() != nil {
		return nil, r.interrupted(0)
	}
	// What is begun is finished: the user's Ctrl-C is for the CLI.
	lasting, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	if r.o.Started != nil {
		r.o.Started(func() {})
	}
	if err := r.begin(lasting); err != nil {
		return nil, err
	}
	r.home.Step("run.executed")
	end := r.execute(ctx)
	r.home.Step("run.ended")
	lasting, cancel = context.WithTimeout(lasting, closePatience)
	defer cancel()
	failure := r.close(lasting, end)
	ran, err := r.ran(lasting)
	if failure == nil {
		failure = err
	}
	return ran, failure
}

// begin claims the number and writes START and EXECUTE.
func (r *headlessTurn) begin(ctx context.Context) error {
	err := turns.Change(ctx, r.home, r.s, r.w, func(t *turns.Recorder) error {
		t.Strict = true
		one, err := t.Begin(ctx, turn.Start{
			Type: r.o.Type, Prompt: r.o.Prompt, Conversation: r.spec.ConversationID,
			Launch: observe.LaunchID(r.s.Name, r.w.Name, r.generation),
		})
		if err != nil {
			return err
		}
		r.one = one
		argv := launch.RecordedCommand(r.command.Argv, r.o.Prompt)
		return one.Execute("one-shot mode: " + strings.Join(argv, " "))
	})
	var taken *turns.TagTakenError
	if errors.As(err, &taken) {
		return errs.New(errs.Failed, "%s: %w", r.w.Name, err).Hint("git show --no-patch %s", taken.Tag)
	}
	return err
}

// close writes how the turn ended; the error is what the user is told.
func (r *headlessTurn) close(ctx context.Context, end cli.Ended) error {
	answer, failed := turnResult(r.cli, end)
	var failure error
	err := turns.Change(ctx, r.home, r.s, r.w, func(t *turns.Recorder) error {
		r.learn(ctx, t, end)
		switch {
		case end.Interrupted:
			failure = r.interrupted(r.one.Number())
			return t.Abort(ctx, r.one, &turn.Abort{Reason: turn.ReasonInterrupted})
		case failed != nil:
			failure = errs.New(errs.AgentFailed, "%s: turn %d failed: %s", r.w.Name, r.one.Number(), failed.Message).Hint("paw turns %s %s", r.s.Name, r.w.Name)
			return t.Abort(ctx, r.one, failed)
		default:
			_, err := t.Finish(ctx, r.one, answer)
			return err
		}
	})
	if failure != nil && err != nil {
		r.home.Notef("%s: turn %d: %v", r.w.Name, r.one.Number(), err)
	}
	if failure == nil && err != nil {
		return errs.New(errs.Failed, "%s: turn %d: %w", r.w.Name, r.one.Number(), err).Hint("paw recover %s", r.s.Name)
	}
	return failure
}

// interrupted is the error of a turn that the user stopped.
func (r *headlessTurn) interrupted(number int) error {
	if number == 0 {
		return errs.New(errs.Interrupted, "%s: interrupted, no turn was begun", r.w.Name)
	}
	return errs.New(errs.Interrupted, "%s: turn %d interrupted", r.w.Name, number)
}

// learn remembers the conversation of a CLI that chose it itself, and its file.
func (r *headlessTurn) learn(ctx context.Context, t *turns.Recorder, end cli.Ended) {
	if !r.cli.Facts().ChoosesID {
		if id := cli.StreamConversation(end.Stdout); id != "" {
			r.spec.ConversationID = id
			_ = t.KeepConversation(ctx, id)
		}
	}
	found, err := r.cli.Conversation(ctx, r.spec)
	if err == nil && found.Transcript != "" && found.Transcript != t.Agent.TranscriptPath {
		_ = t.KeepTranscript(ctx, found.Transcript)
	}
}

// ran reads back what became of the turn.
func (r *headlessTurn) ran(ctx context.Context) (*Ran, error) {
	ran := &Ran{Session: r.s, Agent: r.w.Name, Turn: turns.Turn{Record: r.one.Record()}, Notes: r.notes}
	repository, err := worktree.Discover(r.s.GitCommonDir)
	if err != nil {
		return ran, err
	}
	list, _, err := turns.List(ctx, r.home, r.home.Manager(repository), r.s, *r.w)
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

// heldAgent is an agent whose lock this process holds.
type heldAgent struct {
	s          *session.Session
	w          *session.Agent
	cli        cli.CLI
	lock       *os.File // for the CLI to inherit
	giveBack   func()
	generation int
}

// holdAgent takes the lock of an agent that does not run, for the time of a
// headless turn. It looks and takes under the session lock, so that a start or a
// recover at the same time either finds the lock held or is found itself.
func holdAgent(ctx context.Context, h *app.App, s *session.Session, name string, cli cli.CLI) (*heldAgent, error) {
	if err := observe.RefuseHalfMoved(ctx, h, s, name); err != nil {
		return nil, err
	}
	held := &heldAgent{cli: cli}
	saved, err := h.Update(ctx, s.Name, func(rec *session.Session) error {
		w, err := app.AgentNamed(rec, name)
		if err != nil {
			return err
		}
		if err := observe.RefuseUnfinished(rec, w); err != nil {
			return err
		}
		f, err := observe.Observe(ctx, h, rec)
		if err != nil {
			return err
		}
		if err := observe.RefuseRunning(h, rec, f, *f.Agent(name)); err != nil {
			return err
		}
		if err := launch.WithdrawLaunches(h, rec.Name, name); err != nil {
			return err
		}
		held.generation = launch.NextGeneration(rec, f)
		holder, err := session.ThisProcess()
		if err != nil {
			return err
		}
		holder.Generation, rec.Generation = held.generation, held.generation
		held.lock, held.giveBack, err = h.Locks.HoldForTurn(rec.Name, name, holder)
		return err
	})
	if err != nil {
		if held.giveBack != nil {
			held.giveBack()
		}
		var locked *session.LockedError
		if errors.As(err, &locked) {
			return nil, errs.New(errs.Locked, "%w", err).Hint("paw status %s", s.Name)
		}
		return nil, err
	}
	held.s, held.w = saved, saved.Agent(name)
	h.Step("run.locked")
	return held, nil
}

// RunOptions is what the user asked of paw run.
type RunOptions struct {
	Agent  string             // "" makes a new agent, see New
	New    *startplan.Options // the new agent: one item in CLIs, at most one in Branches
	Prompt string
	Type   turn.Type // TypePrompt when empty
	// Out gets what the CLI says while it works, Err its standard error; nil for nothing.
	Out, Err io.Writer
	// Started, which may be nil, is called before the turn is begun, which from then
	// on is closed whatever happens. It gets a function that kills the CLI and all it
	// started at once, for a user who does not want to wait any longer, and is called
	// again with another one when the CLI starts and when it has ended.
	Started func(kill func())
}

// Ran is a headless turn that was begun, however it ended.
type Ran struct {
	Session *session.Session
	Agent   string
	Turn    turns.Turn
	Notes   []string // what the user would otherwise miss
}
