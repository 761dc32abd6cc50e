package qwen

import (
	"context"
	"time"

	"paw/orchestrator/cli"
	"paw/orchestrator/cli/internal/records"
	"paw/session/history"
)

// History reads the branch of the chat that qwen would go on with.
func (q driver) History(ctx context.Context, s cli.Spec) (cli.Transcript, error) {
	var all []record
	var nodes []records.BranchNode
	begun, err := records.ReadTalk(ctx, q, s, func(r record) {
		all, nodes = append(all, r), append(nodes, records.BranchNode{ID: r.UUID, Parent: r.Parent, Prompt: r.Type == "user"})
	})
	t := talk{begun}
	for _, i := range records.LastBranch(nodes, len(nodes)-1) {
		t.addQwen(all[i])
	}
	return t.Transcript, err
}

// talk makes messages of records.
type talk struct{ records.Talk }

type record struct {
	Type      string    `json:"type"`
	Subtype   string    `json:"subtype"`
	UUID      string    `json:"uuid"`
	Parent    string    `json:"parentUuid"`
	Timestamp time.Time `json:"timestamp"`
	Message   struct {
		Parts records.ModelParts `json:"parts"`
	} `json:"message"`
	Payload struct {
		Event struct {
			Name      string `json:"event.name"`
			ErrorType string `json:"error_type"`
			Message   string `json:"error_message"`
		} `json:"uiEvent"`
	} `json:"systemPayload"`
}

func (t *talk) addQwen(r record) {
	switch r.Type {
	case "user":
		role := history.RoleUser
		if r.Subtype != "" {
			role = history.RoleSystem // qwen prompts itself, such as at the end of a background task
		}
		t.Say(role, r.Timestamp, r.Message.Parts.Text())
	case "assistant":
		t.Answer(r.Timestamp, r.Message.Parts.Text(), r.Message.Parts.Calls())
	case "tool_result":
		t.Responses(r.Timestamp, r.Message.Parts)
	case "system":
		switch e := r.Payload.Event; {
		case e.Name != "qwen-code.api_error":
		case e.ErrorType == "APIUserAbortError":
			t.Notice(r.Timestamp, records.StoppedByUser)
		default:
			t.Notice(r.Timestamp, e.Message)
		}
	default:
		t.Strange(r.Type, len(r.Message.Parts) > 0)
	}
}
