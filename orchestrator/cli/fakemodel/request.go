package fakemodel

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"paw/config/lazyregexp"
)

// request is what one request of any protocol tells: the newest prompt, what has been done for it, and what the CLI
// offers.
type request struct {
	protocol string
	model    string
	stream   bool
	prompt   string
	prompts  int    // of the conversation
	results  int    // of tools, since the prompt
	newest   string // of these results
	tools    map[string]tool

	inFiles      bool   // the text that comes next is of files that the prompt names
	directory    string // in which the CLI works, "" when the request does not tell
	refusedWrite bool   // the newest result says that a file cannot be written before it is read
	wanted       *schema
	bill         Bill // of the answer
}

func newRequest(protocol, model string, stream bool) request {
	return request{protocol: protocol, model: model, stream: stream, tools: map[string]tool{}}
}

// directories are the ways in which CLIs tell the model where they work.
var directories = []*lazyregexp.Regexp{
	lazyregexp.New(`(?i)working directory(?: is)?:[ \t]*(/[^\n<]+)`),               // claude, opencode, copilot
	lazyregexp.New(`<cwd>(/[^\n<]+)</cwd>`),                                        // codex
	lazyregexp.New(`(?i)working in the directory:[ \t]*(/[^\n<]+)`),                // qwen
	lazyregexp.New(`(?i)workspace directories:\**[ \t]*\n[ \t]*-[ \t]*(/[^\n<]+)`), // gemini
}

// hear takes a text that is not the user's: instructions and notes of the CLI.
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

// filesBegin and filesEnd enclose the contents of files that a prompt names (gemini, qwen), in one text or in several.
const filesBegin, filesEnd = "--- Content from referenced files ---", "--- End of content ---"

// joined is what qwen puts before a prompt that was typed while a tool ran.
const joined = "[User message received during tool execution]: "

// say takes a text that came in the user's name. CLIs put notes of their own there too.
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

// unquoted undoes what `opencode run` does to an argument with a space in it.
func unquoted(prompt string) string {
	inner, begins := strings.CutPrefix(prompt, `"`)
	inner, ends := strings.CutSuffix(inner, `"`)
	if !begins || !ends {
		return prompt
	}
	return strings.ReplaceAll(inner, `\"`, `"`)
}

// refusal tells a file that must be read first, or may not be written anew, from other results.
var refusal = lazyregexp.New(`(?i)has not been read|(must|first) (be )?read|read (it|the file) (first|before)|already exists`)

// result takes what a tool gave back. A refused write is done once more in another way, so it does not count.
func (q *request) result(text string) {
	q.newest = text
	if q.refusedWrite = refusal.MatchString(text) && q.wrote(); !q.refusedWrite {
		q.results++
	}
}

// wrote tells whether the newest call wrote a file, with a tool and for the first time.
func (q *request) wrote() bool {
	return !q.refusedWrite && q.prompt != "" && answerTo(q.prompt, q.results).action.verb == "write"
}

// notes begin a text of the CLI that has no tags around it.
var notes = []string{
	"# AGENTS.md", "Warning: ", "This is the Gemini CLI", "This is the Qwen Code", "[Request interrupted", "Caveat: ",
	"Tool loaded.",
}

// opening is a tag that stands at the beginning of a text or of a line.
var opening = lazyregexp.New(`(?m)^[ \t]*<([A-Za-z][\w-]*)[^>\n]*>`)

// withoutNotes is the user's part of a text: "" when it is wholly the CLI's, which marks its own with tags.
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

// own is how CLIs ask for something on their own behalf, though in the middle of a conversation and with its tools: a
// summary to go on with, what to remember, or what the user could type next (qwen).
var own = lazyregexp.New(
	`(?i)summary of the conversation|context checkpoint compaction|<state_snapshot>|^managed memory directory:|^\[SUGGESTION MODE:`)

// aside reports whether a CLI asks on its own behalf. Requests without tools are its own as well: titles, probes.
func (q *request) aside() bool {
	return q.wanted != nil || len(q.tools) == 0 || q.prompt == "" || own.MatchString(q.prompt)
}

// answer decides what the model says.
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
	if q.refusedWrite { // what goes with the call was said before
		a.text, a.delay, a.spread = "", 0, 0
	}
	return a, c
}

// Entry is one request, as it was understood before it was answered.
type Entry struct {
	Time     time.Time
	Path     string
	Protocol string   // "messages", "responses", "chat" or "gemini"; "" for all else
	Tools    []string // that the CLI offers, by name; none for its own requests
	Prompt   string   // the newest one, cut to 200 characters
	Prompts  int      // of the conversation, with the newest one
	Results  int      // of tools, since the prompt
	Result   string   // the newest of them, cut likewise
	Text     string   // of the answer, cut likewise
	Tool     string   // which the answer calls
	Status   int      // of the answer; 200 also where its stream is going to break
	Aside    bool     // asked on the CLI's own behalf, such as for a title
	Bill     Bill     // of the answer, none of an error's
}

// keep takes a request.
func (s *Server) keep(r *http.Request, e Entry) {
	e.Time, e.Path = time.Now(), r.URL.Path
	s.mu.Lock()
	defer s.mu.Unlock()
	s.entries = append(s.entries, e)
}

// Last are the n newest requests, the newest at the end.
func (s *Server) Last(n int) []Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.entries[max(0, len(s.entries)-n):])
}

// Asked returns the first request with a prompt, which an entry cuts to 200 characters, after so many tools of that turn had
// given their results. The requests that a CLI makes for itself do not count.
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
	Type       json.RawMessage   `json:"type"` // a name or a list of names; Gemini writes them in capitals
	Properties map[string]schema `json:"properties"`
	Required   []string          `json:"required"`
	Enum       []any             `json:"enum"`
	Minimum    float64           `json:"minimum"`
}

// kind is the first type that is not null, in small letters; "" when none is given.
func (s schema) kind() string {
	var names []string
	if json.Unmarshal(s.Type, &names) != nil {
		names = make([]string, 1)
		_ = json.Unmarshal(s.Type, &names[0]) // neither a list nor a name: any type
	}
	for _, name := range names {
		if name = strings.ToLower(name); name != "null" {
			return name
		}
	}
	return ""
}

// value makes up something that fits.
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

// fill adds what the schema requires and arguments lacks, so that a version of a CLI that wants one more argument is
// still served.
func (s schema) fill(arguments map[string]any) map[string]any {
	for _, name := range s.Required {
		if _, ok := arguments[name]; !ok {
			arguments[name] = s.Properties[name].value()
		}
	}
	return arguments
}

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
