package fakemodel

import (
	"encoding/json"
	"net/http"
)

// chat speaks OpenAI's chat completions, for opencode, qwen and copilot.
type chat struct{ openai }

func (chat) parse(_ *http.Request, body []byte) (request, error) {
	var b struct {
		Model    string `json:"model"`
		Stream   bool   `json:"stream"`
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
		Tools []struct {
			Function struct {
				Name       string `json:"name"`
				Parameters schema `json:"parameters"`
			} `json:"function"`
		} `json:"tools"`
		ResponseFormat struct {
			JSONSchema struct {
				Schema *schema `json:"schema"`
			} `json:"json_schema"`
		} `json:"response_format"`
	}
	if err := json.Unmarshal(body, &b); err != nil {
		return request{}, err
	}
	q := newRequest("chat", b.Model, b.Stream)
	q.wanted = b.ResponseFormat.JSONSchema.Schema
	for _, t := range b.Tools {
		q.tools[t.Function.Name] = tool{name: t.Function.Name, parameters: t.Function.Parameters}
	}
	for _, m := range b.Messages {
		switch m.Role {
		case "system", "developer":
			q.hear(plain(m.Content))
		case "tool":
			q.result(plain(m.Content))
		case "user":
			for _, p := range parts(m.Content) {
				q.say(p.Text)
			}
		}
	}
	return q, nil
}

func (chat) stream(e *events, q request, a answer, c call) {
	id := newID("chatcmpl")
	send := func(choices list, usage any) {
		e.send("", object{
			"id": id, "object": "chat.completion.chunk", "created": 0, "model": q.model, "choices": choices, "usage": usage,
		})
	}
	delta := func(delta object, finish any) {
		send(list{object{"index": 0, "delta": delta, "finish_reason": finish}}, nil)
	}
	delta(object{"role": "assistant", "content": ""}, nil)
	e.speak(a, func(text string) { delta(object{"content": text}, nil) })
	finish := "stop"
	if c.tool != "" {
		finish = "tool_calls"
		delta(object{"tool_calls": chat{}.calls(c)}, nil)
	}
	delta(object{}, finish)
	send(list{}, chat{}.usage(q.bill))
	e.write("data: [DONE]\n\n")
}

func (chat) usage(b Bill) object {
	usage := object{"prompt_tokens": b.read(), "completion_tokens": b.Output, "total_tokens": b.read() + b.Output}
	if b.CacheRead > 0 {
		usage["prompt_tokens_details"] = object{"cached_tokens": b.CacheRead}
	}
	return usage
}

func (chat) whole(q request, a answer, c call) any {
	message, finish := object{"role": "assistant", "content": a.text}, "stop"
	if c.tool != "" {
		finish = "tool_calls"
		message["tool_calls"] = chat{}.calls(c)
	}
	return object{
		"id": newID("chatcmpl"), "object": "chat.completion", "created": 0, "model": q.model,
		"choices": list{object{"index": 0, "message": message, "finish_reason": finish}}, "usage": chat{}.usage(q.bill),
	}
}

// calls returns the list of tool calls. The index is required in streams and allowed in whole
// messages.
func (chat) calls(c call) list {
	return list{object{
		"index": 0, "id": newID("call"), "type": "function",
		"function": object{"name": c.tool, "arguments": encode(c.arguments)},
	}}
}
