//go:build clis

package main

import (
	"strings"
	"testing"
)

// TestCLIsQuestionsInPages: of several questions of claude, status shows the one that is asked now,
// and each is answered by the words of its answer. A menu is left to the user: no hint leads from
// one command to another and back.
func TestCLIsQuestionsInPages(t *testing.T) {
	w := newCLIWorld(t, "claude")
	w.ok(w.paw("start", "--cli", "claude", "--detach"))
	w.send(`do: tool AskUserQuestion {"questions":[{"question":"Which database?","header":"Database","multiSelect":false,"options":[{"label":"Postgres","description":"a"},{"label":"SQLite","description":"b"}]},{"question":"Which cache?","header":"Cache","multiSelect":false,"options":[{"label":"Redis","description":"c"},{"label":"None","description":"d"}]},{"question":"Which caches?","header":"Caches","multiSelect":true,"options":[{"label":"Disk","description":"e"},{"label":"Memory","description":"f"},{"label":"Far, far away","description":"g"}]}]}
do: say Done.`)
	for _, page := range []struct{ asks, answer string }{
		{"Which database?", "SQLite"}, {"Which cache?", "Redis"}, {"Which caches?", "1,memory"}, {"asks whether to submit your answers", "yes"},
	} {
		w.await(page.asks, func() bool {
			return w.agent("claude").State == "waiting_input" && strings.HasPrefix(text(w.agent("claude").Reason), page.asks)
		})
		if asked := w.question("claude"); asked.Question != page.asks || asked.Several != (page.asks == "Which caches?") {
			t.Errorf("it asks %+v, want %q", asked, page.asks)
		}
		if page.asks == "Which caches?" { // the user has ticked one that paw's answer has not
			w.press("3")
			w.await("it is ticked", func() bool { return strings.Contains(w.paw("answer", "claude").stdout, "[✔] Far, far away") })
			if out := w.paw("answer", "claude", "1,5"); out.code != 3 || !strings.Contains(out.stderr, "is no answer that is ticked") {
				t.Errorf("an answer that is not ticked: exit code %d\n%s%s", out.code, out.stdout, out.stderr)
			}
		}
		if out := w.paw("answer", "claude", page.answer); out.code != 0 {
			t.Errorf("%s: exit code %d\n%s%s", page.answer, out.code, out.stdout, out.stderr)
		}
	}
	w.finished(0)
	if got := w.screen("claude"); !strings.Contains(got, "Which database? → SQLite") || !strings.Contains(got, "Which cache? → Redis") || !strings.Contains(got, "Which caches? → Disk, Memory\n") {
		t.Errorf("it took:\n%s", got)
	}

	w.typed("/model")
	w.awaitState("waiting_input")
	out := w.pawInput("never into a menu", "send", "claude")
	if out.code != 3 || strings.Contains(out.stderr, "paw answer") || !strings.Contains(out.stderr, "hint: paw attach shop claude") {
		t.Errorf("send: exit code %d\n%s", out.code, out.stderr)
	}
	if out := w.paw("answer", "claude", "1"); out.code != 3 || !strings.Contains(out.stderr, "this dialog is yours") {
		t.Errorf("answer: exit code %d\n%s", out.code, out.stderr)
	}
	w.press("Escape")
	w.awaitState("idle")
}
