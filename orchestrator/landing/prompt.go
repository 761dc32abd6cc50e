package landing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"paw/config/display"
	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/session"
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

// ConflictPrompt returns the prompt for an agent whose work conflicts with a branch, "" for the
// session's target: it asks the agent to merge the branch and to resolve each file.
func ConflictPrompt(ctx context.Context, h *app.App, s *session.Session, agentName, into string) (string, error) {
	landed, err := Land(ctx, h, s, agentName, Options{Into: into, DryRun: true})
	files := CollisionsOf(err)
	switch {
	case len(files) > 0:
		return conflictPrompt(cmp.Or(into, s.Target), files), nil
	case err != nil:
		return "", err
	case landed.Nothing:
		return "", errs.New(errs.Failed, "%s/%s: does not conflict with %s, which has all of it", s.Name, agentName, landed.Target)
	}
	return "", errs.New(errs.Failed, "%s/%s: does not conflict with %s", s.Name, agentName, landed.Target).Hint("paw land %s/%s", s.Name, agentName)
}

// BackPrompt returns the prompt for an agent whose work did not land because of a conflict or a
// failed check; "" for other errors.
func BackPrompt(s *session.Session, into string, err error) string {
	var failed *CheckError
	switch files := CollisionsOf(err); {
	case len(files) > 0:
		return conflictPrompt(cmp.Or(into, s.Target), files)
	case errors.As(err, &failed):
		return failed.Prompt(BackLines)
	}
	return ""
}

func conflictPrompt(branch string, files []Collision) string {
	var b strings.Builder
	b.WriteString(turn.ConflictLine(branch) + "\n\n")
	fmt.Fprintf(&b, "1. Commit what you have not committed yet.\n2. Run: git merge --no-edit %s\n", errs.Quote(branch))
	b.WriteString("3. Resolve each of these files so that what both sides meant still holds:\n")
	for _, f := range files {
		beside := ""
		if f.Beside {
			beside = ": " + f.fileAndFolder() + "; rename or remove it"
		}
		fmt.Fprintf(&b, "   - %s\n", oneLine(f.String()+beside))
	}
	fmt.Fprintf(&b, "4. Run the checks of the project, then: git commit --no-edit\n\nChange your own branch only, not %s, and push nothing.\n", branch)
	return b.String()
}
