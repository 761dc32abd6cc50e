package gemini

import (
	"cmp"
	"slices"
	"strings"

	"paw/orchestrator/cli/internal/records"
)

// chatHead decides whether gemini opens a chat file again.
type chatHead struct {
	id        string
	resumable bool // has a message with which gemini goes on
	prompted  bool // has had a prompt, which may have been taken back
}

// emptiness says why gemini does not open a chat.
func (c chatHead) emptiness() string {
	if c.prompted {
		return "gemini has taken all that was said back out of the conversation, as it does at an Esc in the first turn"
	}
	return "the conversation has no message yet"
}

type chatRecord struct {
	chatMessage
	SessionID string `json:"sessionId"`
	RewindTo  string `json:"$rewindTo"`
	Set       struct {
		SessionID string         `json:"sessionId"`
		Messages  *[]chatMessage `json:"messages"` // replaces all messages before
	} `json:"$set"`
}

// readChat reads a chat file as gemini does before it opens the conversation, from the end: a list
// of messages replaces those before it, and a rewind takes messages back, from the named one on.
func readChat(file string) (chatHead, error) {
	var chat chatHead
	if err := records.EachLine(file, func(r chatRecord) bool {
		for _, id := range []string{r.SessionID, r.Set.SessionID} {
			if id != "" {
				chat.id = id
			}
		}
		return chat.id == ""
	}); err != nil {
		return chat, err
	}
	replaced, until := false, "" // whether a later list of messages was read; id of the message back to which messages are taken back
	counts := func(m chatMessage) bool {
		left, resumes := !replaced && until == "", m.resumes()
		chat.prompted = chat.prompted || resumes
		if m.ID == until {
			until = ""
		}
		return left && resumes
	}
	err := records.EachBack(file, func(r chatRecord) bool {
		switch {
		case r.RewindTo != "":
			until = cmp.Or(until, r.RewindTo)
		case r.Set.Messages != nil:
			for _, m := range slices.Backward(*r.Set.Messages) {
				chat.resumable = counts(m) || chat.resumable
			}
			replaced = true
		default:
			chat.resumable = counts(r.chatMessage)
		}
		return !chat.resumable
	})
	return chat, err
}

// resumes reports whether gemini goes on with a message: text or tools of the model, or a text of
// the user that is neither a command nor context added by gemini. Results of tools come with the
// tools.
func (m chatMessage) resumes() bool {
	text := strings.TrimSpace(m.text())
	switch m.Type {
	case "gemini":
		return text != "" || len(m.ToolCalls) > 0 || len(m.Thoughts) > 0
	case "user":
		aside := func(begin string) bool { return strings.HasPrefix(text, begin) }
		return text != "" && !slices.ContainsFunc([]string{"/", "?", "<session_context>", "<hook_context>"}, aside)
	}
	return false
}

func (m chatMessage) text() string {
	if text, ok := m.Content.(string); ok {
		return text
	}
	var text strings.Builder
	parts, _ := m.Content.([]any)
	for _, part := range parts {
		fields, _ := part.(map[string]any)
		one, _ := fields["text"].(string)
		text.WriteString(one)
	}
	return text.String()
}
