package demo

import (
	"context"

	"paw/orchestrator/cli"
	"paw/orchestrator/cli/demo/program"
	"paw/orchestrator/cli/internal/records"
	"paw/session/history"
)

// History reads the file of the conversation.
func (d driver) History(ctx context.Context, s cli.Spec) (cli.Transcript, error) {
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
