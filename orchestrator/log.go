package orchestrator

import (
	"context"
	"strconv"

	"paw/orchestrator/agent"
	"paw/orchestrator/home"
	"paw/orchestrator/talk"
	"paw/orchestrator/turns"
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
func Log(ctx context.Context, h *home.Home, s *session.Session, agentName string, number *int) (*Logged, error) {
	w, err := home.AgentNamed(s, agentName)
	if err != nil {
		return nil, err
	}
	if h, err = h.ConfiguredFor(s); err != nil {
		return nil, err
	}
	records, _ := h.TurnDir(s.Name, w.Agent).Records()
	logged := &Logged{Agent: w.Agent}
	id := ""
	if number != nil {
		list := turns.Sequence{Agent: w.Agent}
		for _, r := range records {
			list.Turns = append(list.Turns, turns.Listed{Record: r})
		}
		one, err := turns.Numbered(s, list, strconv.Itoa(*number))
		if err != nil {
			return nil, err
		}
		logged.Turn, id = &one.Record, one.Conversation
	}
	logged.Transcript, err = talk.Conversation(ctx, h, s, w, id, records)
	if err != nil {
		return nil, err
	}
	if number == nil {
		logged.Elsewhere = talk.TurnsElsewhere(records, logged.ID)
		return logged, nil
	}
	said, n := talk.TurnsIn(records, logged.ID, *number)
	at := talk.Spans(logged.Messages, said)[n]
	logged.Messages = logged.Messages[at.From:at.To]
	return logged, nil
}
