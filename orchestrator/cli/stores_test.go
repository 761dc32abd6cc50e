package cli_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"paw/orchestrator/cli"
)

const geminiID = "3f371181-83da-43cc-ba07-23cae623deae"

func TestGeminiConversation(t *testing.T) {
	l := newLab(t)
	project := filepath.Join(".gemini", "tmp", "a")
	l.put(filepath.Join(project, ".project_root"), l.worktree)
	if c := conversation(t, "gemini", l.with(geminiID)); c.Found {
		t.Error("found without a file")
	}
	stub := l.put(filepath.Join(project, "chats", "session-2026-11-21T01-20-3f371181.jsonl"), l.sample("gemini-context.jsonl"))
	want := cli.Conversation{Found: true, NewID: true, Transcript: stub, Reason: "the conversation has no message yet"}
	if diff := cmp.Diff(want, conversation(t, "gemini", l.with(geminiID))); diff != "" {
		t.Error(diff)
	}
	used := l.put(filepath.Join(project, "chats", "session-2026-11-21T01-06-3f371181.jsonl"), l.sample("gemini-chat.jsonl"))
	want = cli.Conversation{Found: true, Resumable: true, Transcript: used}
	if diff := cmp.Diff(want, conversation(t, "gemini", l.with(geminiID))); diff != "" {
		t.Error(diff)
	}
	if c := conversation(t, "gemini", l.with("3f371181-0000-43cc-ba07-23cae623deae")); c.Found {
		t.Error("found by the first 8 characters alone")
	}
	l.put(filepath.Join(project, ".project_root"), "/elsewhere\n")
	want = cli.Conversation{Found: true, NewID: true, Transcript: used, Reason: "it belongs to /elsewhere"}
	if diff := cmp.Diff(want, conversation(t, "gemini", l.with(geminiID))); diff != "" {
		t.Error(diff)
	}
}

// gemini opens a chat again only where it would go on with a message of it: an Esc in the first turn takes all back.
func TestGeminiOpensWhatIsLeftOfAChat(t *testing.T) {
	const (
		head    = `{"sessionId":"` + geminiID + `","projectHash":"e3","kind":"main"}` + "\n"
		context = `{"$set":{"messages":[{"id":"c","type":"user","content":[{"text":"<session_context>\nThis is"}]}]}}` + "\n"
		prompt  = `{"id":"p","type":"user","content":[{"text":"do it"}]}` + "\n"
		again   = `{"$set":{"messages":[{"id":"c","type":"user","content":[{"text":"<session_context>"}]},{"id":"p","type":"user","content":[{"text":"do it"}]}]}}` + "\n"
		info    = `{"id":"i","type":"info","content":"Request cancelled."}` + "\n"
		touched = `{"$set":{"lastUpdated":"2026-11-23T05:25:19.514Z"}}` + "\n"
		answer  = `{"id":"a","type":"gemini","content":"","toolCalls":[{"id":"t"}]}` + "\n"
		command = `{"id":"s","type":"user","content":[{"text":" /stats"}]}` + "\n"
		result  = `{"id":"r","type":"user","content":[{"functionResponse":{"id":"t"}}]}` + "\n"
	)
	never, taken := "the conversation has no message yet", "gemini has taken all that was said back out of the conversation, as it does at an Esc in the first turn"
	for _, c := range []struct{ name, chat, reason string }{
		{"a prompt", head + context + prompt + touched, ""},
		{"Esc in the first turn", head + context + prompt + touched + info + touched + context, taken},
		{"Esc in a later turn", head + context + prompt + answer + info + again, ""},
		{"a prompt after such an Esc", head + context + prompt + info + context + prompt, ""},
		{"a command alone", head + context + command, never},
		{"a tool of the model", head + context + answer, ""},
		{"the result of a tool of an earlier run", head + context + result, never},
		{"taken back to the prompt", head + context + prompt + answer + `{"$rewindTo":"p"}` + "\n", taken},
		{"taken back to the answer", head + context + prompt + answer + `{"$rewindTo":"a"}` + "\n", ""},
		{"taken back to nothing that is there", head + again + `{"$rewindTo":"x"}` + "\n", taken},
		{"the notice of an Esc alone", head + context + info, never},
	} {
		l := newLab(t)
		l.put(".gemini/tmp/a/chats/session-2026-11-21T01-06-3f371181.jsonl", c.chat)
		got := conversation(t, "gemini", l.with(geminiID))
		if !got.Found || got.Resumable != (c.reason == "") || got.NewID != (c.reason != "") || got.Reason != c.reason {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}

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

func TestAiderConversation(t *testing.T) {
	l := newLab(t)
	if ids := learn(t, "aider", l.spec); ids != nil {
		t.Error("learned without a history:", ids)
	}
	path := filepath.Join(l.worktree, ".aider.chat.history.md")
	for content, used := range map[string]bool{"\n# aider chat started at x\n\n": false, "\n# aider chat\n\n#### fix it  \n": true} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		c := conversation(t, "aider", l.with("history"))
		if !c.Found || c.Resumable != used || c.Transcript != path {
			t.Errorf("%q: %+v", content, c)
		}
	}
	other := l.put("history.md", "#### x\n")
	if c := conversation(t, "aider", l.with("history", "AIDER_CHAT_HISTORY_FILE="+other)); c.Transcript != other {
		t.Error("not where AIDER_CHAT_HISTORY_FILE says:", c.Transcript)
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
