package cli_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"paw/orchestrator/cli"
)

func TestQwenConversation(t *testing.T) {
	const qwenID = "11111111-2222-4333-8444-555555555555"
	l := newLab(t)
	file := filepath.Join("projects", dash(l.worktree), "chats", qwenID+".jsonl")
	path := l.put(filepath.Join(".qwen", file), l.sample("qwen-chat.jsonl"))
	want := cli.Conversation{Found: true, Resumable: true, Transcript: path}
	if diff := cmp.Diff(want, conversation(t, "qwen", l.with(qwenID))); diff != "" {
		t.Error(diff)
	}
	if c := conversation(t, "qwen", l.with(qwenID, "QWEN_HOME=/nowhere")); c.Found {
		t.Error("found outside of QWEN_HOME")
	}
	runtime := l.put(filepath.Join("run", file), "")
	want = cli.Conversation{Found: true, NewID: true, Transcript: runtime, Reason: "the conversation has no message yet"}
	env := []string{"QWEN_HOME=/nowhere", "QWEN_RUNTIME_DIR=" + filepath.Join(l.home, "run")}
	if diff := cmp.Diff(want, conversation(t, "qwen", l.with(qwenID, env...))); diff != "" {
		t.Error(diff)
	}
}

func TestCopilotConversation(t *testing.T) {
	const copilotID = "f8582031-12a9-43e4-8640-9df83bc622ea"
	l := newLab(t)
	dir := filepath.Join(".copilot", "session-state", copilotID)
	if c := conversation(t, "copilot", l.with(copilotID)); c.Found {
		t.Error("found without a folder")
	}
	l.put(filepath.Join(dir, "workspace.yaml"), "id: "+copilotID)
	if c := conversation(t, "copilot", l.with(copilotID)); !c.Found || c.Resumable || c.NewID {
		t.Errorf("a conversation without a message: %+v", c)
	}
	path := l.put(filepath.Join(dir, "events.jsonl"), l.sample("copilot-events.jsonl"))
	want := cli.Conversation{Found: true, Resumable: true, Transcript: path}
	if diff := cmp.Diff(want, conversation(t, "copilot", l.with(copilotID))); diff != "" {
		t.Error(diff)
	}
}

func TestDemoConversation(t *testing.T) {
	l := newLab(t)
	if c := conversation(t, "demo", l.with(id)); c.Found {
		t.Error("found without a file")
	}
	path := l.put(".local/state/paw/demo/"+id+".jsonl", `{"role":"assistant","content":"x"}`+"\n")
	want := cli.Conversation{Found: true, NewID: true, Transcript: path, Reason: "the conversation has no message yet"}
	if diff := cmp.Diff(want, conversation(t, "demo", l.with(id, "XDG_STATE_HOME=relative"))); diff != "" {
		t.Error(diff)
	}
	path = l.put("state/paw/demo/"+id+".jsonl", `{"role":"user","content":"x"}`+"\n")
	want = cli.Conversation{Found: true, Resumable: true, Transcript: path}
	if diff := cmp.Diff(want, conversation(t, "demo", l.with(id, "XDG_STATE_HOME="+filepath.Join(l.home, "state")))); diff != "" {
		t.Error(diff)
	}
}

// opencode keeps its conversations in a database and is asked for them, so a program stands in that gives the answer
// of opencode 1.18.33 and only in the worktree, for the arguments that version needs.
func TestOpencodeConversation(t *testing.T) {
	l := newLab(t)
	program := l.put("bin/opencode", `#!/bin/sh
[ "$*" = "--pure session list --format json -n 1000000" ] || { echo "bad arguments: $*" >&2; exit 1; }
[ -z "$GIT_DIR" ] || { echo "GIT_DIR is set" >&2; exit 1; }
here=$(pwd -P)
cat <<J
[
  {"id": "ses_new", "title": "x", "updated": 1795231187873, "created": 1795231184207, "projectId": "5", "directory": "$here"},
  {"id": "ses_away", "title": "x", "updated": 1795231187874, "created": 1795231184207, "projectId": "5", "directory": "/away"},
  {"id": "ses_old", "title": "x", "updated": 1795231187872, "created": 1795231184208, "projectId": "5", "directory": "$here"}
]
J
`)
	if err := os.Chmod(program, 0o700); err != nil {
		t.Fatal(err)
	}
	l.spec.Executable = "/nowhere/opencode"
	if c := conversation(t, "opencode", l.with("ses_new")); c.Found {
		t.Error("found in a HOME where opencode never ran")
	}
	l.put(".local/share/opencode/opencode.db", "")
	if _, err := get(t, "opencode").Conversation(t.Context(), l.with("ses_new")); err == nil {
		t.Error("no error though opencode did not answer")
	}
	l.spec.Executable = program
	for id, want := range map[string]cli.Conversation{
		"ses_new":  {Found: true, Resumable: true},
		"ses_away": {Found: true, Reason: "it belongs to /away"},
		"ses_no":   {Reason: "opencode has no conversation of this id"},
	} {
		if diff := cmp.Diff(want, conversation(t, "opencode", l.with(id, "GIT_DIR=/x"))); diff != "" {
			t.Error(id, diff)
		}
	}
	if diff := cmp.Diff([]string{"ses_old", "ses_new"}, learn(t, "opencode", l.spec)); diff != "" {
		t.Error(diff)
	}
	l.spec.Since = time.UnixMilli(1795231184208)
	if diff := cmp.Diff([]string{"ses_old"}, learn(t, "opencode", l.spec)); diff != "" {
		t.Error("since", l.spec.Since, diff)
	}
}
