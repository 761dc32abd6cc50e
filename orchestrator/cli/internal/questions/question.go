// Package questions puts what a CLI asks its user into one line.
package questions

import (
	"encoding/json"
	"fmt"
	"strings"

	"paw/config/display"
)

// longestQuestion is the maximal width of a question, in columns.
const longestQuestion = 300

// planQuestion is the question of a tool that ends planning.
const planQuestion = "asks whether to go on with its plan"

// pagesEnd ends the line for several questions that come one after the other.
const pagesEnd = " questions)"

// Paged reports whether a line stands for several questions: only the screen tells which of them is
// open.
func Paged(question string) bool { return strings.HasSuffix(question, pagesEnd) }

// toolWords translates names of tools that only their CLI's users know.
var toolWords = map[string]string{
	"run_shell_command": "Shell", "write_file": "Write", "edit": "Edit", "replace": "Edit", "read_file": "Read",
	"web_fetch": "Fetch", "google_web_search": "Search", "web_search": "Search", "ExitPlanMode": planQuestion, "exit_plan_mode": planQuestion,
}

// OfTool returns the question about a tool call: the tool's name and its most telling argument.
func OfTool(tool string, input json.RawMessage) string {
	var arguments struct {
		Command   any    `json:"command"` // a text, or a list of words
		FilePath  string `json:"file_path"`
		FileName  string `json:"fileName"`
		Path      string `json:"path"`
		URL       string `json:"url"`
		Query     string `json:"query"`
		Pattern   string `json:"pattern"`
		Prompt    string `json:"prompt"`
		Questions []struct {
			Question string `json:"question"`
		} `json:"questions"`
	}
	if words, ok := toolWords[tool]; ok {
		tool = words
	}
	if json.Unmarshal(input, &arguments) != nil || tool == planQuestion {
		return Title(tool)
	}
	switch n := len(arguments.Questions); {
	case n == 1:
		return Title(arguments.Questions[0].Question)
	case n > 1:
		return Title(fmt.Sprintf("%s (the first of %d%s", strings.TrimSpace(arguments.Questions[0].Question), n, pagesEnd))
	}
	command, _ := arguments.Command.(string)
	if words, ok := arguments.Command.([]any); ok {
		for _, word := range words {
			text, _ := word.(string)
			command += " " + text
		}
	}
	for _, detail := range []string{
		command, arguments.FilePath, arguments.FileName, arguments.Path, arguments.URL, arguments.Query, arguments.Pattern, arguments.Prompt,
	} {
		if detail = strings.TrimSpace(detail); detail != "" {
			return Title(tool + ": " + detail)
		}
	}
	return Title(tool)
}

// Title returns the first line of a text, with an ellipsis where text was left out.
func Title(text string) string {
	line := display.FirstLine(text)
	if title := display.Graphemes.Cut(line, longestQuestion); title != line {
		return title
	}
	if line != strings.TrimSpace(text) {
		return line + " …"
	}
	return line
}
