package fakemodel

import (
	"encoding/json"
	"net/http"

	"paw/orchestrator/cli/internal/records"
)

// messages speaks the Anthropic Messages API, for claude.
type messages struct{}

func (messages) parse(_ *http.Request, body []byte) (request, error) {
	var b struct {
		Model    string `json:"model"`
		Stream   bool   `json:"stream"`
		Messages []struct {
			Role    string        `json:"role"`
			Content records.Parts `json:"content"`
		} `json:"messages"`
		Tools []struct {
			Name        string `json:"name"`
			InputSchema schema `json:"input_schema"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(body, &b); err != nil {
		return request{}, err
	}
	q := newRequest("messages", b.Model, b.Stream)
	for _, t := range b.Tools {
		q.tools[t.Name] = tool{name: t.Name, parameters: t.InputSchema}
	}
	for _, m := range b.Messages {
		q.take(m.Role, m.Content)
	}
	return q, nil
}

func (messages) stream(e *events, q request, a answer, c call) {
	send := func(name string, value object) {
		value["type"] = name
		e.send(name, value)
	}
	message := messages{}.whole(q, a, c)
	content, stop := message["content"].(list), message["stop_reason"]
	message["content"], message["stop_reason"] = list{}, nil
	message["usage"].(object)["output_tokens"] = 1 // the number is known only at the end
	send("message_start", object{"message": message})
	for index, block := range content {
		block := block.(object)
		delta := func(delta object) { send("content_block_delta", object{"index": index, "delta": delta}) }
		isText := block["type"] == "text"
		if isText {
			block["text"] = ""
		} else {
			block["input"] = object{}
		}
		send("content_block_start", object{"index": index, "content_block": block})
		if isText {
			e.speak(a, func(text string) { delta(object{"type": "text_delta", "text": text}) })
		} else {
			delta(object{"type": "input_json_delta", "partial_json": encode(c.arguments)})
		}
		send("content_block_stop", object{"index": index})
	}
	send("message_delta", object{
		"delta": object{"stop_reason": stop, "stop_sequence": nil}, "usage": object{"output_tokens": q.bill.Output},
	})
	send("message_stop", object{})
}

func (messages) whole(q request, a answer, c call) object {
	content, stop := list{}, "end_turn"
	if a.text != "" {
		content = append(content, object{"type": "text", "text": a.text})
	}
	if c.tool != "" {
		stop = "tool_use"
		content = append(content, object{"type": "tool_use", "id": newID("toolu"), "name": c.tool, "input": c.arguments})
	}
	return object{
		"id": newID("msg"), "type": "message", "role": "assistant", "model": q.model, "content": content,
		"stop_reason": stop, "stop_sequence": nil,
		"usage": object{
			"input_tokens": q.bill.Input, "output_tokens": q.bill.Output,
			"cache_creation_input_tokens": q.bill.CacheWrite, "cache_read_input_tokens": q.bill.CacheRead,
		},
	}
}

func (messages) failure(status int, message string) any {
	kind := map[int]string{
		400: "invalid_request_error", 401: "authentication_error", 403: "permission_error", 404: "not_found_error",
		413: "request_too_large", 429: "rate_limit_error", 529: "overloaded_error",
	}[status]
	if kind == "" {
		kind = "api_error"
	}
	return object{"type": "error", "error": object{"type": kind, "message": message}, "request_id": newID("req")}
}
