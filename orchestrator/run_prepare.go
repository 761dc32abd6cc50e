package orchestrator

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"

	"paw/orchestrator/app"
	"paw/orchestrator/cli"
	"paw/orchestrator/errs"
	"paw/orchestrator/launch"
	"paw/orchestrator/observe"
	"paw/orchestrator/startplan"
	"paw/orchestrator/turns"
	"paw/session"
	"paw/session/turn"
	"paw/worktree/gitdir"
)

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

// headlessTurn is a headless turn in progress; it holds the agent's lock.
type headlessTurn struct {
	app.Agent
	o          RunOptions
	cli        cli.CLI
	lock       *os.File // inherited by the CLI
	giveBack   func()
	generation int
	spec       cli.Spec
	command    cli.Command
	one        *turn.Turn
	notes      []string
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
	r = &headlessTurn{Agent: h.Agent(s, w), o: o, cli: cli}
	if err := r.hold(ctx); err != nil {
		return nil, err
	}
	giveBack := r.giveBack
	defer func() {
		if err != nil {
			giveBack()
		}
	}()
	if err := gitdir.Verify(r.Record.WorktreePath, r.Session.GitCommonDir, ""); err != nil {
		return nil, errs.New(errs.Refused, "%s: not run: %w", o.Agent, err).Hint("paw recover %s", s.Name)
	}
	turns.Cut(ctx, r.Agent, turn.ReasonCrash)
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
	r.spec = r.App.Specs().Launch(r.Session, r.Record, executable)
	r.spec.Hook, r.spec.Prompt = "", r.o.Prompt // Run itself records the begin and the end of the turn
	how := launch.FindContinuation(ctx, r.App, r.Session, r.cli, r.spec)
	switch {
	case how.Resumable:
		r.spec.ConversationID = cmp.Or(how.Found, r.spec.ConversationID)
	case !r.cli.Facts().ChoosesID || r.cli.Facts().RunPicks:
		r.spec.ConversationID = ""
	case !how.KeepID:
		r.spec.ConversationID = how.NewID
	}
	if !how.Resumable && r.Record.TurnHighWater > 0 {
		r.notes = append(r.notes, "a fresh conversation: "+how.FreshReason)
	}
	if err := turns.KeepConversation(ctx, r.Agent, r.spec.ConversationID); err != nil {
		return err
	}
	var err error
	if r.command, err = r.cli.Headless(r.spec); err != nil {
		return errs.New(errs.Failed, "%s: %w", r.Record.Name, err)
	}
	for _, file := range r.command.Files {
		if err := app.WritePrivate(file.Path, file.Content); err != nil {
			return err
		}
	}
	return nil
}

// addHeadless adds an agent for headless turns: a branch, a worktree with its set-up and tag 0, as
// Add does, and no pane. It returns the record, the agent's name and notes for the user.
func addHeadless(ctx context.Context, h *app.App, s *session.Session, o RunOptions) (*session.Session, string, []string, error) {
	add := *o.New
	add.Headless = true
	rec, a, err := startplan.Add(ctx, h, s, add, func(agents []session.Agent) error {
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
	name, jobs := a.Draft.Agents[0].Name, a.Jobs("")
	jobs[0].Kind = launch.ResultStopped
	defer a.Making.Release()
	saved, results, err := launch.BringUp(ctx, h, rec, jobs, &a.Making)
	if err == nil && results[0].Kind == launch.ResultRefused {
		err = errs.New(errs.Failed, "%s: %s", name, results[0].Reason).Hint("paw recover %s", s.Name)
	}
	if err != nil {
		return nil, "", nil, launch.UndoAdd(h, rec, a.Plans, err)
	}
	notes := append(results[0].Notes, notes(ctx, h, a.Manager, &a.Draft, nil, false)()...)
	return saved, name, notes, nil
}

// hold takes the lock of the agent, whose CLI does not run, and reads its record. It checks and
// takes under the session lock, so that a concurrent start or recover either finds the lock held or
// is found by the check.
func (r *headlessTurn) hold(ctx context.Context) error {
	h, name := r.App, r.Record.Name
	if err := observe.RefuseHalfMoved(ctx, h, r.Session, name); err != nil {
		return err
	}
	saved, err := h.Update(ctx, r.Session.Name, func(rec *session.Session) error {
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
		r.generation = launch.NextGeneration(rec, f)
		holder, err := session.ThisProcess()
		if err != nil {
			return err
		}
		holder.Generation, rec.Generation = r.generation, r.generation
		r.lock, r.giveBack, err = h.Locks.HoldForTurn(rec.Name, name, holder)
		return err
	})
	if err != nil {
		if r.giveBack != nil {
			r.giveBack()
		}
		if _, ok := errors.AsType[*session.LockedError](err); ok {
			return errs.New(errs.Locked, "%w", err).Hint("paw status %s", r.Session.Name)
		}
		return err
	}
	r.Agent = h.Agent(saved, saved.Agent(name))
	h.Step("run.locked")
	return nil
}
