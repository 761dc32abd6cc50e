package fakemodel

import (
	"encoding/json"
	"net/http"
	"strings"
)

// responses speaks the OpenAI Responses API, for codex.
type responses struct{ openai }

func (responses) parse(_ *http.Request, body []byte) (request, error) {
	var b struct {
		Model        string          `json:"model"`
		Stream       bool            `json:"stream"`
		Instructions string          `json:"instructions"`
		Input        json.RawMessage `json:"input"` // a text or items
		Tools        []struct {
			Type       string `json:"type"` // "function", "custom", or the type of a tool that the server runs
			Name       string `json:"name"`
			Parameters schema `json:"parameters"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(body, &b); err != nil {
		return request{}, err
	}
	q := newRequest("responses", b.Model, b.Stream)
	for _, t := range b.Tools {
		if t.Type == "function" || t.Type == "custom" {
			q.tools[t.Name] = tool{name: t.Name, free: t.Type == "custom", parameters: t.Parameters}
		}
	}
	q.hear(b.Instructions)
	var text string
	if json.Unmarshal(b.Input, &text) == nil {
		q.say(text)
		return q, nil
	}
	var items []struct {
		Type    string          `json:"type"`
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
		Output  json.RawMessage `json:"output"`
	}
	if err := json.Unmarshal(b.Input, &items); err != nil {
		return request{}, err
	}
	for _, item := range items {
		switch {
		case strings.HasSuffix(item.Type, "_call_output"):
			q.result(plain(item.Output))
		case item.Role == "user":
			for _, p := range parts(item.Content) {
				q.say(p.Text)
			}
		case item.Role == "system", item.Role == "developer":
			q.hear(plain(item.Content))
		}
	}
	return q, nil
}

func (responses) stream(e *events, q request, a answer, c call) {
	number := 0
	send := func(name string, value object) {
		value["type"], value["sequence_number"] = name, number
		number++
		e.send(name, value)
	}
	response := object{"id": newID("resp"), "object": "response", "model": q.model, "status": "in_progress", "output": list{}}
	send("response.created", object{"response": response})
	items := responses{}.items(a, c)
	for i, item := range items {
		send("response.output_item.added", object{"output_index": i, "item": item})
		if item["type"] == "message" {
			e.speak(a, func(text string) {
				send("response.output_text.delta", object{
					"item_id": item["id"], "output_index": i, "content_index": 0, "delta": text,
				})
			})
		}
		send("response.output_item.done", object{"output_index": i, "item": item})
	}
	response["status"], response["output"], response["usage"] = "completed", items, responses{}.usage(q.bill)
	send("response.completed", object{"response": response})
}

func (responses) usage(b Bill) object {
	return object{
		"input_tokens": b.read(), "input_tokens_details": object{"cached_tokens": b.CacheRead},
		"output_tokens": b.Output, "output_tokens_details": object{"reasoning_tokens": 0}, "total_tokens": b.read() + b.Output,
	}
}

func (responses) whole(q request, a answer, c call) any {
	return object{
		"id": newID("resp"), "object": "response", "model": q.model, "status": "completed",
		"output": responses{}.items(a, c), "usage": responses{}.usage(q.bill),
	}
}

func (responses) items(a answer, c call) []object {
	items := []object{}
	if a.text != "" {
		items = append(items, object{
			"type": "message", "id": newID("msg"), "role": "assistant", "status": "completed",
			"content": list{object{"type": "output_text", "text": a.text, "annotations": list{}}},
		})
	}
	if c.tool == "" {
		return items
	}
	item := object{"id": newID("item"), "call_id": newID("call"), "name": c.tool, "status": "completed"}
	if c.free {
		item["type"], item["input"] = "custom_tool_call", c.input
	} else {
		item["type"], item["arguments"] = "function_call", encode(c.arguments)
	}
	return append(items, item)
}

// openai has what both protocols of OpenAI share.
type openai struct{}

func (openai) failure(status int, message string) any {
	kind := "invalid_request_error"
	if status >= 500 {
		kind = "server_error"
	}
	return object{"error": object{"message": message, "type": kind, "param": nil, "code": nil}}
}
