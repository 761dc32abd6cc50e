package demo

import (
	"context"
	"time"

	"paw/orchestrator/agent"
	"paw/orchestrator/agent/internal/records"
	"paw/session/history"
)

// History reads the conversation's file.
func (d driver) History(ctx context.Context, s agent.Spec) (agent.Transcript, error) {
	var all []line
	t, err := records.ReadTalk(ctx, d, s, func(one line) { all = append(all, one) })
	for _, one := range all {
		switch {
		case one.Role == history.RoleUser || one.Role == history.RoleAssistant:
			t.Say(one.Role, one.Timestamp, one.Content)
		case one.Event == "interrupted":
			t.Notice(one.Timestamp, records.StoppedByUser)
		case one.Event == "error":
			t.Notice(one.Timestamp, one.Error)
		case one.Type != "event":
			t.Strange(one.Type, one.Content != "")
		}
	}
	return t.Transcript, err
}

// line is one of the file.
type line struct {
	Type      string       `json:"type"`
	Role      history.Role `json:"role"`
	Content   string       `json:"content"`
	Event     string       `json:"event"`
	Error     string       `json:"error"`
	Timestamp time.Time    `json:"timestamp"`
}
