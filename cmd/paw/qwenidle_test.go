package main

import (
	"fmt"
	"path/filepath"
	"regexp"
	"sync"
	"testing"
	"time"
)

// qwenWorld starts a program that stands in for qwen; the test calls its hooks and writes its chat
// file.
func qwenWorld(t *testing.T) (w *world, a agentJSON) {
	t.Helper()
	w = newWorld(t)
	w.script(w.root, "qwen", "#!/bin/sh\n[ \"$1\" = --version ] && echo 0.24.4 || exec cat\n")
	w.configure("[clis.qwen]\ncommand = [\"" + filepath.Join(w.root, "qwen") + "\"]\n")
	w.ok(w.paw("start", "--cli", "qwen", "--detach"))
	waitFor(t, "qwen runs", func() bool { a = w.agent("qwen"); return a.PID != nil })
	w.qwenHook(a, nil, "SessionStart", 0, "source", "startup")
	return w, a
}

// qwenHook calls a hook that qwen has called some time ago; more has the event's own fields, each
// name before its value.
func (w *world) qwenHook(a agentJSON, env []string, event string, ago time.Duration, more ...string) {
	w.t.Helper()
	payload := map[string]any{
		"session_id": *a.ConversationID, "transcript_path": w.qwenChat(a), "cwd": a.WorktreePath, "hook_event_name": event,
		"timestamp": qwenTime(ago),
	}
	for i := 0; i < len(more); i += 2 {
		payload[more[i]] = more[i+1]
	}
	w.ok(w.hookOf("qwen", a, env, payload))
}

// qwenRests has qwen say that it waits for a prompt.
func (w *world) qwenRests(a agentJSON, ago time.Duration) {
	w.t.Helper()
	w.qwenHook(a, nil, "Notification", ago, "notification_type", "idle_prompt")
}

func (w *world) qwenChat(a agentJSON) string {
	folder := regexp.MustCompile(`[^A-Za-z0-9]`).ReplaceAllString(a.WorktreePath, "-")
	return filepath.Join(w.root, "home/.qwen/projects", folder, "chats", *a.ConversationID+".jsonl")
}

func qwenTime(ago time.Duration) string {
	return time.Now().Add(-ago).UTC().Format("2006-01-02T15:04:05.000Z")
}

// answered is the record of a prompt and its answer.
func answered(prompt, answer string) string {
	line := `{"timestamp":%q,"type":%q,"message":{"parts":[{"text":%q}]}}` + "\n"
	return fmt.Sprintf(line, qwenTime(0), "user", prompt) +
		fmt.Sprintf(`{"timestamp":%q,"type":"system","systemPayload":{"uiEvent":{"event.name":"qwen-code.api_response"}}}`+"\n", qwenTime(0)) +
		fmt.Sprintf(line, qwenTime(0), "assistant", answer)
}

// TestQwenRestsBeforeItsRecord: the chat file has only the turn before when qwen says that it is
// idle, as where disks are slow. The answer to that turn is no end of this one.
func TestQwenRestsBeforeItsRecord(t *testing.T) {
	t.Parallel()
	w, a := qwenWorld(t)
	w.qwenHook(a, nil, "UserPromptSubmit", 0, "prompt", "first")
	record := answered("first", "done")
	w.qwenHook(a, nil, "Stop", 0, "last_assistant_message", "done")
	w.qwenHook(a, nil, "UserPromptSubmit", 0, "prompt", "second")
	dir, name := filepath.Split(w.qwenChat(a))
	w.write(dir, name, record)
	w.qwenRests(a, 0)
	if a = w.agent("qwen"); a.State != "idle" || text(a.Reason) != "turn interrupted" {
		t.Errorf("qwen is %s, %s", a.State, text(a.Reason))
	}
	list := w.turnsOf("qwen")
	if len(list) != 2 || text(list[0].Message) != "done" || list[1].State != "aborted" || text(list[1].Reason) != "interrupted" {
		t.Errorf("turns: %+v", list)
	}
}

// TestQwenAnswersWithoutAStopHook: an Esc behind the answer ends the Stop hook, or keeps qwen from
// calling it.
func TestQwenAnswersWithoutAStopHook(t *testing.T) {
	t.Parallel()
	w, a := qwenWorld(t)
	w.qwenHook(a, nil, "UserPromptSubmit", 0, "prompt", "first")
	dir, name := filepath.Split(w.qwenChat(a))
	w.write(dir, name, answered("first", "All done."))
	w.qwenRests(a, 0)
	if a = w.agent("qwen"); a.State != "idle" || a.Reason != nil {
		t.Errorf("qwen is %s, %s", a.State, text(a.Reason))
	}
	list := w.turnsOf("qwen")
	if len(list) != 1 || list[0].State != "finished" || list[0].Tag == nil || text(list[0].Message) != "All done." {
		t.Errorf("turns: %+v", list)
	}
}

// TestQwenRestsBeforeItsPrompt: an Esc stops qwen while the hook of the prompt still waits, and the
// hook that qwen is idle comes first.
func TestQwenRestsBeforeItsPrompt(t *testing.T) {
	t.Parallel()
	w, a := qwenWorld(t)
	reached, goOn := filepath.Join(w.root, "reached"), filepath.Join(w.root, "go-on")
	stuck := []string{"PAW_TEST_AT=turn.claimed", "PAW_TEST_DO=touch " + reached + "; while [ ! -e " + goOn + " ]; do sleep 0.05; done"}
	var hooks sync.WaitGroup
	hooks.Go(func() { w.qwenHook(a, stuck, "UserPromptSubmit", 0, "prompt", "first") })
	w.awaitFile(reached)
	hooks.Go(func() { w.qwenRests(a, 0) })
	w.awaitFile(filepath.Join(w.root, "home/.local/state/paw/agents/shop/qwen/qwen-idle.json"))
	w.write(w.root, "go-on", "")
	hooks.Wait()
	waitFor(t, "qwen is idle", func() bool { a = w.agent("qwen"); return a.State == "idle" && a.Reason != nil })
	if text(a.Reason) != "turn interrupted" {
		t.Errorf("qwen is idle, %s", text(a.Reason))
	}
	list := w.turnsOf("qwen")
	if len(list) != 1 || list[0].State != "aborted" || text(list[0].Reason) != "interrupted" {
		t.Errorf("turns: %+v", list)
	}
}

// TestQwenRestsBeforeAnotherTurn: a notice about the turn before, whose hook is late, ends no turn.
func TestQwenRestsBeforeAnotherTurn(t *testing.T) {
	t.Parallel()
	w, a := qwenWorld(t)
	w.qwenHook(a, nil, "UserPromptSubmit", 0, "prompt", "first")
	w.qwenHook(a, nil, "Stop", 0, "last_assistant_message", "done")
	w.qwenHook(a, nil, "UserPromptSubmit", 0, "prompt", "second")
	w.qwenRests(a, 100*time.Millisecond+time.Since(*w.turnsOf("qwen")[1].StartedAt))
	if a = w.agent("qwen"); a.State != "running" {
		t.Errorf("qwen is %s, %s", a.State, text(a.Reason))
	}
	if list := w.turnsOf("qwen"); len(list) != 2 || list[1].State != "in_progress" {
		t.Errorf("turns: %+v", list)
	}
}
