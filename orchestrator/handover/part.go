package handover

import (
	"fmt"
	"strings"

	"paw/config/display"
	"paw/session/history"
)

// longestCall is how much is told of one tool call, in bytes.
const longestCall = 240

// part is one message of a brief, or a gap.
type part struct {
	title  string // who speaks
	text   string
	calls  string // a line for each
	ended  string // how the turn ended whose last message this is, "" when it ended well
	result bool   // of a tool
	keep   bool   // never left out
	gap    int    // how many messages it stands for, which were left out
}

// parts puts the messages into words. What terminals obey is taken out: a
// brief may be typed into one. Paths become those of the new worktree.
func parts(b Brief) []part {
	titles := map[history.Role]string{history.RoleUser: "User", history.RoleAssistant: b.CLI, history.RoleSystem: "Note"}
	tools := map[string]string{} // names by the id of the call
	parts := make([]part, len(b.Messages))
	first, last, answer := -1, -1, -1
	for i, m := range b.Messages {
		p := part{title: titles[m.Role], text: strings.TrimSpace(b.printable(m.Content)), result: m.Role == history.RoleTool}
		if p.result {
			p.title = strings.TrimSpace("Result of " + tools[m.ToolCallID])
		}
		for _, call := range m.ToolCalls {
			tools[call.ID] = display.Words(call.Name)
			p.calls += "→ " + cutLine(call.Name+" "+b.printable(call.Arguments), longestCall) + "\n"
		}
		if end := b.Ends[i]; end != "" {
			p.ended = cutLine(b.printable(end), longestCall)
		}
		switch {
		case m.Role == history.RoleUser:
			if last = i; first < 0 {
				first = i
			}
		case m.Role == history.RoleAssistant && p.text != "":
			answer = i
		}
		parts[i] = p
	}
	for _, i := range []int{first, last, answer} {
		if i >= 0 {
			parts[i].keep = true
		}
	}
	return parts
}

// printable is a text as a terminal may get it, with the paths of the new worktree.
func (b Brief) printable(text string) string {
	text = display.Printable(text)
	if b.Paths == nil {
		return text
	}
	return b.Paths.text(text)
}

// tell writes parts one after another, with at most so many bytes of each result
// and of each other text.
func tell(parts []part, result, text int) string {
	var out strings.Builder
	for _, p := range parts {
		out.WriteString(p.tell(result, text))
	}
	return out.String()
}

// tell writes a part as a quotation: no line of it can be taken for one of the
// brief, or of the prompt behind it.
func (p part) tell(result, text int) string {
	if p.gap > 0 {
		return fmt.Sprintf("[%s left out here]\n\n", CountedMessages(p.gap))
	}
	most := text
	if p.result {
		most = min(result, text)
	}
	content := cutText(p.text, most)
	if calls := cutText(p.calls, text); calls != "" {
		content = strings.TrimSpace(content + "\n" + calls)
	}
	var out strings.Builder
	out.WriteString(p.title + ":\n")
	for line := range strings.Lines(content) {
		out.WriteString("> " + strings.TrimSuffix(line, "\n") + "\n")
	}
	if p.ended != "" {
		out.WriteString("\nHow this turn ended:\n> " + p.ended + "\n")
	}
	return out.String() + "\n"
}
