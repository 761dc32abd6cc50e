package landing

import (
	"fmt"
	"os"
	"strings"

	"paw/config/display"
	"paw/session/turn"
)

// BackLines is the number of lines of a failed check that its agent is sent.
const BackLines = 200

// maxOutput limits the bytes of a check's output in a prompt.
const maxOutput = 32 << 10

// Prompt returns a prompt that asks the agent to fix its work, with the last lines of the failed
// check.
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
