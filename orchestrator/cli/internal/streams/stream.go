// Package streams reads what CLIs print in a turn without a terminal: lines of JSON.
package streams

import (
	"bytes"
	"encoding/json"

	"paw/orchestrator/cli"
	"paw/orchestrator/cli/internal/questions"
)

// Turn is what lines tell of a turn. T, the type of a line, has a method that adds what the line tells.
type Turn struct {
	Shown  string // what a user wants to read of the lines
	Answer string
	Ended  bool          // without an error
	Failed cli.TurnError // why it has not, if it has not
}

// Show is what a user wants to read of one line.
func Show[T any](raw []byte, tell func(T, *Turn)) string {
	var line T
	var turn Turn
	if json.Unmarshal(raw, &line) == nil {
		tell(line, &turn)
	}
	return turn.Shown
}

// Result is the answer that all lines tell. A turn that has not ended was cut off. begun is what is known before the first
// line.
func Result[T any](cli string, begun Turn, stdout []byte, exitCode int, tell func(T, *Turn)) (string, error) {
	turn := begun
	for raw := range bytes.Lines(stdout) {
		var line T
		if json.Unmarshal(raw, &line) == nil {
			tell(line, &turn)
		}
	}
	if exitCode != 0 || !turn.Ended {
		turn.Failed.CLI, turn.Failed.ExitCode = cli, exitCode
		return "", &turn.Failed
	}
	return turn.Answer, nil
}

// ToolLine is how the use of a tool is shown while a headless turn runs.
func ToolLine(tool string, input json.RawMessage) string {
	return "· " + questions.OfTool(tool, input) + "\n"
}
