//go:build clis

package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"paw/orchestrator/cli/fakemodel"
)

// TestCLIsTwoConversations: a second conversation in codex's pane (Left, then n) joins the turn of
// the first, which lasts until both are idle. Whichever ends first, the agent's work does not land
// before, and the files of both are in the turn.
func TestCLIsTwoConversations(t *testing.T) {
	w := newCLIWorld(t, "codex")
	w.ok(w.paw("start", "--cli", "codex", "--detach"))
	w.work("do: say Ready.")
	for n, firstToEnd := range []string{"A", "B"} {
		dir := filepath.Join(w.root, string('a'+rune(n)))
		w.write(dir, "README", "")
		play := func(who string) string {
			file := who + string('1'+rune(n)) + ".txt"
			wait := strings.Repeat("do: run "+untilExists(filepath.Join(dir, who))+"\n", 4) // codex stops waiting for a command after ten seconds
			return "do: write begun" + file + " 1\n" + wait + "do: write " + file + " 2\ndo: say " + who + " is done."
		}
		file := func(who string) string { return who + string('1'+rune(n)) + ".txt" }
		turn := w.last().Number + 1
		w.send(play("A"))
		w.await("A works", func() bool { return w.has("begun" + file("A")) })
		w.press("Left")
		w.await("the agents are listed", func() bool { return strings.Contains(w.visible(), "n new") })
		w.press("n")
		w.await("the new conversation is there", func() bool { return strings.Contains(w.visible(), "Ask Codex to do anything") })
		w.send(play("B"))
		w.await("B works", func() bool { return w.has("begun" + file("B")) })
		last := map[string]string{"A": "B", "B": "A"}[firstToEnd]
		w.write(dir, firstToEnd, "")
		w.await("the first has ended", func() bool { return w.has(file(firstToEnd)) })
		w.await("its answer is given", func() bool {
			return slices.ContainsFunc(w.model.Last(100), func(e fakemodel.Entry) bool {
				return strings.Contains(e.Prompt, file(firstToEnd)) && e.Text == firstToEnd+" is done."
			})
		})
		for range 20 {
			a := w.agent("codex")
			if a.State != "running" || a.CurrentTurn == nil || *a.CurrentTurn != turn || !strings.Contains(text(a.Reason), "works in several conversations") {
				t.Fatalf("%s has ended, %s works: %s, %s, turn %v", firstToEnd, last, a.State, text(a.Reason), a.CurrentTurn)
			}
		}
		if out := w.paw("land", "codex", "--dry-run"); out.code != 3 {
			t.Errorf("land: exit code %d\n%s%s", out.code, out.stdout, out.stderr)
		}
		w.write(dir, last, "")
		one := w.finished(turn - 1)
		if one.Number != turn || text(one.Outcome) != "success" || one.FilesChanged == nil || *one.FilesChanged != 4 {
			t.Errorf("the turn: %+v", one)
		}
		if got := w.ok(w.paw("diff", "codex", string('0'+rune(turn)), "--stat")).stdout; !strings.Contains(got, file("A")) || !strings.Contains(got, file("B")) {
			t.Errorf("paw diff of the turn:\n%s", got)
		}
	}
}
