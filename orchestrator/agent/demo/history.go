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
	path, err := records.TranscriptFile(ctx, d, s)
	if err != nil {
		return agent.Transcript{}, err
	}
	t := records.Talk{Transcript: agent.Transcript{ID: s.ConversationID}}
	skipped, err := records.CountLines(path, func(line struct {
		Type      string       `json:"type"`
		Role      history.Role `json:"role"`
		Content   string       `json:"content"`
		Event     string       `json:"event"`
		Error     string       `json:"error"`
		Timestamp time.Time    `json:"timestamp"`
	}) bool {
		switch {
		case line.Role == history.RoleUser || line.Role == history.RoleAssistant:
			t.Say(line.Role, line.Timestamp, line.Content)
		case line.Event == "interrupted":
			t.Notice(line.Timestamp, records.StoppedByUser)
		case line.Event == "error":
			t.Notice(line.Timestamp, line.Error)
		case line.Type != "event":
			t.Strange(line.Type, line.Content != "")
		}
		return true
	})
	if err != nil {
		return agent.Transcript{}, err
	}
	t.Skipped += skipped
	return t.Transcript, nil
}
