package agent

import (
	"context"
	"time"

	"paw/session/history"
)

// History reads the branch of the chat that qwen would go on with.
func (q qwen) History(ctx context.Context, s Spec) (Transcript, error) {
	path, err := transcriptFile(ctx, q, s)
	if err != nil {
		return Transcript{}, err
	}
	var all []qwenRecord
	var nodes []branchNode
	skipped, err := countLines(path, func(r qwenRecord) bool {
		all, nodes = append(all, r), append(nodes, branchNode{r.UUID, r.Parent, r.Type == "user"})
		return true
	})
	if err != nil {
		return Transcript{}, err
	}
	t := qwenTalk{talk{Transcript{ID: s.ConversationID, Skipped: skipped}}}
	for _, i := range lastBranch(nodes, len(nodes)-1) {
		t.addQwen(all[i])
	}
	return t.Transcript, nil
}

// qwenTalk makes messages of records.
type qwenTalk struct{ talk }

type qwenRecord struct {
	Type      string    `json:"type"`
	Subtype   string    `json:"subtype"`
	UUID      string    `json:"uuid"`
	Parent    string    `json:"parentUuid"`
	Timestamp time.Time `json:"timestamp"`
	Message   struct {
		Parts modelParts `json:"parts"`
	} `json:"message"`
	Payload struct {
		Event struct {
			Name      string `json:"event.name"`
			ErrorType string `json:"error_type"`
			Message   string `json:"error_message"`
		} `json:"uiEvent"`
	} `json:"systemPayload"`
}

func (t *qwenTalk) addQwen(r qwenRecord) {
	switch r.Type {
	case "user":
		role := history.RoleUser
		if r.Subtype != "" {
			role = history.RoleSystem // qwen prompts itself, such as at the end of a background task
		}
		t.say(role, r.Timestamp, r.Message.Parts.text())
	case "assistant":
		t.answer(r.Timestamp, r.Message.Parts.text(), r.Message.Parts.calls())
	case "tool_result":
		t.responses(r.Timestamp, r.Message.Parts)
	case "system":
		switch e := r.Payload.Event; {
		case e.Name != "qwen-code.api_error":
		case e.ErrorType == "APIUserAbortError":
			t.notice(r.Timestamp, stoppedByUser)
		default:
			t.notice(r.Timestamp, e.Message)
		}
	default:
		t.strange(r.Type, len(r.Message.Parts) > 0)
	}
}
