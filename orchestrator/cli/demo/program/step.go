package program

import (
	"fmt"
	"strconv"

	"paw/orchestrator/cli/internal/steps"
)

// grammar has the steps of a prompt; usage lists them.
var grammar = steps.Grammar{
	"write": steps.PathAndText, "append": steps.PathAndText, "remove": steps.Path,
	"run": steps.Text("command"), "commit": steps.Text("message"), "ask": steps.Text("question"),
	"outcome": steps.Word, "sleep": steps.Seconds, "limit": steps.Seconds, "exit": exiting,
	"say": steps.Anything, "fail": steps.Anything, "hang": steps.Anything,
}

func exiting(s *steps.Step) error {
	code, err := strconv.ParseUint(s.Text, 10, 8)
	if err != nil {
		return fmt.Errorf("do: exit: %q is not an exit code", s.Text)
	}
	s.Number = int(code)
	return nil
}
