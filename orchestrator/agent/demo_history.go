package agent

import (
	"context"
	"time"

	"paw/session/history"
)

// History reads the conversation's file.
func (d demo) History(ctx context.Context, s Spec) (Transcript, error) {
	path, err := transcriptFile(ctx, d, s)
	if err != nil {
		return Transcript{}, err
	}
	t := talk{Transcript{ID: s.ConversationID}}
	skipped, err := countLines(path, func(line struct {
		Type      string       `json:"type"`
		Role      history.Role `json:"role"`
		Content   string       `json:"content"`
		Event     string       `json:"event"`
		Error     string       `json:"error"`
		Timestamp time.Time    `json:"timestamp"`
	}) bool {
		switch {
		case line.Role == history.RoleUser || line.Role == history.RoleAssistant:
			t.say(line.Role, line.Timestamp, line.Content)
		case line.Event == "interrupted":
			t.notice(line.Timestamp, stoppedByUser)
		case line.Event == "error":
			t.notice(line.Timestamp, line.Error)
		case line.Type != "event":
			t.strange(line.Type, line.Content != "")
		}
		return true
	})
	if err != nil {
		return Transcript{}, err
	}
	t.Skipped += skipped
	return t.Transcript, nil
}
