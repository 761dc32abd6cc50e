//go:build clis

package main

import (
	"fmt"
	"strings"
	"testing"
)

// TestCLIsOpenElsewhere: a conversation that the user has opened by hand after a crash is not opened a second time: paw
// recover names the process, and brings the conversation back once that has ended.
func TestCLIsOpenElsewhere(t *testing.T) {
	startEach(t, []string{"claude", "codex", "copilot"}, func(t *testing.T, w *cliWorld) {
		w.work("do: say Ready.")
		a := w.agent(w.cli)
		byHand := map[string]string{
			"claude": "claude --resume " + *a.ConversationID, "copilot": "copilot --resume=" + *a.ConversationID,
			"codex": "codex -c check_for_update_on_startup=false resume " + *a.ConversationID,
		}[w.cli]
		w.killCLI()
		w.reaped()
		other := w.root + "/other"
		w.ok(w.run(a.WorktreePath, nil, "tmux", "-S", other, "new-session", "-d", "-x", "100", "-y", "40", byHand))
		defer killServer(other)
		shows := func(text string) {
			t.Helper()
			w.await(text+" is on its screen", func() bool {
				return strings.Contains(w.run(w.root, nil, "tmux", "-S", other, "capture-pane", "-p").stdout, text)
			})
		}
		shows("Ready.")
		if w.cli == "copilot" { // which has it open from the first prompt on
			shows("? help")
			w.ok(w.run(w.root, nil, "tmux", "-S", other, "send-keys", "-l", "do: say Mine"))
			shows("do: say Mine")
			w.ok(w.run(w.root, nil, "tmux", "-S", other, "send-keys", "Enter"))
			shows(" ● Mine")
		}
		said := "its conversation is open in pid "
		var out output
		w.await("the CLI records who has it open", func() bool {
			out = w.paw("recover", "shop", "--detach", "--dry-run")
			return strings.Contains(out.stdout+out.stderr, said)
		})
		if out = w.paw("recover", "shop", "--detach"); out.code != 1 || !strings.Contains(out.stderr, said) || !strings.Contains(out.stderr, "paw: hint: ps -o pid,args -p ") {
			t.Errorf("recover beside it: exit code %d\n%s%s", out.code, out.stdout, out.stderr)
		}
		killServer(other)
		w.await("nobody has it open", func() bool {
			return !strings.Contains(fmt.Sprint(w.paw("recover", "shop", "--detach", "--dry-run")), said)
		})
		if out := w.ok(w.paw("recover", "shop", "--detach")); !strings.Contains(out.stdout, "resumed") {
			t.Errorf("recover:\n%s%s", out.stdout, out.stderr)
		}
		if one := w.work("do: say Back."); one.Number != 2 {
			t.Errorf("%+v", one)
		}
	})
}
