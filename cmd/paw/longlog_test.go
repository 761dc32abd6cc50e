//go:build linux

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestALogOf152Megabytes: what looks at an agent reads the end of its CLI's log alone, and what reads all of a log takes time
// that grows with the log, and no more.
func TestALogOf152Megabytes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write(filepath.Join(w.root, "bin"), "claude", "#!/bin/sh\n[ \"$1\" = --version ] && { echo '2.1.0 (Claude Code)'; exit 0; }\nexec sleep 1000\n")
	if err := os.Chmod(filepath.Join(w.root, "bin/claude"), 0o755); err != nil {
		t.Fatal(err)
	}
	w.ok(w.run(w.repo, []string{"PATH=" + w.root + "/bin:" + os.Getenv("PATH")}, pawForTests(), "start", "--cli", "one=claude", "--detach"))
	a := w.agent("one")
	l := &longLog{t: t, agent: a, path: filepath.Join(w.root, "home/.claude/projects", strings.NewReplacer("/", "-", ".", "-").Replace(a.WorktreePath), *a.ConversationID+".jsonl")}
	hook := func(event string, fields map[string]any) {
		t.Helper()
		payload := map[string]any{"session_id": *a.ConversationID, "cwd": a.WorktreePath, "hook_event_name": event, "transcript_path": l.path}
		for name, value := range fields {
			payload[name] = value
		}
		w.ok(w.hookOf("claude", a, nil, payload))
	}
	hook("SessionStart", map[string]any{"source": "startup"})
	hook("UserPromptSubmit", map[string]any{"prompt": "the first one"})
	l.write("the first one", 1500, 105_000)
	hook("Stop", nil)
	hook("UserPromptSubmit", map[string]any{"prompt": "the second one"})
	l.write("the second one", 1, 10)
	if info, err := os.Stat(l.path); err != nil || info.Size() < 150<<20 {
		t.Fatalf("%v, %v", info, err)
	}
	for _, c := range []struct {
		most time.Duration // of the processor
		all  bool          // it reads all of the log
		says string
		args []string
	}{
		{time.Second, false, "claude  running", []string{"status"}},
		{time.Second, false, "the second one", []string{"turns", "one"}},
		{2 * time.Second, false, "", []string{"wait", "one", "--timeout", "1s"}},
		{40 * time.Second, true, "answer 0 of the second one", []string{"log", "one", "--turn", "2"}},
	} {
		_, _, least := w.measured("true") // Linux counts the memory of the process that starts it, too
		out, took, bytes := w.measured(pawForTests(), c.args...)
		if took > c.most || !c.all && bytes > max(least, 64<<20)+24<<20 {
			t.Errorf("paw %s: %v of the processor, %d MiB", strings.Join(c.args, " "), took, bytes>>20)
		}
		if !strings.Contains(out, c.says) || len(out) > 10_000 {
			t.Errorf("paw %s: %.1000s", strings.Join(c.args, " "), out)
		}
	}
}

// measured runs a program, and returns what it prints, the time of the processor that it takes, and the memory.
func (w *world) measured(name string, args ...string) (out string, took time.Duration, bytes int64) {
	w.t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = w.repo, w.env
	said, _ := cmd.CombinedOutput()
	usage := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	return string(said), cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), usage.Maxrss << 10
}

// longLog writes a conversation as claude does.
type longLog struct {
	t     *testing.T
	agent agentJSON
	path  string
	last  string // id of the last line
	lines int
}

// write appends a prompt and so many answers, each behind the result of a tool of a size.
func (l *longLog) write(prompt string, answers, size int) {
	l.t.Helper()
	if err := os.MkdirAll(filepath.Dir(l.path), 0o755); err != nil {
		l.t.Fatal(err)
	}
	f, err := os.OpenFile(l.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		l.t.Fatal(err)
	}
	defer f.Close()
	buffered := bufio.NewWriter(f)
	add := func(kind string, message map[string]any) {
		l.lines++
		id := fmt.Sprint("line-", l.lines)
		line := map[string]any{"type": kind, "uuid": id, "timestamp": time.Now().UTC().Format(time.RFC3339Nano), "sessionId": *l.agent.ConversationID, "cwd": l.agent.WorktreePath, "message": message}
		if l.last != "" {
			line["parentUuid"] = l.last
		}
		l.last = id
		if err := json.NewEncoder(buffered).Encode(line); err != nil {
			l.t.Fatal(err)
		}
	}
	add("user", map[string]any{"role": "user", "content": prompt})
	result := strings.Repeat("x", size)
	for i := range answers {
		tool, id := fmt.Sprintf("tool-%d-%d", l.lines, i), fmt.Sprintf("message-%d-%d", l.lines, i)
		add("assistant", map[string]any{"id": id, "role": "assistant", "model": "m", "content": []any{map[string]any{"type": "tool_use", "id": tool, "name": "Bash", "input": map[string]any{"command": "ls"}}}})
		add("user", map[string]any{"role": "user", "content": []any{map[string]any{"type": "tool_result", "tool_use_id": tool, "content": result}}})
		add("assistant", map[string]any{"id": id + "-answer", "role": "assistant", "model": "m", "content": []any{map[string]any{"type": "text", "text": fmt.Sprintf("answer %d of %s", i, prompt)}}})
	}
	if err := buffered.Flush(); err != nil {
		l.t.Fatal(err)
	}
}
