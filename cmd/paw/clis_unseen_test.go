//go:build clis

package main

import (
	"fmt"
	"strings"
	"testing"
)

// TestCLIsUnseenEnds ends turns in ways that no hook reports, such as Esc. The first paw command
// that sees the end takes the snapshot: files that the user writes later are not in the turn's
// diff.
func TestCLIsUnseenEnds(t *testing.T) {
	startEach(t, []string{"claude", "codex"}, func(t *testing.T, w *cliWorld) {
		w.work("do: say Hello.")
		closed := func(how, file string) {
			t.Helper()
			n := w.last().Number
			w.await(how+": the turn has its snapshot", func() bool { one := w.last(); return one.Number == n && one.Snapshot != nil })
			byHand := "hand-" + how + ".txt"
			w.write(w.worktree(w.cli), byHand, "by hand\n")
			if got := w.ok(w.paw("diff", w.cli, fmt.Sprint(n), "--stat")).stdout; !strings.Contains(got, file) || strings.Contains(got, byHand) {
				t.Errorf("%s: the files of turn %d:\n%s", how, n, got)
			}
			w.work("do: say Next.")
			if got := w.ok(w.paw("diff", w.cli, fmt.Sprint(n), "--stat")).stdout; strings.Contains(got, byHand) {
				t.Errorf("%s: what came later counts for turn %d:\n%s", how, n, got)
			}
		}
		w.hang(w.last().Number+1, "esc.txt")
		w.escape()
		w.awaitState("idle")
		closed("esc", "esc.txt")

		w.send("do: write asked.txt 1\ndo: ask touch refused.txt\ndo: say Refused.")
		w.question(w.cli)
		w.ok(w.paw("answer", w.cli, "no"))
		w.awaitState("idle")
		closed("no", "asked.txt")

		w.send("do: write closed.txt 1\ndo: ask touch closed\ndo: say Closed.")
		w.question(w.cli)
		w.ok(w.tmux("send-keys", "-t", *w.agent(w.cli).PaneID, "Escape"))
		var out output
		w.await("the question is closed", func() bool { out = w.paw("wait", w.cli, "--timeout", "6s"); return out.code != 4 })
		if out.code != 5 { // nothing but the wait looks at it
			t.Errorf("a wait after an Esc: exit code %d\n%s%s", out.code, out.stdout, out.stderr)
		}

		w.send("do: write failed.txt 1\ndo: fail 400 scripted overload")
		w.awaitState("error")
		closed("error", "failed.txt")
	})
}
