package fakemodel

import (
	"encoding/json"
	"strings"

	"paw/config/lazyregexp"
	"paw/orchestrator/cli/internal/records"
)

// request is the content of a request in any protocol: the newest prompt, the tool results since
// then, and the tools of the CLI.
type request struct {
	protocol string
	model    string
	stream   bool
	prompt   string
	prompts  int    // number in the conversation
	results  int    // tool results since the prompt
	newest   string // newest of the tool results since the prompt
	tools    map[string]tool

	inFiles bool // the following text is the content of files that the prompt names
	wanted  *schema
	bill    Bill // tokens of the answer
}

func newRequest(protocol, model string, stream bool) request {
	return request{protocol: protocol, model: model, stream: stream, tools: map[string]tool{}}
}

// meanwhile matches claude's note about a prompt that was typed while a turn ran and tools were
// still to run.
var meanwhile = lazyregexp.New(`(?s)^The user sent a new message while you were working:\n(.*?)\n\nIMPORTANT: `)

// feedback matches claude's note about a Stop hook that made it go on.
var feedback = lazyregexp.New(`(?s)^<system-reminder>\n.*\nStop hook feedback:\n(.*)\n</system-reminder>`)

// take takes a message, whose content is a text or parts. A note of the CLI may contain a prompt of
// the user or of a hook.
func (q *request) take(role string, content records.Parts) {
	if role == "tool" {
		q.result(content.Words())
		return
	}
	for _, p := range content {
		note := role == "system" || role == "developer"
		found := feedback().FindStringSubmatch(p.Text)
		if note && found == nil {
			found = meanwhile().FindStringSubmatch(p.Text)
		}
		switch {
		case !note && role != "user":
		case found != nil:
			q.say(found[1])
		case note:
		case p.Type == "tool_result":
			q.result(p.Content.Words())
		default:
			q.say(p.Text)
		}
	}
}

// filesBegin and filesEnd enclose the contents of files that a prompt names (gemini, qwen), in one
// text or across several.
const filesBegin, filesEnd = "--- Content from referenced files ---", "--- End of content ---"

// joined precedes a prompt that was typed in qwen while a tool ran.
const joined = "[User message received during tool execution]: "

// say takes a text in the user's name: a prompt, or a note that the CLI adds.
func (q *request) say(text string) {
	switch begins, ends := strings.Contains(text, filesBegin), strings.HasSuffix(strings.TrimSpace(text), filesEnd); {
	case q.inFiles:
		q.inFiles = !ends
		return
	case begins:
		q.inFiles = !ends
		text, _, _ = strings.Cut(text, filesBegin)
	}
	prompt := strings.TrimPrefix(withoutNotes(text), joined)
	if prompt == "" {
		return
	}
	q.prompts++
	q.prompt, q.results, q.newest = prompt, 0, ""
}

// result takes a tool's result.
func (q *request) result(text string) {
	q.newest = text
	q.results++
}

// notes are the beginnings of texts of a CLI that are not marked by tags.
var notes = []string{
	"# AGENTS.md", "Warning: ", "This is the Gemini CLI", "This is the Qwen Code", "[Request interrupted", "Caveat: ",
	"Tool loaded.",
}

// opening matches a tag at the beginning of a text or line.
var opening = lazyregexp.New(`(?m)^[ \t]*<([A-Za-z][\w-]*)[^>\n]*>`)

// withoutNotes returns the user's part of a text: CLIs mark their own parts with tags. It is ""
// when nothing is left.
func withoutNotes(text string) string {
	for from := 0; ; {
		found := opening().FindStringSubmatchIndex(text[from:])
		if found == nil {
			break
		}
		begin, end := from+found[0], from+found[1]
		closing := "</" + text[from+found[2]:from+found[3]] + ">"
		length := strings.Index(text[end:], closing)
		if length < 0 {
			from = end
			continue
		}
		text = text[:begin] + text[end+length+len(closing):]
		from = begin
	}
	text = strings.TrimSpace(text)
	for _, note := range notes {
		if strings.HasPrefix(text, note) {
			return ""
		}
	}
	return text
}

// own matches requests that CLIs make for themselves within a conversation and with its tools: a
// summary to go on with, what to remember, or what the user could type next (qwen).
var own = lazyregexp.New(
	`(?i)summary of the conversation|context checkpoint compaction|<state_snapshot>|^managed memory directory:|^\[SUGGESTION MODE:`)

// aside reports whether a CLI asks for itself. Requests without tools count as such: titles,
// probes.
func (q *request) aside() bool {
	return q.wanted != nil || len(q.tools) == 0 || q.prompt == "" || own().MatchString(q.prompt)
}

// answer returns the model's answer, and the tool call for its action.
func (q *request) answer() (answer, call) {
	switch {
	case q.wanted != nil:
		return answer{text: encode(q.wanted.value())}, call{}
	case q.aside():
		return answer{text: side}, call{}
	}
	a := answerTo(q.prompt, q.results)
	if a.action.verb == "" {
		return a, call{}
	}
	c, ok := q.callFor(a.action)
	if !ok {
		return answer{text: "no tool to " + a.action.verb + " with"}, call{}
	}
	return a, c
}

// callFor turns an action into a call of one of the request's tools; false when none fits.
func (q request) callFor(a action) (call, bool) {
	if a.verb == "tool" {
		return q.named(a)
	}
	for _, shell := range shells {
		if t, ok := q.tools[shell.name]; ok {
			return t.run(a, shell.command), true
		}
	}
	return call{}, false
}

// named calls the tool that the action names, such as one that asks the user.
func (q request) named(a action) (call, bool) {
	t, ok := q.tools[a.name]
	if !ok {
		return call{}, false
	}
	arguments := map[string]any{}
	if a.text != "" && json.Unmarshal([]byte(a.text), &arguments) != nil {
		return call{}, false
	}
	return t.call(arguments), true
}
