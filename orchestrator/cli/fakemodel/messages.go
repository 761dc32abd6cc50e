package fakemodel

import (
	"encoding/json"
	"net/http"

	"paw/config/lazyregexp"
)

// messages speaks the Anthropic Messages API, for claude.
type messages struct{}

func (messages) parse(_ *http.Request, body []byte) (request, error) {
	var b struct {
		Model    string          `json:"model"`
		Stream   bool            `json:"stream"`
		System   json.RawMessage `json:"system"`
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
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
	q.hear(plain(b.System))
	for _, m := range b.Messages {
		for _, p := range parts(m.Content) {
			switch {
			case m.Role == "system" || m.Role == "user" && p.Type == "text" && feedback().MatchString(p.Text):
				q.hearOrSay(p.Text)
			case m.Role != "user":
			case p.Type == "tool_result":
				q.result(plain(p.Content))
			case p.Type == "text":
				q.say(p.Text)
			}
		}
	}
	return q, nil
}

// meanwhile matches claude's note about a prompt that was typed while a turn ran and tools were
// still to run.
var meanwhile = lazyregexp.New(`(?s)^The user sent a new message while you were working:\n(.*?)\n\nIMPORTANT: `)

// feedback matches claude's note about a Stop hook that made it go on.
var feedback = lazyregexp.New(`(?s)^<system-reminder>\n.*\nStop hook feedback:\n(.*)\n</system-reminder>`)

// hearOrSay takes a note of the CLI, which may contain a prompt of the user or of a hook.
func (q *request) hearOrSay(text string) {
	for _, note := range []lazyregexp.Regexp{meanwhile, feedback} {
		if found := note().FindStringSubmatch(text); found != nil {
			q.say(found[1])
			return
		}
	}
	q.hear(text)
}

func (messages) stream(e *events, q request, a answer, c call) {
	send := func(name string, value object) {
		value["type"] = name
		e.send(name, value)
	}
	message := messages{}.message(q, list{}, nil)
	message["stop_reason"] = nil
	message["usage"].(object)["output_tokens"] = 1 // the number is known only at the end
	send("message_start", object{"message": message})
	index := 0
	if a.text != "" {
		send("content_block_start", object{"index": index, "content_block": object{"type": "text", "text": ""}})
		e.speak(a, func(text string) {
			send("content_block_delta", object{"index": index, "delta": object{"type": "text_delta", "text": text}})
		})
		send("content_block_stop", object{"index": index})
		index++
	}
	stop := "end_turn"
	if c.tool != "" {
		stop = "tool_use"
		use := messages{}.use(c)
		use["input"] = object{}
		send("content_block_start", object{"index": index, "content_block": use})
		send("content_block_delta", object{"index": index, "delta": object{
			"type": "input_json_delta", "partial_json": encode(c.arguments),
		}})
		send("content_block_stop", object{"index": index})
	}
	send("message_delta", object{
		"delta": object{"stop_reason": stop, "stop_sequence": nil}, "usage": object{"output_tokens": q.bill.Output},
	})
	send("message_stop", object{})
}

func (messages) whole(q request, a answer, c call) any {
	var content list
	if a.text != "" {
		content = append(content, object{"type": "text", "text": a.text})
	}
	stop := "end_turn"
	if c.tool != "" {
		stop = "tool_use"
		content = append(content, messages{}.use(c))
	}
	return messages{}.message(q, content, stop)
}

func (messages) message(q request, content list, stop any) object {
	return object{
		"id": newID("msg"), "type": "message", "role": "assistant", "model": q.model, "content": content,
		"stop_reason": stop, "stop_sequence": nil,
		"usage": object{
			"input_tokens": q.bill.Input, "output_tokens": q.bill.Output,
			"cache_creation_input_tokens": q.bill.CacheWrite, "cache_read_input_tokens": q.bill.CacheRead,
		},
	}
}

func (messages) use(c call) object {
	return object{"type": "tool_use", "id": newID("toolu"), "name": c.tool, "input": c.arguments}
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
