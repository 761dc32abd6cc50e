package fakemodel

import (
	"encoding/json"
	"maps"
	"net/http"
	"strings"

	"paw/orchestrator/cli/internal/records"
)

// responses speaks the OpenAI Responses API, for codex.
type responses struct{ openai }

func (responses) parse(_ *http.Request, body []byte) (request, error) {
	var b struct {
		Model  string          `json:"model"`
		Stream bool            `json:"stream"`
		Input  json.RawMessage `json:"input"` // a text or items
		Tools  []struct {
			Type       string `json:"type"` // "function", "namespace", or of another kind that codex does not need here
			Name       string `json:"name"`
			Parameters schema `json:"parameters"`
			Tools      []struct {
				Name       string `json:"name"`
				Parameters schema `json:"parameters"`
			} `json:"tools"` // of a namespace, such as those of an MCP server
		} `json:"tools"`
	}
	if err := json.Unmarshal(body, &b); err != nil {
		return request{}, err
	}
	q := newRequest("responses", b.Model, b.Stream)
	for _, t := range b.Tools {
		if t.Type == "function" {
			q.tools[t.Name] = tool{name: t.Name, parameters: t.Parameters}
		}
		for _, one := range t.Tools {
			q.tools[t.Name+"__"+one.Name] = tool{name: one.Name, parameters: one.Parameters, space: t.Name}
		}
	}
	var text string
	if json.Unmarshal(b.Input, &text) == nil {
		q.say(text)
		return q, nil
	}
	var items []struct {
		Type    string        `json:"type"`
		Role    string        `json:"role"`
		Content records.Parts `json:"content"`
		Output  records.Parts `json:"output"`
	}
	if err := json.Unmarshal(b.Input, &items); err != nil {
		return request{}, err
	}
	for _, item := range items {
		if strings.HasSuffix(item.Type, "_call_output") {
			q.result(item.Output.Words())
		}
		q.take(item.Role, item.Content)
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
	response := responses{}.whole(q, a, c)
	begun := maps.Clone(response)
	begun["status"], begun["output"] = "in_progress", list{}
	delete(begun, "usage")
	send("response.created", object{"response": begun})
	for i, item := range response["output"].([]object) {
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
	send("response.completed", object{"response": response})
}

func (responses) whole(q request, a answer, c call) object {
	items := []object{}
	if a.text != "" {
		items = append(items, object{
			"type": "message", "id": newID("msg"), "role": "assistant", "status": "completed",
			"content": list{object{"type": "output_text", "text": a.text, "annotations": list{}}},
		})
	}
	if c.tool != "" {
		item := object{"type": "function_call", "id": newID("item"), "call_id": newID("call"), "name": c.tool, "status": "completed", "arguments": encode(c.arguments)}
		if c.space != "" {
			item["namespace"] = c.space
		}
		items = append(items, item)
	}
	b := q.bill
	return object{
		"id": newID("resp"), "object": "response", "model": q.model, "status": "completed", "output": items,
		"usage": object{
			"input_tokens": b.read(), "input_tokens_details": object{"cached_tokens": b.CacheRead},
			"output_tokens": b.Output, "output_tokens_details": object{"reasoning_tokens": 0}, "total_tokens": b.read() + b.Output,
		},
	}
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

// chat speaks OpenAI's chat completions, for opencode, qwen, copilot and pi.
type chat struct{ openai }

func (chat) parse(_ *http.Request, body []byte) (request, error) {
	var b struct {
		Model    string `json:"model"`
		Stream   bool   `json:"stream"`
		Messages []struct {
			Role    string        `json:"role"`
			Content records.Parts `json:"content"`
		} `json:"messages"`
		Tools []struct {
			Function struct {
				Name       string `json:"name"`
				Parameters schema `json:"parameters"`
			} `json:"function"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(body, &b); err != nil {
		return request{}, err
	}
	q := newRequest("chat", b.Model, b.Stream)
	for _, t := range b.Tools {
		q.tools[t.Function.Name] = tool{name: t.Function.Name, parameters: t.Function.Parameters}
	}
	for _, m := range b.Messages {
		q.take(m.Role, m.Content)
	}
	return q, nil
}

func (chat) stream(e *events, q request, a answer, c call) {
	whole := chat{}.whole(q, a, c)
	choice := whole["choices"].(list)[0].(object)
	send := func(choices list, usage any) {
		e.send("", object{
			"id": whole["id"], "object": "chat.completion.chunk", "created": 0, "model": q.model, "choices": choices, "usage": usage,
		})
	}
	delta := func(delta object, finish any) {
		send(list{object{"index": 0, "delta": delta, "finish_reason": finish}}, nil)
	}
	delta(object{"role": "assistant", "content": ""}, nil)
	e.speak(a, func(text string) { delta(object{"content": text}, nil) })
	if calls, ok := choice["message"].(object)["tool_calls"]; ok {
		delta(object{"tool_calls": calls}, nil)
	}
	delta(object{}, choice["finish_reason"])
	send(list{}, whole["usage"])
	e.write("data: [DONE]\n\n")
}

func (chat) whole(q request, a answer, c call) object {
	b, message, finish := q.bill, object{"role": "assistant", "content": a.text}, "stop"
	if c.tool != "" {
		finish = "tool_calls"
		message["tool_calls"] = list{object{ // the index is required in streams and allowed in whole messages
			"index": 0, "id": newID("call"), "type": "function", "function": object{"name": c.tool, "arguments": encode(c.arguments)},
		}}
	}
	usage := object{"prompt_tokens": b.read(), "completion_tokens": b.Output, "total_tokens": b.read() + b.Output}
	if b.CacheRead > 0 {
		usage["prompt_tokens_details"] = object{"cached_tokens": b.CacheRead}
	}
	return object{
		"id": newID("chatcmpl"), "object": "chat.completion", "created": 0, "model": q.model,
		"choices": list{object{"index": 0, "message": message, "finish_reason": finish}}, "usage": usage,
	}
}
