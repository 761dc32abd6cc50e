package ui

import (
	"slices"
	"strings"
)

// draft returns the draft that the user has begun for an agent, "" for one that is being sent.
func (m Model) draft(key string) string {
	draft := m.paw.Draft(key)
	if slices.Contains(m.sending[key], draft) {
		return ""
	}
	return draft
}

// sent takes a prompt off those that are being sent. A prompt that was not sent is the draft again;
// sent returns it where the user has begun another draft meanwhile.
func (m *Model) sent(words []string, arrived bool) (unsent string) {
	if len(words) != 4 || words[0] != "send" || words[2] != "--" {
		return ""
	}
	key, _, _ := strings.Cut(words[1], ",")
	prompt := words[3]
	i := slices.Index(m.sending[key], prompt)
	if i < 0 {
		return ""
	}
	m.sending = with(m.sending, key, slices.Delete(slices.Clone(m.sending[key]), i, i+1))
	switch draft := m.paw.Draft(key); {
	case arrived && draft == prompt:
		_ = m.paw.KeepDraft(key, "") // on an error the sent prompt only stays as a draft
	case !arrived && draft == "":
		_ = m.paw.KeepDraft(key, prompt)
	case !arrived && draft != prompt:
		return prompt
	}
	return ""
}
