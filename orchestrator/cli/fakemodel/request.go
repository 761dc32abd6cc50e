package fakemodel

import (
	"strings"

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
