package cli_test

import (
	"strings"
	"testing"
	"time"

	"paw/orchestrator/cli"
)

// TestClaudeQuestionsInPages: of several questions the screen says which is asked now, and the last page asks whether to submit the
// answers.
func TestClaudeQuestionsInPages(t *testing.T) {
	const width = 100
	rule := strings.Repeat("─", width)
	screen := func(lines ...string) cli.Screenshot {
		return cli.Screenshot{Text: strings.Join(append([]string{" ▐██████   Claude Code v2.1.330", "", rule}, lines...), "\n") + "\n", Width: width, Height: len(lines) + 3, CursorY: 7}
	}
	second := screen("←  ☒ Database  ☐ Cache  ✔ Submit  →", "", "Which cache?", "", "❯ 1. Redis", "     c", "  2. None", "     d", "  3. Type something.", rule,
		"  4. Chat about this", "", "Enter to select · Tab/Arrow keys to navigate · Esc to cancel")
	review := screen("←  ☒ Database  ☒ Cache  ✔ Submit  →", "", "Review your answers", "", " ● Which database?", "   → Postgres", " ● Which cache?", "   → Redis",
		"", "Ready to submit your answers?", "", "❯ 1. Submit answers", "  2. Cancel")
	c := get(t, "claude")
	asked, ok := questionOn(t, "claude", second)
	if !ok || asked.Text != "Which cache?" || !asked.Paged || len(asked.Options) != 4 {
		t.Errorf("the second page asks %+v, %v", asked, ok)
	}
	asked, ok = questionOn(t, "claude", review)
	if !ok || asked.Text != "asks whether to submit your answers" || len(asked.Options) != 2 || asked.Options[0].Means() != cli.MeansYes {
		t.Errorf("the last page asks %+v, %v", asked, ok)
	}
	// The hook has all of them at once: which is asked now is for the screen to say.
	input := `{"session_id":"s","prompt_id":"p","tool_name":"AskUserQuestion","tool_input":{"questions":[{"question":"Which database?"},{"question":"Which cache?"}]}}`
	e, err := c.Event("PermissionRequest", []byte(input))
	if err != nil || e.Message != "Which database? (the first of 2 questions)" {
		t.Errorf("%q, %v", e.Message, err)
	}
	l := newLab(t)
	l.registry("waiting", time.Now())
	last := waiting(t, claudeEnds, "p", "01:00:00", "01:00:05")
	for question, vague := range map[string]bool{e.Message: true, "Which database?": false} {
		last.Question = question
		if seen, err := c.Observe(t.Context(), l.with(claudeEnds), last); err != nil || !seen.Waiting || seen.Vague != vague {
			t.Errorf("%s: %+v, %v", question, seen, err)
		}
	}
}
