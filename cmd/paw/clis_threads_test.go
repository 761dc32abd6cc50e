//go:build clis

package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

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

// TestCLIsSideChat: codex' side chat takes the keys, beside the main conversation or over it. Nothing is typed into it, and
// recover brings the main conversation back.
func TestCLIsSideChat(t *testing.T) {
	w := newCLIWorld(t, "codex")
	w.ok(w.paw("start", "--cli", "codex", "--detach"))
	w.work("do: say Main.")
	refused := func(where string) {
		t.Helper()
		began := time.Now()
		if out := w.paw("send", "codex", "do: write no.txt 1"); out.code != 3 || !strings.Contains(out.stderr, "a side chat is open") || time.Since(began) > time.Minute {
			t.Errorf("%s: exit code %d after %s\n%s\n%s", where, out.code, time.Since(began), out.stderr, w.visible())
		}
	}
	resize := func(size string) {
		width, height, _ := strings.Cut(size, "x")
		w.ok(w.tmux("resize-window", "-t", *w.agent("codex").PaneID, "-x", width, "-y", height))
		w.standsStill()
	}
	resize("160x40")
	w.press("/side")
	w.standsStill()
	w.press("Enter")
	w.await("the side chat is there", func() bool { return strings.Contains(w.visible(), "Ask a follow-up question") })
	refused("beside the main conversation")
	resize("80x24")
	refused("over the main conversation")
	w.press("do: say In the side chat.")
	w.standsStill()
	w.press("Enter")
	w.await("the side chat has answered", func() bool { return strings.Contains(w.visible(), "• In the side chat.") })
	w.killCLI()
	w.ok(w.paw("recover", "--detach"))
	w.await("it is back", func() bool { return strings.Contains(w.visible(), "Main.") && w.agent("codex").State == "idle" })
	if shown := w.screen("codex"); strings.Contains(shown, "In the side chat.") {
		t.Errorf("the side chat is back:\n%s", shown)
	}
	resize("160x40")
	w.press("/side")
	w.standsStill()
	w.press("Enter")
	w.await("a side chat is there again", func() bool { return strings.Contains(w.visible(), "Ask a follow-up question") })
	w.press("C-/")
	w.standsStill()
	if w.work("do: write main.txt 1"); !w.has("main.txt") || w.has("no.txt") {
		t.Error("the main conversation, with the side chat beside it, has not got its prompt")
	}
}
