package acp

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"paw/orchestrator/cli/internal/plain"
	"paw/orchestrator/cli/internal/questions"
)

// update has the parameters of a session/update: a part of the agent's answer, or of its call of a tool.
type update struct {
	Session string `json:"sessionId"`
	Update  struct {
		Kind string `json:"sessionUpdate"`
		Meta struct {
			Usage *tokens `json:"usage"` // qwen tells it of each answer of its model
		} `json:"_meta"`
		call
	} `json:"update"`
}

// call is a call of a tool. Later updates of it have what has changed.
type call struct {
	ID      string          `json:"toolCallId"`
	Title   string          `json:"title"`
	Status  string          `json:"status"` // pending, in_progress, completed or failed
	Input   json.RawMessage `json:"rawInput"`
	Content json.RawMessage `json:"content"`
	shown   bool
}

// changed takes over what an update of the call has.
func (c *call) changed(now call) {
	if now.Title != "" {
		c.Title = now.Title
	}
	if len(now.Input) > len("null") {
		c.Input = now.Input
	}
	if len(now.Content) > len("null") {
		c.Content = now.Content
	}
	c.ID, c.Status = now.ID, now.Status
}

// words describes the call in one line: its title and, unless the title has it, its most telling argument.
func (c *call) words() string {
	title := cmp.Or(c.Title, "a tool")
	detail := strings.TrimPrefix(questions.OfTool("", c.Input), ": ")
	if detail == "" || strings.Contains(title, strings.TrimSuffix(detail, " …")) {
		return questions.Title(title)
	}
	return questions.Title(title + ": " + detail)
}

// content is a text, or what a tool has done.
type content struct {
	Type    string   `json:"type"`
	Text    string   `json:"text"`
	Path    string   `json:"path"` // of a diff
	Old     string   `json:"oldText"`
	New     string   `json:"newText"`
	Content *content `json:"content"`
}

// contentsOf returns a content or a list of them.
func contentsOf(raw json.RawMessage) []content {
	var all []content
	if json.Unmarshal(raw, &all) != nil {
		all = make([]content, 1)
		_ = json.Unmarshal(raw, &all[0])
	}
	for i, one := range all {
		if one.Content != nil {
			all[i] = *one.Content
		}
	}
	return all
}

// text returns the text of a content, or one that stands for it.
func (c content) text() string {
	switch {
	case c.Text != "":
		return c.Text
	case c.Path != "":
		return "changed " + c.Path
	case c.Type != "" && c.Type != "text":
		return "[" + c.Type + "]"
	}
	return ""
}

// textOf returns the text of a content or of a list of them.
func textOf(raw json.RawMessage) string {
	var texts []string
	for _, one := range contentsOf(raw) {
		if text := one.text(); text != "" {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, "\n")
}

// permission is a request of an agent for the user's permission.
type permission struct {
	request json.RawMessage // id of the agent's request
	Session string          `json:"sessionId"`
	Call    call            `json:"toolCall"`
	Options []option        `json:"options"`
}

// words describes what is asked for: some agents say it in the content alone.
func (p *permission) words() string {
	words, text := p.Call.words(), textOf(p.Call.Content)
	if words == p.Call.Title && text != "" {
		return questions.Title(words + ": " + text)
	}
	return words
}

// details returns all that words leaves out: the title, the tool's arguments, and what it would change.
func (p *permission) details() string {
	var all, known []string
	words := p.words()
	add := func(before, text string) {
		if text != "" && text != words && !strings.HasSuffix(words, ": "+text) && !slices.Contains(known, text) {
			all, known = append(all, before+text), append(known, text)
		}
	}
	if !strings.HasPrefix(words, p.Call.Title+": ") {
		add("", p.Call.Title)
	}
	var input map[string]json.RawMessage
	if json.Unmarshal(p.Call.Input, &input) != nil {
		add("", string(p.Call.Input))
	}
	for _, name := range slices.Sorted(maps.Keys(input)) {
		var text string
		if json.Unmarshal(input[name], &text) != nil {
			text = string(input[name])
		}
		add(name+": ", text)
	}
	for _, one := range contentsOf(p.Call.Content) {
		if one.Type == "diff" {
			add("", one.diff())
		} else {
			add("", one.text())
		}
	}
	return shortened(plain.Visible(strings.Join(all, "\n")))
}

// diff returns the lines that change, and none before and after them.
func (c content) diff() string {
	was, is := strings.Split(c.Old, "\n"), strings.Split(c.New, "\n")
	for len(was) > 0 && len(is) > 0 && was[0] == is[0] {
		was, is = was[1:], is[1:]
	}
	for len(was) > 0 && len(is) > 0 && was[len(was)-1] == is[len(is)-1] {
		was, is = was[:len(was)-1], is[:len(is)-1]
	}
	text := "changes " + c.Path + ":"
	for _, line := range was {
		text += "\n- " + line
	}
	for _, line := range is {
		text += "\n+ " + line
	}
	return text
}

// How much of what is asked is shown.
const (
	mostAskedLines = 100
	mostAskedBytes = 16 << 10
)

// shortened cuts a text off, and says how much is left out.
func shortened(text string) string {
	lines := strings.SplitAfter(text[:min(len(text), mostAskedBytes)], "\n")
	shown := strings.ToValidUTF8(strings.Join(lines[:min(len(lines), mostAskedLines)], ""), "")
	left := text[len(shown):]
	if left == "" {
		return shown
	}
	return fmt.Sprintf("%s\n… left out here: %d bytes in %d lines", strings.TrimSuffix(shown, "\n"), len(left), strings.Count(left, "\n")+1)
}

type option struct {
	ID   string `json:"optionId"`
	Name string `json:"name"`
	Kind string `json:"kind"`
}

// keys answer a question, in the order of its options.
const keys = "123456789abcdefghijklmnopqrstuvwxyz"

// offered returns as many options as there are keys, one that rejects among them.
func offered(all []option) []option {
	some := all[:min(len(all), len(keys))]
	if at := slices.IndexFunc(all, func(o option) bool { return strings.HasPrefix(o.Kind, "reject") }); at >= len(some) {
		some[len(some)-1] = all[at]
	}
	return some
}

// label begins with the word that a paw answer gives for an option of that kind.
func (o option) label() string {
	word := map[string]string{"allow_once": "Yes", "allow_always": "Yes, always", "reject_once": "No", "reject_always": "Never"}[o.Kind]
	switch {
	case word == "" || o.Name == "":
		return questions.Title(word + o.Name)
	default:
		return questions.Title(word + " (" + o.Name + ")")
	}
}

// outcome answers a permission, with the option of that id or, where there is none, by taking the request back.
func outcome(option string) object {
	if option == "" {
		return object{"outcome": object{"outcome": "cancelled"}}
	}
	return object{"outcome": object{"outcome": "selected", "optionId": option}}
}

// tokens is the usage in an agent's answer to a prompt. What went in is the total without the others: some agents count cached tokens
// as input, too.
type tokens struct {
	Total      int64 `json:"totalTokens"`
	Output     int64 `json:"outputTokens"`
	CacheRead  int64 `json:"cachedReadTokens"`
	CacheWrite int64 `json:"cachedWriteTokens"`
	Sums       bool  `json:"sums,omitempty"` // these are of all turns since the agent was started
}

// possible reports whether these can be numbers of tokens: sums of larger ones would overflow.
func (t tokens) possible() bool {
	all := []int64{t.Total, t.Output, t.CacheRead, t.CacheWrite}
	return slices.Min(all) >= 0 && slices.Max(all) < 1<<40
}

// quota is how gemini tells the usage of a turn.
type quota struct {
	Quota struct {
		Tokens *struct {
			Input  int64 `json:"input_tokens"`
			Output int64 `json:"output_tokens"`
		} `json:"token_count"`
	} `json:"quota"`
}
