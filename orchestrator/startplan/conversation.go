package startplan

import (
	"cmp"
	"context"
	"errors"
	"time"

	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/launch"
	"paw/session"
)

// LastConversation asks for the conversation in the user's checkout that was used last.
const LastConversation = "last"

// takeConversation has new agents begin with a copy of a conversation that the user had by hand. It refuses
// one that their CLI does not find from their worktrees, or cannot copy.
func (a *Addition) takeConversation(ctx context.Context, h *app.App, asked, prompt string) error {
	for i := range a.Draft.Agents {
		w := &a.Draft.Agents[i]
		id, err := a.conversationOf(ctx, h, w, asked, prompt)
		if err != nil {
			return errs.New(errs.Refused, "--conversation %s: %s: %w", asked, w.CLI, err).Hint("paw add --cli %s", w.CLI)
		}
		if w.From == nil {
			w.From = &session.Origin{}
		}
		w.From.Conversation = id
	}
	return nil
}

// conversationOf returns the id of a conversation that an agent can begin with a copy of.
func (a *Addition) conversationOf(ctx context.Context, h *app.App, w *session.Agent, id, prompt string) (string, error) {
	c, executable, err := h.ProgramOf(w)
	if err != nil {
		return "", err
	}
	spec := h.Specs().Launch(&a.Draft, w, executable)
	if id == LastConversation {
		here := spec
		here.Worktree, here.Since = cmp.Or(a.Manager.Repository.Worktree, a.Manager.Repository.Path), time.Time{}
		ids, err := c.Learn(ctx, here)
		if err != nil {
			return "", err
		}
		if len(ids) == 0 {
			return "", errors.New("paw finds none in " + here.Worktree + "; name it by its id")
		}
		id = ids[len(ids)-1]
	}
	spec.ConversationID = id
	found, err := c.Conversation(ctx, spec)
	if err == nil && !found.Resumable {
		err = errors.New(found.Reason)
	}
	if err != nil {
		return "", err
	}
	if _, err = c.Fork(h.Specs().Draft(c, executable, prompt), id); launch.CanOnlyBeSent(err) {
		err = nil
	}
	return id, err
}
