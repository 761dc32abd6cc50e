//go:build clis

package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestCLIsQueue has a queue type to CLIs: a limit ends the turn of a task in its midst, holds what comes after it, and the
// task goes on once when the limit is lifted.
func TestCLIsQueue(t *testing.T) {
	for _, cli := range []string{"claude", "codex"} {
		t.Run(cli, func(t *testing.T) {
			w := newCLIWorld(t, cli)
			if cli == "claude" {
				w.subscribe()
			}
			w.env = append(w.env, "PAW_QUEUE_PACE=2s,0s,1s,5s")
			w.write(filepath.Join(w.root, "home/.config/paw"), "config.toml", "[clis.codex]\ngit_writable = true\n\n[limits]\nthen = \"continue\"\n")
			w.ok(w.paw("start", "--cli", cli, "--detach", "--prompt", "do: say Hello."))
			w.finished(0)
			w.ok(w.paw("queue", "add", cli, "--id", "cut", "do: write "+filepath.Join(w.worktree(cli), "begun.txt")+" 1\ndo: limit 20"))
			w.ok(w.paw("queue", "add", cli, "--id", "next", "do: say Next."))
			w.await("the limit holds the next task", func() bool {
				out := w.paw("queue", "--json").stdout
				return strings.Contains(out, `"id":"next"`) && strings.Contains(out, `"state":"held","why":"limit:`+cli)
			})
			w.await("both are done", func() bool {
				if strings.Contains(w.visible(), "Approaching rate limits") { // a menu that its user alone answers: until then nothing is typed
					w.press("Escape")
				}
				return strings.Count(w.paw("queue", "--json").stdout, `"state":"done"`) == 2
			})
			turns := w.ok(w.paw("turns", cli, "--json")).stdout
			t.Log(turns)
			for _, prompt := range []string{`"prompt":"The usage limit has reset`, `"prompt":"do: say Next."`, "do: limit 20"} {
				if n := strings.Count(turns, prompt); n != 1 {
					t.Errorf("%q is %d times in the turns", prompt, n)
				}
			}
		})
	}
}
