// Package questions says in one line what a CLI asks its user.
package questions

import (
	"encoding/json"
	"fmt"
	"strings"

	"paw/config/display"
)

// longestQuestion is in columns: a question is shown in one line.
const longestQuestion = 300

// planQuestion is what a tool asks that ends the planning.
const planQuestion = "asks whether to go on with its plan"

// pagesEnd ends what is asked of several questions that come one after the other.
const pagesEnd = " questions)"

// Paged reports whether a question is the first of several: only the screen tells which of them is asked now.
func Paged(question string) bool { return strings.HasSuffix(question, pagesEnd) }

// toolWords are words for tools whose names only their CLIs know.
var toolWords = map[string]string{
	"run_shell_command": "Shell", "write_file": "Write", "edit": "Edit", "replace": "Edit", "read_file": "Read",
	"web_fetch": "Fetch", "google_web_search": "Search", "web_search": "Search", "ExitPlanMode": planQuestion, "exit_plan_mode": planQuestion,
}

// OfTool is what the user is asked about a tool, in one line: its name and the one argument that tells most.
func OfTool(tool string, input json.RawMessage) string {
	var arguments struct {
		Command   any    `json:"command"` // a text, or words
		FilePath  string `json:"file_path"`
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
		command, arguments.FilePath, arguments.Path, arguments.URL, arguments.Query, arguments.Pattern, arguments.Prompt,
	} {
		if detail = strings.TrimSpace(detail); detail != "" {
			return Title(tool + ": " + detail)
		}
	}
	return Title(tool)
}

// Title returns the first line of a text, with an ellipsis where more was left out.
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
