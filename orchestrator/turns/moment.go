package turns

import (
	"fmt"
	"strconv"

	"paw/config/lazyregexp"
	"paw/orchestrator/app"
	"paw/session/turn"
	"paw/worktree/states"
)

// Moment is when a state was taken. The name of its twin says it: "shop_api before turn 3" is between
// turns 2 and 3, "in turn 3" and "after turn 3" are within it, its end included.
type Moment struct {
	TurnSession string
	Between     bool
	First, Turn int // First is less than Turn for several turns in one step, "in turns 1-3"
}

var moment = lazyregexp.New("^" + states.Subject + `(\S+) (before|in|after) turns? (?:(\d+)-)?(\d+)`)

// MomentOf returns when a state was taken, by the subject of its twin.
func MomentOf(subject string) (m Moment, ok bool) {
	found := moment().FindStringSubmatch(subject)
	if found == nil {
		return m, false
	}
	m.TurnSession, m.Between = found[1], found[2] == "before"
	m.Turn, _ = strconv.Atoi(found[4])
	if m.First = m.Turn; found[3] != "" {
		m.First, _ = strconv.Atoi(found[3])
	}
	return m, true
}

// Present says when a state is taken that is taken now.
func Present(a app.Agent) string {
	last, err := a.TurnDir().Last()
	if err == nil && last != nil && last.State == turn.InProgress {
		return fmt.Sprintf("in turn %d", last.Number)
	}
	return fmt.Sprintf("before turn %d", turn.NumberOf(last)+1)
}
