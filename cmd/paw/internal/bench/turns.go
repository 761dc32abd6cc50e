package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// hookedAgent is a demo agent that waits for a prompt while this program calls its hooks, so that
// each call is timed alone: with the same program, arguments, environment, folder and report.
type hookedAgent struct {
	*world              // the world, with the agent's worktree and environment
	conversation string // id of the agent's conversation
	turns        int    // number of turns reported so far
}

// measureHooks times the hooks at the begin and the end of a turn, which a CLI waits for: in a
// clean worktree, and in one where the turn changed a file.
func (b *bench) measureHooks(w *world, files int) {
	a := w.startHooked()
	e := quick
	if files == largeFiles {
		e = slow
	}
	// The first turn of an agent writes a record that later turns find.
	a.turn(a.time, &job{}, &job{}, false)
	for _, changed := range []bool{false, true} {
		what, atEnd := fmt.Sprintf("%d files, clean", files), budget{multiple: 15}
		if changed {
			what, atEnd = fmt.Sprintf("%d files, one changed", files), budget{multiple: 20}
		}
		if files > smallFiles {
			atEnd = budget{}
		}
		start, end := b.job("turn start, "+what, budget{}), b.job("turn end, "+what, atEnd)
		status := b.job("  one git status of it", budget{})
		for range e.runs {
			a.turn(a.time, start, end, changed)
			a.time(status, "git", "--no-optional-locks", "status", "--porcelain=v2", "--untracked-files=all")
		}
		a.turn(a.count, start, end, changed)
	}
	a.expectTurns()
}

// startHooked starts a session with one demo agent, and waits until the agent takes prompts.
func (w *world) startHooked() *hookedAgent {
	w.run(w.paw, "start", "--detach", "--name", sessionName, "--cli", agentName(0)+"=demo")
	var agent statusAgent
	w.await("the demo agent to take prompts", func() bool {
		all := w.statusAgents()
		if len(all) != 1 {
			return false
		}
		agent = all[0]
		return agent.State == "idle" && agent.Hooks == "seen"
	})
	a := &hookedAgent{world: new(world), conversation: agent.ConversationID}
	*a.world = *w
	a.folder, a.stdin = agent.WorktreePath, filepath.Join(w.dir, "report")
	a.extra = []string{
		"PAW_SESSION=" + sessionName, "PAW_AGENT=" + agentName(0), fmt.Sprintf("PAW_LAUNCH=%s/%s/1", sessionName, agentName(0)),
		"PWD=" + agent.WorktreePath,
	}
	return a
}

// turn reports the begin and the end of a turn. With change, the turn writes a file.
func (a *hookedAgent) turn(measured step, start, end *job, change bool) {
	a.turns++
	a.hook(measured, start, "prompt", "prompt", "go on")
	if change {
		text := fmt.Sprintf("turn %d\n", a.turns)
		check(os.WriteFile(filepath.Join(a.folder, changedFile), []byte(text), 0o644))
	}
	a.hook(measured, end, "end", "message", "done")
}

// hook calls the hook of an event with a report of the demo agent.
func (a *hookedAgent) hook(measured step, j *job, event, key, value string) {
	report := must(json.Marshal(map[string]string{
		"conversation": a.conversation, "turnID": fmt.Sprintf("%s/%d", a.conversation, a.turns), "folder": a.folder,
		"transcript": filepath.Join(a.dir, "state", "paw", "demo", a.conversation+".jsonl"), key: value,
	}))
	check(os.WriteFile(a.stdin, report, 0o600))
	measured(j, a.paw, "hook", "demo", event)
}

// expectTurns checks that the hooks have worked: they print nothing, and always exit with 0.
func (a *hookedAgent) expectTurns() {
	all := a.statusAgents()
	want := fmt.Sprintf("afk-%s_%s-%d", sessionName, agentName(0), a.turns)
	if len(all) != 1 || all[0].TurnsCompleted != a.turns || all[0].LastTag != want {
		fail("paw status --json: %+v, want %d turns, the last one tagged %s", all, a.turns, want)
	}
}

// sent is the prompt for the demo agent: a turn that ends at once.
const sent = "do: say on"

// measureSend times a prompt to an idle agent, until the turn has begun.
func (b *bench) measureSend(w *world) {
	a := w.startHooked()
	j := b.job("send to an idle agent", budget{counts: &counts{git: 0, tmux: 6}})
	w.repeat(quick.runs+1, func(_ int, measured step) { a.send(measured, j) })
}

// send types one prompt and waits for the end of its turn.
func (a *hookedAgent) send(measured step, j *job) {
	a.turns++
	measured(j, a.paw, "send", sessionName+"/"+agentName(0), sent)
	a.await("the end of the turn", func() bool {
		all := a.statusAgents()
		return len(all) == 1 && all[0].State == "idle" && all[0].TurnsCompleted == a.turns
	})
}

// manyPrompts is the number of prompts that wait in the queue.
const manyPrompts = 100

// Budgets for the begin and the end of a turn with an empty queue: the same as without one, and
// however many turns there were.
var (
	unqueuedStart = &counts{git: 3, tmux: 0, opens: 52}
	unqueuedEnd   = &counts{git: 3, tmux: 0, opens: 57}
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
		a.repeat(quick.runs+1, func(_ int, measured step) { a.turn(measured, start, end, false) })
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
