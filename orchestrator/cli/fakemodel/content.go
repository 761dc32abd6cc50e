package fakemodel

import (
	"encoding/json"
	"strings"
)

// part is a piece of a message's content, in any protocol that has pieces.
type part struct {
	Type    string          `json:"type"`
	Text    string          `json:"text"`
	Content json.RawMessage `json:"content"` // of a tool's result, again a text or parts
}

// parts reads content that is either a text or a list of parts; anything else has none.
func parts(content json.RawMessage) []part {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return []part{{Type: "text", Text: text}}
	}
	var all []part
	if json.Unmarshal(content, &all) != nil {
		return nil
	}
	return all
}

// plain is all text of some content.
func plain(content json.RawMessage) string {
	var text []string
	for _, p := range parts(content) {
		text = append(text, p.Text)
	}
	return strings.Join(text, "\n")
}
