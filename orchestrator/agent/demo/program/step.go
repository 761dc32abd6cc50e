package program

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// step is one thing a prompt asks for in a line `do: STEP`; usage lists them.
type step struct {
	verb     string
	path     string
	text     string
	duration time.Duration
	code     int
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
	case "run":
		return s, s.need(s.text, "command")
	case "commit":
		return s, s.need(s.text, "message")
	case "ask":
		return s, s.need(s.text, "question")
	case "outcome":
		if len(strings.Fields(s.text)) != 1 {
			return s, fmt.Errorf("do: outcome: one word expected, got %q", s.text)
		}
		return s, nil
	case "say", "fail", "hang":
		return s, nil
	case "sleep":
		seconds, err := strconv.ParseFloat(s.text, 64)
		if err != nil || !(seconds >= 0 && seconds <= math.MaxInt32) {
			return s, fmt.Errorf("do: sleep: %q is not a number of seconds", s.text)
		}
		s.duration = time.Duration(seconds * float64(time.Second))
		return s, nil
	case "exit":
		code, err := strconv.ParseUint(s.text, 10, 8)
		if err != nil {
			return s, fmt.Errorf("do: exit: %q is not an exit code", s.text)
		}
		s.code = int(code)
		return s, nil
	}
	return s, fmt.Errorf("do: %s: unknown step", verb)
}

func (s step) need(argument, name string) error {
	if argument == "" {
		return fmt.Errorf("do: %s: %s is missing", s.verb, name)
	}
	return nil
}
