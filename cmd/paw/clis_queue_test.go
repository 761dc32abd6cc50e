//go:build clis

package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
)

// TestCLIsQueue has a queue prompt CLIs: a usage limit ends the turn of a task early, and the task
// after it waits; when the limit is lifted, the cut task goes on once, and then the next one.
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
			w.await("the next task waits for the one that the limit has cut", func() bool {
				out := w.paw("queue", "--json").stdout
				return strings.Contains(out, `"why":"due `) && strings.Contains(out, `"why":"after:cut"`)
			})
			w.await("both are done", func() bool {
				if strings.Contains(w.visible(), "Approaching rate limits") { // paw types no prompt until the user has answered this menu
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

// TestCLIsQueueHandOver: a usage limit ends the turn of a task early, and a CLI of another vendor
// takes over the task once, with the work so far, and finishes it. The limited agent stays as it
// is.
func TestCLIsQueueHandOver(t *testing.T) {
	paths := map[string]string{"claude": "/messages", "codex": "/responses"}
	for from, to := range map[string]string{"claude": "codex", "codex": "claude"} {
		t.Run(from, func(t *testing.T) {
			w := newCLIWorld(t, from, to)
			w.subscribe()
			w.env = append(w.env, "PAW_QUEUE_PACE=2s,0s,1s,5s")
			w.write(filepath.Join(w.root, "home/.config/paw"), "config.toml", "[clis.codex]\ngit_writable = true\n\n[limits]\nthen = \"handover:"+to+"\"\n")
			w.bodies.understood = []understanding{
				{by: paths[from], text: "Paint the shed.", steps: "do: write begun.txt red\ndo: limit 7200"},
				{by: paths[to], text: "Paint the shed.", steps: "do: write done.txt red\ndo: say It is red."},
			}
			w.ok(w.paw("start", "--cli", from, "--detach"))
			w.awaitState("idle")
			w.ok(w.paw("queue", "add", "--cli", from, "--id", "shed", "--check", "test -e begun.txt && test -e done.txt", "Paint the shed."))
			w.await("another CLI has done it", func() bool {
				out := w.paw("queue", "--json").stdout
				if strings.Contains(out, `"state":"held"`) || strings.Contains(out, `"state":"failed"`) {
					t.Fatal(out)
				}
				return strings.Contains(out, `"id":"shed","agent":"shed_2","state":"done"`)
			})
			var queue struct{ Made int }
			out := w.ok(w.paw("queue", "--json")).stdout
			if err := json.Unmarshal([]byte(out), &queue); err != nil || queue.Made != 2 {
				t.Errorf("%d were begun, want 2 (%v)", queue.Made, err)
			}
			limited, over := w.as("shed"), w.as("shed_2")
			a, b := limited.agent("shed"), over.agent("shed_2")
			if a.CLI != from || b.CLI != to || a.State != "error" || a.Limit == nil || b.State != "idle" || a.Branch == b.Branch {
				t.Errorf("%+v\n%+v", a, b)
			}
			if turns := w.turnsOf("shed"); len(turns) != 1 || turns[0].State != "aborted" || turns[0].Limit == nil {
				t.Errorf("turns of the limited one: %+v", turns)
			}
			if turns := w.turnsOf("shed_2"); len(turns) != 1 || text(turns[0].Outcome) != "success" {
				t.Errorf("turns of the other one: %+v", turns)
			}
			if limited.has("done.txt") || !limited.has("begun.txt") || !over.has("begun.txt") || !over.has("done.txt") {
				t.Error("the work is not where it belongs")
			}
			t.Logf("%s\n%s\n%s\nscreen of shed:\n%s\nscreen of shed_2:\n%s", out, w.paw("status").stdout, w.paw("turns").stdout, limited.screen("shed"), over.screen("shed_2"))
		})
	}
}
