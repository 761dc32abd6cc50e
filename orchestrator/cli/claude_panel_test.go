package cli_test

import (
	"strings"
	"testing"

	"paw/orchestrator/cli"
)

// TestClaudeQuestionBesideThePanel: where a pane is wide, claude shows the changed files at the right of its dialogs.
func TestClaudeQuestionBesideThePanel(t *testing.T) {
	const width, edge = 200, 130
	dialog := []string{
		"", " Claude Code v2.1.330", "", "❯ do: write asked.txt 1", "", "● Running 1 shell command…", "  ⎿  $ env PAW_ASK=1 sh -c 'touch refused.txt'", "",
		strings.Repeat("─", edge), " Bash command", " Run shell command", strings.Repeat("╌", edge), " env PAW_ASK=1 sh -c 'touch refused.txt'",
		strings.Repeat("╌", edge), " Rule Bash(env PAW_ASK=1:*) from user settings says to ask.", "", " Do you want to proceed?", " ❯ 1. Yes", "   2. No", "",
		" Esc to cancel · Tab to amend", "",
	}
	panel := []string{"✕", "2 files changed   /diff to close  source: Current ▾", "", "asked.txt", "esc.txt", "", strings.Repeat("─", width-edge-1), "asked.txt (untracked)"}
	screen := func(lines []string) cli.Screenshot {
		return cli.Screenshot{Text: strings.Join(lines, "\n") + "\n", Width: width, Height: len(lines), CursorY: 17}
	}
	wide := make([]string, len(dialog))
	for i, line := range dialog {
		wide[i] = line + strings.Repeat(" ", edge-len([]rune(line))) + "│"
		if i < len(panel) {
			wide[i] += panel[i]
		}
	}
	c := get(t, "claude")
	asked, ok := questionOn(t, "claude", screen(wide))
	if !ok || asked.Text != "asks for permission: env PAW_ASK=1 sh -c 'touch refused.txt'" || len(asked.Options) != 2 || asked.Options[1].Label != "No" {
		t.Errorf("asks %+v, %v", asked, ok)
	}
	if got := c.Screen(screen(wide)).Dialog; got != asked.Text {
		t.Errorf("the dialog is %q", got)
	}
}

// TestClaudeTakesNoPromptInVisualMode: in the vim modes INSERT and NORMAL a prompt that is typed goes to an empty box, in VISUAL it would
// stay there.
func TestClaudeTakesNoPromptInVisualMode(t *testing.T) {
	const width = 80
	edge := strings.Repeat("─", width)
	for mode, want := range map[string]cli.Box{
		"-- INSERT -- ": cli.BoxEmpty, "": cli.BoxEmpty, "-- VISUAL -- ": cli.BoxFilled, "-- VISUAL LINE -- ": cli.BoxFilled,
	} {
		lines := []string{" Claude Code v2.1.330", "", edge, "❯\u00a0", edge, "  $0.00", "  " + mode + "⏸ manual mode on", ""}
		shot := cli.Screenshot{Text: strings.Join(lines, "\n") + "\n", Width: width, Height: len(lines), CursorX: 2, CursorY: 3}
		if got := get(t, "claude").Screen(shot); got.Box != want {
			t.Errorf("%q: the box is %s, want %s", mode, got, want)
		}
	}
}
