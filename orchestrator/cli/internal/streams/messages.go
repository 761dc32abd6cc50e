package streams

import (
	"cmp"
	"encoding/json"
)

// Message is a line of the JSON stream of claude and qwen.
type Message struct {
	Type    string `json:"type"`
	Message struct {
		Content json.RawMessage `json:"content"`
	} `json:"message"`
	Subtype string          `json:"subtype"`
	IsError bool            `json:"is_error"`
	Result  string          `json:"result"`
	Error   json.RawMessage `json:"error"` // set by qwen: an object with a message
}

// Tell reads the model's texts, and a line for each tool call. The last line has the result.
func (m Message) Tell(t *Turn) {
	switch m.Type {
	case "assistant":
		var blocks []struct {
			Type  string          `json:"type"`
			Text  string          `json:"text"`
			Name  string          `json:"name"`
			Input json.RawMessage `json:"input"`
		}
		_ = json.Unmarshal(m.Message.Content, &blocks)
		for _, block := range blocks {
			switch block.Type {
			case "text":
				t.Shown += block.Text + "\n"
			case "tool_use":
				t.Shown += ToolLine(block.Name, block.Input)
			}
		}
	case "result":
		t.Answer, t.Ended = m.Result, !m.IsError
		if m.Subtype != "success" {
			t.Failed.Type = m.Subtype
		}
		var detail struct {
			Message string `json:"message"`
		}
		_ = json.Unmarshal(m.Error, &detail)
		t.Failed.Message = cmp.Or(m.Result, detail.Message, t.Failed.Type)
	}
}
