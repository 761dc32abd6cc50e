// Package steps reads the lines `do: STEP` of a prompt, for the demo CLI and for the scripted model
// server that real CLIs talk to in tests.
package steps

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Step is a step of a prompt.
type Step struct {
	Verb     string
	Path     string
	Text     string
	Duration time.Duration
	Number   int
}

// Grammar has, for each verb, a function that reads the rest of the line from Text.
type Grammar map[string]func(*Step) error

// Parse returns the steps of a prompt, none for a plain one. Other lines of a prompt with steps are
// ignored.
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

// Anything accepts any text, and none.
func Anything(*Step) error { return nil }

// Text requires a text; name describes it in the error.
func Text(name string) func(*Step) error {
	return func(s *Step) error { return s.Need(s.Text, name) }
}

// Path reads a path.
func Path(s *Step) error {
	s.Path, s.Text = s.Text, ""
	return s.Need(s.Path, "path")
}

// PathAndText reads a path, followed by a text.
func PathAndText(s *Step) error {
	s.Path, s.Text, _ = strings.Cut(s.Text, " ")
	return s.Need(s.Path, "path")
}

// Word requires exactly one word.
func Word(s *Step) error {
	if len(strings.Fields(s.Text)) != 1 {
		return fmt.Errorf("do: %s: one word expected, got %q", s.Verb, s.Text)
	}
	return nil
}

// Seconds reads a number of seconds.
func Seconds(s *Step) error { return s.Wait(s.Text) }

// Wait reads the step's duration, a number of seconds.
func (s *Step) Wait(text string) error {
	seconds, err := strconv.ParseFloat(text, 64)
	if err != nil || !(seconds >= 0 && seconds <= math.MaxInt32) {
		return fmt.Errorf("do: %s: %q is not a number of seconds", s.Verb, text)
	}
	s.Duration = time.Duration(seconds * float64(time.Second))
	return nil
}

// Need refuses an empty argument; name describes it in the error.
func (s *Step) Need(argument, name string) error {
	if argument == "" {
		return fmt.Errorf("do: %s: %s is missing", s.Verb, name)
	}
	return nil
}
