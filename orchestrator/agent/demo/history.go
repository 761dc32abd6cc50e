package demo

import (
	"context"

	"paw/orchestrator/agent"
	"paw/orchestrator/agent/demo/program"
	"paw/orchestrator/agent/internal/records"
	"paw/session/history"
)

// History reads the conversation's file.
func (d driver) History(ctx context.Context, s agent.Spec) (agent.Transcript, error) {
	var all []program.Entry
	t, err := records.ReadTalk(ctx, d, s, func(e program.Entry) { all = append(all, e) })
	for _, e := range all {
		switch {
		case e.Role == history.RoleUser || e.Role == history.RoleAssistant:
			t.Say(e.Role, e.Timestamp, e.Content)
		case e.Event == "interrupted":
			t.Notice(e.Timestamp, records.StoppedByUser)
		case e.Event == "error":
			t.Notice(e.Timestamp, e.Error)
		case e.Type != "event":
			t.Strange(e.Type, e.Content != "")
		}
	}
	return t.Transcript, err
}
