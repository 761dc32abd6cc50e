package orchestrator

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"paw/session/history"
)

// longestCall is how much is told of one tool call, in bytes.
const longestCall = 240

// briefPart is one message of a brief, or a gap.
type briefPart struct {
	title  string // who speaks
	text   string
	calls  string // a line for each
	result bool   // of a tool
	keep   bool   // never left out
	gap    int    // how many messages it stands for, which were left out
}

// briefParts puts messages into words, cli being the name of the assistant. What
// terminals obey is taken out: a brief may be typed into one.
func briefParts(cli string, messages []history.Message) []briefPart {
	titles := map[history.Role]string{history.RoleUser: "User", history.RoleAssistant: cli, history.RoleSystem: "Note"}
	tools := map[string]string{} // names by the id of the call
	parts := make([]briefPart, len(messages))
	first, last, answer := -1, -1, -1
	for i, m := range messages {
		p := briefPart{title: titles[m.Role], text: strings.TrimSpace(history.Printable(m.Content)), result: m.Role == history.RoleTool}
		if p.result {
			p.title = strings.TrimSpace("Result of " + tools[m.ToolCallID])
		}
		for _, call := range m.ToolCalls {
			tools[call.ID] = oneLineOf(call.Name)
			line := oneLineOf(call.Name + " " + call.Arguments)
			if len(line) > longestCall {
				line = whole(line, longestCall) + "..."
			}
			p.calls += "→ " + line + "\n"
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

// tell writes parts one after another, with at most so many bytes of each result
// and of each other text.
func tell(parts []briefPart, result, text int) string {
	var out strings.Builder
	for _, p := range parts {
		out.WriteString(p.tell(result, text))
	}
	return out.String()
}

// tell writes a part as a quotation: no line of it can be taken for one of the
// brief, or of the prompt behind it.
func (p briefPart) tell(result, text int) string {
	if p.gap > 0 {
		return fmt.Sprintf("[%s left out here]\n\n", countedMessages(p.gap))
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
	return out.String() + "\n"
}

// cutText keeps so many bytes of a text, and says how many are left out, unless
// that is as long.
func cutText(text string, most int) string {
	kept := whole(text, most)
	cut := strings.TrimSpace(kept + fmt.Sprintf("\n[%d bytes left out]", len(text)-len(kept)))
	if len(cut) >= len(text) {
		return text
	}
	return cut
}

// whole is the beginning of a text, of at most so many bytes and whole characters.
func whole(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}

// oneLineOf puts a text into one line.
func oneLineOf(text string) string { return strings.Join(strings.Fields(history.Printable(text)), " ") }

func countedMessages(n int) string {
	if n == 1 {
		return "1 message"
	}
	return fmt.Sprintf("%d messages", n)
}
