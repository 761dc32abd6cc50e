package fakemodel

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// step is one thing a prompt asks for in a line `do: STEP`.
type step struct {
	verb     string
	path     string // of write, append and remove; of tool, its name
	text     string
	duration time.Duration
	status   int // of fail
}

// parseSteps returns the steps of a prompt, none for a plain one. Other lines of a prompt with steps are only talk.
func parseSteps(prompt string) ([]step, error) {
	var steps []step
	for line := range strings.Lines(prompt) {
		text, ok := strings.CutPrefix(strings.TrimSpace(line), "do:")
		if !ok {
			continue
		}
		s, err := parseStep(strings.TrimSpace(text))
		if err != nil {
			return nil, err
		}
		steps = append(steps, s)
	}
	return steps, nil
}

func parseStep(line string) (step, error) {
	verb, text, _ := strings.Cut(line, " ")
	s := step{verb: verb, text: strings.TrimSpace(text)}
	switch verb {
	case "write", "append":
		s.path, s.text, _ = strings.Cut(s.text, " ")
		return s, s.need(s.path, "path")
	case "remove":
		s.path, s.text = s.text, ""
		return s, s.need(s.path, "path")
	case "run", "ask":
		return s, s.need(s.text, "command")
	case "tool":
		s.path, s.text, _ = strings.Cut(s.text, " ")
		return s, s.parseArguments()
	case "commit":
		return s, s.need(s.text, "message")
	case "outcome":
		return s, s.need(s.text, "word")
	case "say", "drop", "hang":
		return s, nil
	case "sleep":
		return s, s.parseDuration(s.text)
	case "slow":
		seconds, text, _ := strings.Cut(s.text, " ")
		s.text = text
		return s, s.parseDuration(seconds)
	case "fail":
		s.parseStatus()
		return s, nil
	}
	return s, fmt.Errorf("do: %s: unknown step", verb)
}

func (s *step) need(argument, name string) error {
	if argument == "" {
		return fmt.Errorf("do: %s: %s is missing", s.verb, name)
	}
	return nil
}

// parseArguments checks those of a tool that is called by its name.
func (s *step) parseArguments() error {
	if s.text != "" && !json.Valid([]byte(s.text)) {
		return fmt.Errorf("do: tool %s: the arguments are not JSON: %s", s.path, s.text)
	}
	return s.need(s.path, "name")
}

func (s *step) parseDuration(text string) error {
	seconds, err := strconv.ParseFloat(text, 64)
	if err != nil || !(seconds >= 0 && seconds <= math.MaxInt32) {
		return fmt.Errorf("do: %s: %q is not a number of seconds", s.verb, text)
	}
	s.duration = time.Duration(seconds * float64(time.Second))
	return nil
}

// parseStatus takes the first word for the HTTP status if it is one. Without one it is 400, which no CLI tries again.
func (s *step) parseStatus() {
	s.status = 400
	word, rest, _ := strings.Cut(s.text, " ")
	if code, err := strconv.Atoi(word); err == nil && code >= 400 && code <= 599 {
		s.status, s.text = code, strings.TrimSpace(rest)
	}
	if s.text == "" {
		s.text = fmt.Sprintf("scripted error %d", s.status)
	}
}

// firstLine is what a plain prompt is noted under.
func firstLine(prompt string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(prompt), "\n")
	return strings.TrimSpace(line)
}
