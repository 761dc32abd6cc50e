package acp

import (
	"cmp"
	"encoding/json"
	"strings"

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
	Content *content `json:"content"`
}

// textOf returns the text of a content or of a list of them.
func textOf(raw json.RawMessage) string {
	var all []content
	if json.Unmarshal(raw, &all) != nil {
		all = make([]content, 1)
		_ = json.Unmarshal(raw, &all[0])
	}
	var texts []string
	for _, one := range all {
		if one.Content != nil {
			one = *one.Content
		}
		switch {
		case one.Text != "":
			texts = append(texts, one.Text)
		case one.Path != "":
			texts = append(texts, "changed "+one.Path)
		case one.Type != "" && one.Type != "text":
			texts = append(texts, "["+one.Type+"]")
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

type option struct {
	ID   string `json:"optionId"`
	Name string `json:"name"`
	Kind string `json:"kind"`
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

// quota is how gemini tells the usage of a turn.
type quota struct {
	Quota struct {
		Tokens *struct {
			Input  int64 `json:"input_tokens"`
			Output int64 `json:"output_tokens"`
		} `json:"token_count"`
	} `json:"quota"`
}
