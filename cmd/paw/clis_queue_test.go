//go:build clis

package main

import (
	"encoding/json"
	"fmt"
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

// TestCLIsQueueByACP has the queue start agents that speak the Agent Client Protocol, with no terminal on the session. The first task
// succeeds, the second begins with its work, the third asks and gets its answer from paw answer, and the fourth fails: the model's server
// answers with an error.
func TestCLIsQueueByACP(t *testing.T) {
	for _, cli := range []string{"gemini", "opencode"} {
		t.Run(cli, func(t *testing.T) {
			w := newCLIWorld(t, cli)
			w.env = append(w.env, "PAW_QUEUE_PACE=2s,0s,1s,5s")
			command, _ := json.Marshal(acpCommands[cli])
			w.write(filepath.Join(w.root, "home/.config/paw"), "config.toml", fmt.Sprintf("[clis.acp]\nacp = %s\n", command))
			w.write(w.root, "plan.toml", `[[task]]
id = "one"
cli = ["acp"]
prompt = "do: write one.txt first\ndo: say Wrote it."

[[task]]
id = "two"
cli = ["acp"]
prompt = "do: ask touch asked.txt\ndo: say Over."

[[task]]
id = "three"
cli = ["acp"]
from = "one"
prompt = "do: write three.txt third\ndo: say Wrote it, too."

[[task]]
id = "four"
cli = ["acp"]
prompt = "do: fail 400 scripted overload"
`)
			w.ok(w.paw("start", "--cli", "demo", "--detach"))
			w.ok(w.paw("queue", "add", "--plan", filepath.Join(w.root, "plan.toml")))
			states := func() map[string]string {
				all := map[string]string{}
				for _, a := range w.view().Sessions[0].Agents {
					all[a.Name] = a.State
				}
				return all
			}
			over := func() map[string]string {
				var queue struct{ Tasks []struct{ ID, State string } }
				out := w.ok(w.paw("queue", "--json")).stdout
				if err := json.Unmarshal([]byte(out), &queue); err != nil {
					t.Fatal(err, out)
				}
				all := map[string]string{}
				for _, one := range queue.Tasks {
					all[one.ID] = one.State
				}
				return all
			}
			w.await("one asks for a command, and the others have gone on", func() bool {
				for _, id := range []string{"one", "three"} { // some ask for each file
					if states()[id] == "waiting_input" {
						w.paw("answer", id, "yes")
					}
				}
				return states()["two"] == "waiting_input" && over()["three"] == "done"
			})
			w.ok(w.paw("answer", "two", "yes"))
			w.await("the night is over", func() bool {
				now := over()
				return now["one"] == "done" && now["two"] == "done" && now["three"] == "done" && now["four"] != "waiting" && now["four"] != "running"
			})
			t.Logf("%s%s%s", w.ok(w.paw("queue")).stdout, w.paw("status").stdout, w.paw("turns").stdout)
			if !w.as("one").has("one.txt") || !w.as("two").has("asked.txt") || !w.as("three").has("one.txt") || !w.as("three").has("three.txt") {
				t.Error("the work is not where it belongs")
			}
			for id, want := range map[string]string{"one": "finished", "two": "finished", "three": "finished", "four": "aborted"} {
				if turns := w.turnsOf(id); len(turns) != 1 || turns[0].State != want {
					t.Errorf("turns of %s: %+v", id, turns)
				}
			}
		})
	}
}
