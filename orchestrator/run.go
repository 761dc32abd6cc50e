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
	defer children.ClaimAfter(h, s.Name, o.Agent, live.Claim{}) // runs after the lock is free: a turn counts as open until then
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

// begin claims the turn number and writes START and EXECUTE to the log.
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

// close writes the end of the turn to the log, and returns the error for the user.
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

// interrupted returns the error of a turn that the user interrupted.
func (r *headlessTurn) interrupted(number int) error {
	if number == 0 {
		return errs.New(errs.Interrupted, "%s: interrupted, no turn was begun", r.w.Name)
	}
	return errs.New(errs.Interrupted, "%s: turn %d interrupted", r.w.Name, number)
}

// learn records the conversation of a CLI that chooses its own ID, and the file of the
// conversation.
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

// ran reads the finished turn from the log.
func (r *headlessTurn) ran(ctx context.Context) (*Ran, error) {
	ran := &Ran{Session: r.s, Agent: r.w.Name, Turn: turns.Turn{Record: r.one.Record()}, Notes: r.notes}
	repository, err := gitdir.Discover(r.s.GitCommonDir)
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
	lock       *os.File // inherited by the CLI
	giveBack   func()
	generation int
}

// holdAgent takes the lock of an agent whose CLI does not run, for a headless turn. It checks and
// takes under the session lock, so that a concurrent start or recover either finds the lock held or
// is found by the check.
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

// RunOptions holds the options of paw run.
type RunOptions struct {
	Agent  string             // "" makes a new agent from New
	New    *startplan.Options // describes the new agent: one item in CLIs, at most one in Branches
	Prompt string
	Type   turn.Type // "" means TypePrompt
	// Out gets the CLI's output while it works, Err its standard error; nil drops them.
	Out, Err io.Writer
	// Started, if not nil, is called before the turn begins; from then on the turn is always
	// closed. Its argument kills the CLI and all of the CLI's processes at once, for a user who
	// does not want to wait. Started is called again with another kill when the CLI starts and when
	// it has ended.
	Started func(kill func())
}

// Ran is the result of a headless turn that was begun.
type Ran struct {
	Session *session.Session
	Agent   string
	Turn    turns.Turn
	Notes   []string // notes for the user
}
