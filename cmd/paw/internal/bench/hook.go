package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// hookedAgent is a demo agent that waits for a prompt while its hooks are called in its place, so that each call can be
// timed alone: same program, arguments, environment, folder and report.
type hookedAgent struct {
	*world              // that stands in the agent's worktree, with its environment
	conversation string // of the agent
	turns        int    // reported so far
}

// measureHooks times what a CLI waits for at the begin and the end of each turn, in a clean worktree and in one where
// the turn changed a file.
func (b *bench) measureHooks(ctx context.Context, w *world, files int, limit budget) error {
	a, err := w.startHooked(ctx)
	if err != nil {
		return err
	}
	e := quick
	if files == largeFiles {
		e = slow
	}
	// The first turn of an agent writes a record that the others find.
	if err := a.turn(ctx, a.time, &job{}, &job{}, false); err != nil {
		return err
	}
	for _, changed := range []bool{false, true} {
		what, atEnd := fmt.Sprintf("%d files, clean", files), budget{}
		if changed {
			what, atEnd = fmt.Sprintf("%d files, one changed", files), limit
		}
		start, end := b.job("turn start, "+what, budget{}), b.job("turn end, "+what, atEnd)
		status := b.job("  one git status of it", budget{})
		for range e.runs {
			if err := a.turn(ctx, a.time, start, end, changed); err != nil {
				return err
			}
			if err := a.time(ctx, status, "git", "--no-optional-locks", "status", "--porcelain=v2", "--untracked-files=all"); err != nil {
				return err
			}
		}
		if err := a.turn(ctx, a.count, start, end, changed); err != nil {
			return err
		}
	}
	return a.expectTurns(ctx)
}

// startHooked starts a session of one demo agent and waits until it takes prompts.
func (w *world) startHooked(ctx context.Context) (*hookedAgent, error) {
	if err := w.run(ctx, nil, w.paw, "start", "--detach", "--name", sessionName, "--cli", agentName(0)+"=demo"); err != nil {
		return nil, err
	}
	var agent statusAgent
	err := await(ctx, "the demo agent to take prompts", func() (bool, error) {
		all, err := w.statusAgents(ctx)
		if err != nil || len(all) != 1 {
			return false, err
		}
		agent = all[0]
		return agent.State == "idle" && agent.Hooks == "seen", nil
	})
	if err != nil {
		return nil, err
	}
	a := &hookedAgent{world: new(world), conversation: agent.ConversationID}
	*a.world = *w
	a.folder, a.stdin = agent.WorktreePath, filepath.Join(w.dir, "report")
	a.extra = []string{
		"PAW_SESSION=" + sessionName, "PAW_AGENT=" + agentName(0), fmt.Sprintf("PAW_LAUNCH=%s/%s/1", sessionName, agentName(0)),
		"PWD=" + agent.WorktreePath,
	}
	return a, nil
}

// turn reports the begin and the end of a turn, which writes a file in between or not.
func (a *hookedAgent) turn(ctx context.Context, measured step, start, end *job, change bool) error {
	a.turns++
	if err := a.hook(ctx, measured, start, "turn_start", "prompt", "go on"); err != nil {
		return err
	}
	if change {
		text := fmt.Sprintf("turn %d\n", a.turns)
		if err := os.WriteFile(filepath.Join(a.folder, changedFile), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return a.hook(ctx, measured, end, "turn_end", "answer", "done")
}

// hook calls the hook of one event with the report of the demo agent.
func (a *hookedAgent) hook(ctx context.Context, measured step, j *job, event, key, value string) error {
	report, err := json.Marshal(map[string]string{
		"session_id": a.conversation, "turn_id": fmt.Sprintf("%s/%d", a.conversation, a.turns), "cwd": a.folder, "hook_event_name": event,
		"transcript_path": filepath.Join(a.dir, "state", "paw", "demo", a.conversation+".jsonl"), key: value,
	})
	if err != nil {
		return err
	}
	if err := os.WriteFile(a.stdin, report, 0o600); err != nil {
		return err
	}
	return measured(ctx, j, a.paw, "hook", "demo", event)
}

// expectTurns makes sure that the hooks did what was timed: they say nothing and always end well.
func (a *hookedAgent) expectTurns(ctx context.Context) error {
	all, err := a.statusAgents(ctx)
	if err != nil {
		return err
	}
	want := fmt.Sprintf("afk-%s_%s-%d", sessionName, agentName(0), a.turns)
	if len(all) != 1 || all[0].TurnsCompleted != a.turns || all[0].LastTag != want {
		return fmt.Errorf("paw status --json: %+v, want %d turns, the last one tagged %s", all, a.turns, want)
	}
	return nil
}
