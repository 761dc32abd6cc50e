package hooks

import (
	"encoding/json"
	"slices"

	"paw/orchestrator/cli/internal/questions"
	"paw/session/turn"
)

// ownKinds are the kinds of events that paw's scripts report.
var ownKinds = []turn.Kind{
	turn.KindSessionStart, turn.KindPrompt, turn.KindInput, turn.KindAnswered, turn.KindLimit, turn.KindEnd, turn.KindError, turn.KindInterrupt, turn.KindSessionEnd,
}

// Own reads a report of a script that paw has put into a CLI: its name is the kind of the event, and its payload has the fields of a
// turn.Event, in any letter case. Other reports give an Event without a kind.
func Own(name string, payload []byte) (e turn.Event, err error) {
	if err := json.Unmarshal(payload, &e); err != nil {
		return turn.Event{}, err
	}
	if e.Kind = turn.Kind(name); !slices.Contains(ownKinds, e.Kind) {
		return turn.Event{}, nil
	}
	if e.Kind == turn.KindInput {
		e.Message = questions.Title(e.Message)
	}
	return e, nil
}
