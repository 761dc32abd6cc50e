package fakemodel

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"paw/config/lazyregexp"
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

	inFiles      bool   // the following text is the content of files that the prompt names
	directory    string // working directory of the CLI, "" where the request does not tell
	refusedWrite bool   // the newest result says that the file must be read before it is written
	wanted       *schema
	bill         Bill // tokens of the answer
}

func newRequest(protocol, model string, stream bool) request {
	return request{protocol: protocol, model: model, stream: stream, tools: map[string]tool{}}
}

// directories matches the ways in which CLIs tell the model their working directory.
var directories = []*lazyregexp.Regexp{
	lazyregexp.New(`(?i)working directory(?: is)?:[ \t]*(/[^\n<]+)`),               // claude, opencode, copilot
	lazyregexp.New(`<cwd>(/[^\n<]+)</cwd>`),                                        // codex
	lazyregexp.New(`(?i)working in the directory:[ \t]*(/[^\n<]+)`),                // qwen
	lazyregexp.New(`(?i)workspace directories:\**[ \t]*\n[ \t]*-[ \t]*(/[^\n<]+)`), // gemini
}

// hear takes a text that is not from the user: instructions and notes of the CLI.
func (q *request) hear(text string) {
	if q.directory != "" {
		return
	}
	for _, expression := range directories {
		if found := expression.FindStringSubmatch(text); found != nil {
			q.directory = strings.TrimSpace(found[1])
			return
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
		q.hear(text)
		return
	}
	q.prompts++
	q.prompt, q.results, q.newest, q.refusedWrite = unquoted(prompt), 0, "", false
}

// unquoted undoes the quoting that `opencode run` applies to an argument with a space.
func unquoted(prompt string) string {
	inner, begins := strings.CutPrefix(prompt, `"`)
	inner, ends := strings.CutSuffix(inner, `"`)
	if !begins || !ends {
		return prompt
	}
	return strings.ReplaceAll(inner, `\"`, `"`)
}

// refusal matches the result of a tool that will not write a file before it was read, or at all if
// it exists.
var refusal = lazyregexp.New(`(?i)has not been read|(must|first) (be )?read|read (it|the file) (first|before)|already exists`)

// result takes a tool's result. A refused write does not count: it is repeated in another way.
func (q *request) result(text string) {
	q.newest = text
	if q.refusedWrite = refusal.MatchString(text) && q.wrote(); !q.refusedWrite {
		q.results++
	}
}

// wrote reports whether the newest call tried to write a file with a tool, for the first time.
func (q *request) wrote() bool {
	return !q.refusedWrite && q.prompt != "" && answerTo(q.prompt, q.results).action.verb == "write"
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
		found := opening.FindStringSubmatchIndex(text[from:])
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
	return q.wanted != nil || len(q.tools) == 0 || q.prompt == "" || own.MatchString(q.prompt)
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
	if q.refusedWrite { // the text was sent with the refused call
		a.text, a.delay, a.spread = "", 0, 0
	}
	return a, c
}

// Entry is a request as the server understood it.
type Entry struct {
	Time     time.Time
	Path     string
	Protocol string   // "messages", "responses", "chat" or "gemini"; "" for other requests
	Tools    []string // names of the CLI's tools; none in requests that a CLI makes for itself
	Prompt   string   // the newest prompt, cut to 200 characters
	Prompts  int      // number of prompts in the conversation, the newest included
	Results  int      // tool results since the prompt
	Result   string   // newest tool result, cut to 200 characters
	Text     string   // text of the answer, cut to 200 characters
	Tool     string   // tool that the answer calls
	Status   int      // HTTP status of the answer; 200 also where its stream will break
	Aside    bool     // the CLI asks for itself, such as for a title
	Bill     Bill     // tokens of the answer; zero for an error
}

// keep records a request.
func (s *Server) keep(r *http.Request, e Entry) {
	e.Time, e.Path = time.Now(), r.URL.Path
	s.mu.Lock()
	defer s.mu.Unlock()
	s.entries = append(s.entries, e)
}

// Last returns the n newest requests, the newest last.
func (s *Server) Last(n int) []Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.entries[max(0, len(s.entries)-n):])
}

// Asked returns the first request that has the prompt (as an Entry cuts it) and that many tool
// results. Requests that a CLI makes for itself do not count.
func (s *Server) Asked(prompt string, results int) (Entry, bool) {
	s.mu.Lock()
	all := s.entries
	s.mu.Unlock()
	i := slices.IndexFunc(all, func(e Entry) bool {
		return len(e.Tools) > 0 && e.Results == results && strings.TrimSpace(e.Prompt) == prompt
	})
	if i < 0 {
		return Entry{}, false
	}
	return all[i], true
}

// schema is the part of a JSON schema that is needed to make up a value.
type schema struct {
	Type       json.RawMessage   `json:"type"` // a name of a type or a list of names; Gemini writes the names in capitals
	Properties map[string]schema `json:"properties"`
	Required   []string          `json:"required"`
	Enum       []any             `json:"enum"`
	Minimum    float64           `json:"minimum"`
}

// kind returns the first type that is not null, in lower case; "" when none is given.
func (s schema) kind() string {
	var names []string
	if json.Unmarshal(s.Type, &names) != nil {
		names = make([]string, 1)
		_ = json.Unmarshal(s.Type, &names[0]) // neither a list nor a name means any type
	}
	for _, name := range names {
		if name = strings.ToLower(name); name != "null" {
			return name
		}
	}
	return ""
}

// value makes up a value that fits the schema.
func (s schema) value() any {
	if len(s.Enum) > 0 {
		return s.Enum[0]
	}
	switch s.kind() {
	case "object", "":
		object := map[string]any{}
		for _, name := range s.Required {
			object[name] = s.Properties[name].value()
		}
		return object
	case "array":
		return []any{}
	case "boolean":
		return false
	case "number", "integer":
		return max(s.Minimum, 1)
	}
	return "scripted"
}

// fill adds arguments that the schema requires, so that a version of a CLI that wants one more
// argument still works.
func (s schema) fill(arguments map[string]any) map[string]any {
	for _, name := range s.Required {
		if _, ok := arguments[name]; !ok {
			arguments[name] = s.Properties[name].value()
		}
	}
	return arguments
}

// part is a piece of a message's content in any protocol.
type part struct {
	Type    string          `json:"type"`
	Text    string          `json:"text"`
	Content json.RawMessage `json:"content"` // result of a tool: a text or parts
}

// parts reads content that is a text or a list of parts; other content has none.
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

// plain joins the texts of some content.
func plain(content json.RawMessage) string {
	var text []string
	for _, p := range parts(content) {
		text = append(text, p.Text)
	}
	return strings.Join(text, "\n")
}
