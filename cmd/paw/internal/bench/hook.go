package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
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
	a.hook(measured, start, "turn_start", "prompt", "go on")
	if change {
		text := fmt.Sprintf("turn %d\n", a.turns)
		check(os.WriteFile(filepath.Join(a.folder, changedFile), []byte(text), 0o644))
	}
	a.hook(measured, end, "turn_end", "answer", "done")
}

// hook calls the hook of an event with a report of the demo agent.
func (a *hookedAgent) hook(measured step, j *job, event, key, value string) {
	report := must(json.Marshal(map[string]string{
		"session_id": a.conversation, "turn_id": fmt.Sprintf("%s/%d", a.conversation, a.turns), "cwd": a.folder, "hook_event_name": event,
		"transcript_path": filepath.Join(a.dir, "state", "paw", "demo", a.conversation+".jsonl"), key: value,
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
