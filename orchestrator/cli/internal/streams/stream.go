// Package streams reads the JSON lines that CLIs print in a headless turn.
package streams

import (
	"bytes"
	"encoding/json"

	"paw/orchestrator/cli"
	"paw/orchestrator/cli/internal/questions"
)

// Turn collects what the lines tell about a headless turn. The type of a line has a method that
// adds to it.
type Turn struct {
	Shown  string // text for the user from the lines
	Answer string
	Ended  bool          // the turn ended without an error
	Failed cli.TurnError // the failure, unless Ended
}

// Show returns what a user wants to read of one line.
func Show[T any](raw []byte, tell func(T, *Turn)) string {
	var line T
	var turn Turn
	if json.Unmarshal(raw, &line) == nil {
		tell(line, &turn)
	}
	return turn.Shown
}

// Result returns the answer after all lines. A turn that has not ended is an error. begun is the
// state before the first line.
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

// ToolLine formats a tool call for the output of a headless turn.
func ToolLine(tool string, input json.RawMessage) string {
	return "· " + questions.OfTool(tool, input) + "\n"
}
