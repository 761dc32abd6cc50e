// Package steps reads the lines `do: STEP` of a prompt, which both programs for trying paw understand: the demo CLI, and the
// model that real CLIs talk to in tests.
package steps

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Step is one thing a prompt asks for.
type Step struct {
	Verb     string
	Path     string
	Text     string
	Duration time.Duration
	Number   int
}

// Grammar says for each verb how what follows it, which is in Text, is taken.
type Grammar map[string]func(*Step) error

// Parse returns the steps of a prompt, none for a plain one. Other lines of a prompt with steps are only talk.
func (g Grammar) Parse(prompt string) ([]Step, error) {
	var steps []Step
	for line := range strings.Lines(prompt) {
		text, ok := strings.CutPrefix(strings.TrimSpace(line), "do:")
		if !ok {
			continue
		}
		verb, text, _ := strings.Cut(strings.TrimSpace(text), " ")
		take := g[verb]
		if take == nil {
			return nil, fmt.Errorf("do: %s: unknown step", verb)
		}
		s := Step{Verb: verb, Text: strings.TrimSpace(text)}
		if err := take(&s); err != nil {
			return nil, err
		}
		steps = append(steps, s)
	}
	return steps, nil
}

// Anything takes any text, and none.
func Anything(*Step) error { return nil }

// Text takes a text that must be there; name says what it is.
func Text(name string) func(*Step) error {
	return func(s *Step) error { return s.Need(s.Text, name) }
}

// Path takes a path.
func Path(s *Step) error {
	s.Path, s.Text = s.Text, ""
	return s.Need(s.Path, "path")
}

// PathAndText takes a path and the text behind it.
func PathAndText(s *Step) error {
	s.Path, s.Text, _ = strings.Cut(s.Text, " ")
	return s.Need(s.Path, "path")
}

// Word takes one word.
func Word(s *Step) error {
	if len(strings.Fields(s.Text)) != 1 {
		return fmt.Errorf("do: %s: one word expected, got %q", s.Verb, s.Text)
	}
	return nil
}

// Seconds takes a number of seconds.
func Seconds(s *Step) error { return s.Wait(s.Text) }

// Wait takes a text for the duration of the step.
func (s *Step) Wait(text string) error {
	seconds, err := strconv.ParseFloat(text, 64)
	if err != nil || !(seconds >= 0 && seconds <= math.MaxInt32) {
		return fmt.Errorf("do: %s: %q is not a number of seconds", s.Verb, text)
	}
	s.Duration = time.Duration(seconds * float64(time.Second))
	return nil
}

// Need refuses a step without an argument; name says what it is.
func (s *Step) Need(argument, name string) error {
	if argument == "" {
		return fmt.Errorf("do: %s: %s is missing", s.Verb, name)
	}
	return nil
}
