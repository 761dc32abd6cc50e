package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// claudeAgents is the number of claude agents in a measured status.
const claudeAgents = 100

// transcriptSize is the size in bytes of a conversation of some hours.
const transcriptSize = 2 << 20

// claudeWorld is a world whose claude only reads its terminal. This program writes what claude
// would: its registry of running processes and the transcripts of its conversations.
type claudeWorld struct {
	*world
	agents []statusAgent
}

// measureClaude times paw status of many claude agents, with their last turns over and with them
// running.
func (b *bench) measureClaude(w *world) {
	c := w.startClaude(claudeAgents)
	for _, running := range []bool{false, true} {
		what := "after a turn"
		if running {
			what = "in a turn"
		}
		for i := range c.agents {
			c.turn(i, running)
		}
		j := b.job(fmt.Sprintf("status, %s of claude, %s", plural(claudeAgents), what), budget{multiple: 14, counts: statusCounts})
		w.measure(j, quick, w.paw, "status")
		w.count(j, w.paw, "status")
		c.expect(running)
	}
}

// startClaude starts n claude agents, each with a conversation.
func (w *world) startClaude(n int) *claudeWorld {
	program := filepath.Join(w.dir, "claude")
	check(os.WriteFile(program, []byte("#!/bin/sh\n[ \"$1\" = --version ] && echo 2.1.330 || exec cat\n"), 0o755))
	check(os.WriteFile(filepath.Join(w.dir, "config", "paw", "config.toml"), fmt.Appendf(nil, "[clis.claude]\ncommand = [%q]\n", program), 0o644))
	names := strings.ReplaceAll(agents(n), "="+cliName, "=claude")
	w.run(w.paw, "start", "--detach", "--name", sessionName, "--cli", names)
	c := &claudeWorld{world: w}
	w.await("claude to run", func() bool {
		c.agents = w.statusAgents()
		for _, a := range c.agents {
			if a.PID == 0 || a.ConversationID == "" {
				return false
			}
		}
		return len(c.agents) == n
	})
	for i, a := range c.agents {
		c.hook(i, "SessionStart", "source", "startup")
		c.transcript(a)
		c.register(a, "idle")
	}
	return c
}

// transcript writes a conversation with one prompt.
func (c *claudeWorld) transcript(a statusAgent) {
	line := map[string]any{"type": "user", "promptId": "p0", "sessionId": a.ConversationID, "cwd": a.WorktreePath, "entrypoint": "cli",
		"timestamp": time.Now().Add(-time.Hour).UTC(), "message": map[string]any{"role": "user", "content": "read everything"}}
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	check(enc.Encode(line))
	line["type"], line["message"] = "assistant", map[string]any{"role": "assistant", "content": []any{
		map[string]any{"type": "text", "text": strings.Repeat("a line of a file that claude has read\n", 100)},
	}}
	for text.Len() < transcriptSize {
		check(enc.Encode(line))
	}
	check(os.MkdirAll(filepath.Dir(c.transcriptOf(a)), 0o755))
	check(os.WriteFile(c.transcriptOf(a), text.Bytes(), 0o600))
}

// transcriptOf returns the path of claude's transcript of an agent.
func (c *claudeWorld) transcriptOf(a statusAgent) string {
	folder := strings.NewReplacer("/", "-", ".", "-", "_", "-").Replace(a.WorktreePath)
	return filepath.Join(c.dir, "home", ".claude", "projects", folder, a.ConversationID+".jsonl")
}

// register writes the status of an agent's process into claude's registry.
func (c *claudeWorld) register(a statusAgent, status string) {
	stat := string(must(os.ReadFile(fmt.Sprintf("/proc/%d/stat", a.PID))))
	_, rest, _ := strings.Cut(stat, ") ")
	dir := filepath.Join(c.dir, "home", ".claude", "sessions")
	check(os.MkdirAll(dir, 0o755))
	entry := must(json.Marshal(map[string]any{"pid": a.PID, "sessionId": a.ConversationID, "cwd": a.WorktreePath, "kind": "interactive",
		"status": status, "statusUpdatedAt": time.Now().UnixMilli(), "procStart": strings.Fields(rest)[19]}))
	check(os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.json", a.PID)), entry, 0o600))
}

// turn reports the begin of a turn and, unless it keeps running, its end.
func (c *claudeWorld) turn(i int, running bool) {
	id := fmt.Sprintf("p%d", time.Now().UnixNano())
	c.hook(i, "UserPromptSubmit", "prompt", "go on", "prompt_id", id)
	if running {
		c.register(c.agents[i], "busy")
		return
	}
	c.hook(i, "Stop", "last_assistant_message", "done", "prompt_id", id)
	c.register(c.agents[i], "idle")
}

// hook calls the hook of an event as claude does. more are fields that only this event has.
func (c *claudeWorld) hook(i int, event string, more ...string) {
	a := c.agents[i]
	report := map[string]string{"session_id": a.ConversationID, "cwd": a.WorktreePath, "hook_event_name": event, "permission_mode": "default",
		"transcript_path": c.transcriptOf(a)}
	for k := 0; k < len(more); k += 2 {
		report[more[k]] = more[k+1]
	}
	before := *c.world
	defer func() { *c.world = before }()
	c.folder, c.stdin = a.WorktreePath, filepath.Join(c.dir, "report")
	c.extra = []string{"PAW_SESSION=" + sessionName, "PAW_AGENT=" + agentName(i), fmt.Sprintf("PAW_LAUNCH=%s/%s/1", sessionName, agentName(i)), "PWD=" + a.WorktreePath}
	check(os.WriteFile(c.stdin, must(json.Marshal(report)), 0o600))
	c.spawn(false, c.paw, "hook", "claude", event)
}

// expect checks that paw knows the states of the agents from claude's own files.
func (c *claudeWorld) expect(running bool) {
	want := "idle"
	if running {
		want = "running"
	}
	c.await("all agents of claude to be "+want, func() bool {
		for _, a := range c.statusAgents() {
			if a.State != want {
				return false
			}
		}
		return true
	})
}
