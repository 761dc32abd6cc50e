package orchestrator

import (
	"cmp"
	"context"
	"errors"

	"paw/orchestrator/app"
	"paw/orchestrator/cli"
	"paw/orchestrator/errs"
	"paw/orchestrator/launch"
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
