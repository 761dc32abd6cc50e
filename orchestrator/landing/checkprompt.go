package landing

import (
	"fmt"
	"os"
	"strings"

	"paw/config/display"
	"paw/session/turn"
)

// BackLines is how many of the last lines of a check an agent gets to see.
const BackLines = 200

// maxOutput bounds how much of what a check has said is in a prompt.
const maxOutput = 32 << 10

// Prompt asks the agent whose work did not pass a check to mend it, with the last lines of what the check has said.
func (e *CheckError) Prompt(lines int) string {
	output, err := os.ReadFile(e.Log)
	if err != nil {
		output = []byte(err.Error())
	}
	all := strings.Split(strings.TrimSpace(display.Printable(string(output))), "\n")
	all = all[max(0, len(all)-lines):]
	for size := len(strings.Join(all, "\n")); size > maxOutput && len(all) > 1; all = all[1:] {
		size -= len(all[0]) + 1
	}
	for i, line := range all {
		all[i] = "    " + line
	}
	return fmt.Sprintf("%s\n\nIts last lines:\n\n%s\n", turn.CheckLine(oneLine(e.Command), e.how()), strings.Join(all, "\n"))
}
