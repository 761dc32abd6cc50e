package orchestrator

import (
	"cmp"
	"context"
	"errors"
	"strconv"

	"paw/orchestrator/agent"
	"paw/session"
	"paw/session/turn"
)

// Logged is a conversation of an agent, or what of it one turn is.
type Logged struct {
	Agent string
	agent.Transcript
	Turn      *turn.Record // nil for the whole conversation
	Elsewhere []int        // of a whole conversation: turns of the agent that were in another one
}

// Log reads the newest conversation of an agent or, with the number of a turn,
// the messages of that turn, in whichever conversation it was. An agent that has
// not begun to talk has an empty one without an id. It writes nothing.
func (p *Paw) Log(ctx context.Context, s *session.Session, agentName string, number *int) (*Logged, error) {
	w, err := agentNamed(s, agentName)
	if err != nil {
		return nil, err
	}
	if p, err = p.configuredFor(s); err != nil {
		return nil, err
	}
	records, _ := p.turnDir(s.Name, w.Agent).Records()
	logged := &Logged{Agent: w.Agent}
	id := ""
	if number != nil {
		list := AgentTurns{Agent: w.Agent}
		for _, r := range records {
			list.Turns = append(list.Turns, ListedTurn{Record: r})
		}
		one, err := turnNumbered(s, list, strconv.Itoa(*number))
		if err != nil {
			return nil, err
		}
		logged.Turn, id = &one.Record, one.Conversation
	}
	logged.Transcript, err = p.conversation(ctx, s, w, id, records)
	if err != nil {
		return nil, err
	}
	if number == nil {
		logged.Elsewhere = turnsElsewhere(records, logged.ID)
		return logged, nil
	}
	said, n := turnsIn(records, logged.ID, *number)
	at := turnSpans(logged.Messages, said)[n]
	logged.Messages = logged.Messages[at.from:at.to]
	return logged, nil
}

// turnsIn are the turns of a conversation, those of which it is not known
// included, and the index of the one with that number.
func turnsIn(records []turn.Record, conversation string, number int) (turns []turn.Record, n int) {
	for _, r := range records {
		if r.Number == number {
			n = len(turns)
		} else if r.Conversation != "" && r.Conversation != conversation {
			continue
		}
		turns = append(turns, r)
	}
	return turns, n
}

// turnsElsewhere are the numbers of the turns in other conversations.
func turnsElsewhere(records []turn.Record, conversation string) []int {
	var elsewhere []int
	for _, r := range records {
		if r.Conversation != "" && r.Conversation != conversation {
			elsewhere = append(elsewhere, r.Number)
		}
	}
	return elsewhere
}

// conversation is readConversation in the user's words. A conversation that has
// not begun is empty.
func (p *Paw) conversation(ctx context.Context, s *session.Session, w *session.Worktree, id string, records []turn.Record) (agent.Transcript, error) {
	found, err := p.readConversation(ctx, s, w, id)
	var missing *agent.ConversationError
	switch {
	case err == nil:
		return found, nil
	case errors.Is(err, agent.ErrNoTranscript):
		return found, failf(KindError, "%s: %s", w.Agent, unreadable(w, err)).hint("paw attach %s %s", s.Name, w.Agent)
	case errors.As(err, &missing) && !anyTurnIn(records, missing.ID):
		return agent.Transcript{ID: missing.ID}, nil
	case errors.As(err, &missing):
		return found, failf(KindNotFound, "%s: its conversation cannot be read: %s", w.Agent, missing.Reason).hint("paw turns %s %s", s.Name, w.Agent)
	case errors.Is(err, agent.ErrNotInstalled):
		return found, failf(KindMissing, "%s: %w", w.Agent, err).hint("paw clis")
	}
	return found, failf(KindError, "%s: its conversation cannot be read: %w", w.Agent, err).hint("paw turns %s %s", s.Name, w.Agent)
}

// readConversation reads one conversation of an agent from its CLI's own record,
// the newest for an id of "".
func (p *Paw) readConversation(ctx context.Context, s *session.Session, w *session.Worktree, id string) (agent.Transcript, error) {
	cli, ok := p.CLIs.Get(w.CLI)
	if !ok {
		return agent.Transcript{}, failf(KindUsage, "unknown CLI %s", w.CLI)
	}
	executable, _ := p.executable(cli) // only opencode has to be asked, and says so itself
	spec := p.specFor(s, w, executable)
	spec.ConversationID = cmp.Or(id, spec.ConversationID)
	if spec.ConversationID == "" {
		if ids, err := cli.Learn(ctx, spec); err == nil && len(ids) > 0 {
			spec.ConversationID = ids[len(ids)-1] // a CLI that chooses its own ids, before a hook told of it
		}
	}
	return cli.History(ctx, spec)
}

// anyTurnIn tells whether a turn was in a conversation, as far as known.
func anyTurnIn(records []turn.Record, conversation string) bool {
	for _, r := range records {
		if r.Conversation == conversation || r.Conversation == "" {
			return true
		}
	}
	return false
}
