package fakemodel

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"paw/orchestrator/cli/internal/steps"
)

// grammar defines the steps of a prompt. Step.Path is a file, or the tool's name in a step tool;
// Step.Number is the HTTP status in a step fail.
var grammar = steps.Grammar{
	"write": steps.PathAndText, "append": steps.PathAndText, "remove": steps.Path,
	"run": steps.Text("command"), "ask": steps.Text("command"), "tool": toolCall,
	"commit": steps.Text("message"), "outcome": steps.Text("word"), "sleep": steps.Seconds, "slow": slowly, "fail": failure, "limit": steps.Seconds,
	"say": steps.Anything, "drop": steps.Anything, "hang": steps.Anything,
}

// toolCall reads the name of a tool and its arguments.
func toolCall(s *steps.Step) error {
	s.Path, s.Text, _ = strings.Cut(s.Text, " ")
	if s.Text != "" && !json.Valid([]byte(s.Text)) {
		return fmt.Errorf("do: tool %s: the arguments are not JSON: %s", s.Path, s.Text)
	}
	return s.Need(s.Path, "name")
}

// slowly reads the seconds over which a text is streamed, and the text.
func slowly(s *steps.Step) error {
	seconds, text, _ := strings.Cut(s.Text, " ")
	s.Text = text
	return s.Wait(seconds)
}

// failure reads an HTTP status from the first word, if that is one. The default is 400, which no
// CLI retries.
func failure(s *steps.Step) error {
	s.Number = 400
	word, rest, _ := strings.Cut(s.Text, " ")
	if code, err := strconv.Atoi(word); err == nil && code >= 400 && code <= 599 {
		s.Number, s.Text = code, strings.TrimSpace(rest)
	}
	if s.Text == "" {
		s.Text = fmt.Sprintf("scripted error %d", s.Number)
	}
	return nil
}

// firstLine returns the line of a plain prompt that is written into NOTES.md.
func firstLine(prompt string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(prompt), "\n")
	return strings.TrimSpace(line)
}
