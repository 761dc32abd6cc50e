package orchestrator

import (
	"cmp"
	"context"
	"errors"

	"paw/orchestrator/agent"
	"paw/session"
	"paw/session/turn"
	"paw/worktree"
)

// headlessTurn is one headless turn on its way; whoever has it holds the agent's lock.
type headlessTurn struct {
	*heldAgent
	p       *Paw
	o       RunOptions
	spec    agent.Spec
	command agent.Command
	one     *turn.Turn
	notes   []string
}

// prepareRun refuses what cannot work, takes the agent's lock and decides how to
// run its CLI. Nothing of a turn is written.
func (p *Paw) prepareRun(ctx context.Context, s *session.Session, o RunOptions) (r *headlessTurn, err error) {
	w, err := agentNamed(s, o.Agent)
	if err != nil {
		return nil, err
	}
	cli, executable, err := p.cliOf(w)
	if err != nil {
		return nil, err
	}
	if err := p.requireHeadless(cli, executable, o.Prompt); err != nil {
		return nil, err
	}
	held, err := p.holdAgent(ctx, s, o.Agent, cli)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			held.giveBack()
		}
	}()
	if err := worktree.Verify(held.w.WorktreePath, held.s.GitCommonDir, ""); err != nil {
		return nil, failf(KindRefused, "%s: not run: %w", o.Agent, err).hint("paw recover %s", s.Name)
	}
	p.cutTurn(ctx, held.s, *held.w, turn.ReasonCrash)
	r = &headlessTurn{heldAgent: held, p: p, o: o}
	return r, r.choose(ctx, executable)
}

// requireHeadless refuses CLIs without a one-shot mode, and prompts that it cannot take.
func (p *Paw) requireHeadless(cli agent.CLI, executable, prompt string) error {
	_, err := cli.Headless(p.draftSpec(cli, executable, prompt))
	var refused *agent.PromptError
	switch {
	case errors.Is(err, agent.ErrNoHeadless):
		return failf(KindUsage, "%s: has no one-shot mode that paw knows", cli.Name()).hint("paw clis")
	case errors.As(err, &refused):
		return failf(KindUsage, "%w", err)
	}
	return nil // anything else is about a conversation, and this one is made up
}

// choose settles the conversation of the turn, writes a new one into the record
// before it exists, and builds the command.
func (r *headlessTurn) choose(ctx context.Context, executable string) error {
	p := r.p
	r.spec = p.spec(r.s, r.w, executable)
	r.spec.Hook, r.spec.Prompt = "", r.o.Prompt // paw itself knows the begin and the end
	facts := recoverFacts{}
	p.conversationFacts(ctx, r.s, r.cli, r.spec, &facts)
	switch {
	case facts.resumable:
		r.spec.ConversationID = cmp.Or(facts.found, r.spec.ConversationID)
	case !r.cli.Facts().ChoosesID:
		r.spec.ConversationID = ""
	case !facts.keepID:
		r.spec.ConversationID = facts.newID
	}
	if !facts.resumable && r.w.TurnHighWater > 0 {
		r.notes = append(r.notes, "a fresh conversation: "+facts.freshReason)
	}
	if err := r.remember(ctx, r.spec.ConversationID); err != nil {
		return err
	}
	var err error
	if r.command, err = r.cli.Headless(r.spec); err != nil {
		return failf(KindError, "%s: %w", r.w.Agent, err)
	}
	for _, file := range r.command.Files {
		if err := writePrivate(file.Path, file.Content); err != nil {
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
	_, err := r.p.update(ctx, r.s.Name, func(rec *session.Session) error {
		if w := rec.Worktree(r.w.Agent); w != nil {
			w.AddConversation(id)
		}
		return nil
	})
	return err
}
