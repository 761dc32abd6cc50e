package checks

import (
	"fmt"
	"os"
	"strings"

	"paw/config/display"
	"paw/orchestrator/errs"
	"paw/session/turn"
)

// Error is the failure of a check.
type Error struct {
	What    string // "the check", or another step that failed
	Command string
	Code    int  // exit code, -1 for a signal
	Late    bool // it took longer than it may
	Log     string
	Place   string // directory in which it ran
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s failed: %s (%s)", e.What, display.Title(e.Command), e.how())
}

// how returns the exit code in words.
func (e *Error) how() string {
	if e.Late {
		return "took too long"
	}
	if e.Code < 0 {
		return "killed"
	}
	return fmt.Sprintf("exit status %d", e.Code)
}

// Of returns the error for an agent's work that failed the check. The hints show the log and
// the directory.
func (e *Error) Of(who string) error {
	return errs.New(errs.CheckFailed, "%s: %w", who, e).Hint("cat %s", errs.Quote(e.Log)).Hint("cd %s", errs.Quote(e.Place))
}

// backLines limits the lines of a failed check that its agent is sent.
const backLines = 200

// maxOutput limits the bytes of a check's output in a prompt.
const maxOutput = 32 << 10

// Prompt returns a prompt that asks the agent to fix its work, with the last lines of the failed
// check.
func (e *Error) Prompt() string {
	output, err := os.ReadFile(e.Log)
	if err != nil {
		output = []byte(err.Error())
	}
	all := strings.Split(strings.TrimSpace(display.Printable(string(output))), "\n")
	all = all[max(0, len(all)-backLines):]
	for size := len(strings.Join(all, "\n")); size > maxOutput && len(all) > 1; all = all[1:] {
		size -= len(all[0]) + 1
	}
	for i, line := range all {
		all[i] = "    " + line
	}
	return fmt.Sprintf("%s\n\nIts last lines:\n\n%s\n", turn.CheckLine(display.Title(e.Command), e.how()), strings.Join(all, "\n"))
}
