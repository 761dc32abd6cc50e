//go:build clis

package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
)

// TestCLIsHandOver has codex take over from claude after a /clear, an interrupted turn, a commit
// and uncommitted work, and checks what codex then asks its model.
func TestCLIsHandOver(t *testing.T) {
	w := newCLIWorld(t, "claude", "codex")
	w.ok(w.paw("start", "--cli", "claude", "--detach"))
	w.work("do: say The first parrot is called Kiki.")
	w.press("/clear", "Enter")
	w.await("the conversation is cleared", func() bool { return !strings.Contains(w.visible(), "Kiki") })
	half := filepath.Join(w.worktree("claude"), "half.txt")
	w.work("do: write " + half + " 1\ndo: commit Half of it\ndo: say Look at " + half + ".")
	n := w.last().Number + 1
	w.hang(n, "rest.txt")
	w.escape()
	last := w.work("do: say The second parrot is called Lora.")
	if last.Number != 4 {
		t.Fatalf("the last turn is %d, want 4", last.Number)
	}
	w.ok(w.paw("add", "--cli", "codex", "--from", "claude", "--prompt", "do: say Taken over."))
	w.await("codex asks its model", func() bool { return w.bodies.first("You take over the work") != "" })

	var request struct {
		Input []struct {
			Role    string
			Content []struct{ Text string }
		}
	}
	if err := json.Unmarshal([]byte(w.bodies.first("You take over the work")), &request); err != nil {
		t.Fatal(err)
	}
	brief := ""
	for _, input := range request.Input {
		for _, content := range input.Content {
			if strings.HasPrefix(content.Text, "You take over the work") {
				brief = content.Text
			}
		}
	}
	t.Log(brief)
	for _, want := range []string{
		"You take over the work of another coding agent: claude, agent claude, on branch paw/shop/claude.\n",
		"paths in that are written below as paths in yours, " + w.worktree("codex") + ".\n",
		"\n> 4 turns: 3 success, 1 interrupted (3)\n> 1 commit since its branch began, newest first\n> ",
		" Half of it\n> 1 file not committed (A added, D deleted, M changed)\n> A rest.txt\n",
		"\n1 earlier turn (1) was in another conversation, as after /clear: what was said there is not told here.\n",
		"\n> do: write " + filepath.Join(w.worktree("codex"), "half.txt") + " 1\n",
		"\nHow this turn ended:\n> turn 3: interrupted",
		"\n> The second parrot is called Lora.\n",
		"Go on with this prompt of the user:\n\ndo: say Taken over.",
	} {
		if !strings.Contains(brief, want) {
			t.Errorf("no %q in the brief", want)
		}
	}
	for _, not := range []string{"Kiki", w.worktree("claude") + "/"} {
		if strings.Contains(brief, not) {
			t.Errorf("%q is in the brief", not)
		}
	}
	w.await("codex has taken over", func() bool { return strings.Contains(w.screen("codex"), "Taken over.") })
}
