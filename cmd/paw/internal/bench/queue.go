package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// manyPrompts is the number of prompts that wait in the queue.
const manyPrompts = 100

// Budgets for the begin and the end of a turn with an empty queue: the same as before paw had
// queues.
var (
	unqueuedStart = &counts{git: 3, tmux: 0, opens: 45}
	unqueuedEnd   = &counts{git: 3, tmux: 0, opens: 41}
)

// measureQueue counts the processes at the end of a turn with an empty queue, and times a look at a
// queue with many prompts.
func (b *bench) measureQueue(w *world) {
	a := w.startHooked()
	a.turn(a.time, &job{}, &job{}, false) // the first turn writes a record that later turns find
	for _, what := range []string{"no queue", "a queue that is empty again"} {
		if what != "no queue" {
			a.queueOne()
		}
		start, end := b.job("turn start, "+what, budget{counts: unqueuedStart}), b.job("turn end, "+what, budget{counts: unqueuedEnd})
		for range quick.runs {
			a.turn(a.time, start, end, false)
		}
		a.turn(a.count, start, end, false)
	}
	a.expectTurns()

	w.run(w.paw, "send", sessionName+"/"+agentName(0), "do: sleep 600")
	plan := filepath.Join(w.dir, "plan.toml")
	check(os.WriteFile(plan, []byte(strings.Repeat(fmt.Sprintf("[[task]]\nagent = %q\nprompt = \"go on\"\n", agentName(0)), manyPrompts)), 0o600))
	w.run(w.paw, "queue", "add", "--session", sessionName, "--plan", plan)
	look := b.job(fmt.Sprintf("a look at a queue, %d prompts wait", manyPrompts), budget{multiple: 15, counts: &counts{git: 0, tmux: 2}})
	w.measure(look, quick, w.paw, "__pump", sessionName, "0")
	w.count(look, w.paw, "__pump", sessionName, "0")
	b.statusRow(w, 1, fmt.Sprintf(", %d prompts wait", manyPrompts), budget{counts: statusCounts})
	if waits := strings.Count(w.output(w.paw, "queue", sessionName, "--json"), `"state":"waiting","why":"busy"`); waits != manyPrompts {
		fail("paw queue --json: %d prompts wait, want %d", waits, manyPrompts)
	}
}

// queueOne queues one prompt, and waits until the queue is empty again.
func (a *hookedAgent) queueOne() {
	a.run(a.paw, "queue", "add", "--session", sessionName, "--id", "only", agentName(0), sent)
	a.turns++
	folder := filepath.Join(a.dir, "state", "paw", "queue", sessionName)
	a.await("the queue to be empty again", func() bool {
		_, waits := os.Lstat(filepath.Join(folder, "queue.json"))
		_, ended := os.Lstat(filepath.Join(folder, "ended.json"))
		return waits != nil && ended == nil
	})
}
