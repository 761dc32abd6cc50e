package cli_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"paw/orchestrator/cli/clis"
	"paw/session/turn"
)

// call is one call of a hook.
type call struct {
	Name    string          `json:"name"`
	Payload json.RawMessage `json:"payload"`
}

// recorded are calls that a real CLI made.
func recorded(t *testing.T, cli string) []call {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", "hooks", cli+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var calls []call
	for line := range strings.Lines(string(content)) {
		var c call
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			t.Fatal(err)
		}
		calls = append(calls, c)
	}
	return calls
}

// brief shows the fields of an event that are set, ids cut to 4 characters.
func brief(e turn.Event) string {
	text := string(e.Kind)
	if text == "" {
		return "nothing"
	}
	add := func(name, value string) {
		if value != "" {
			text += fmt.Sprintf(" %s=%s", name, value)
		}
	}
	add("in", e.Conversation[:min(4, len(e.Conversation))])
	add("turn", e.TurnID[:min(4, len(e.TurnID))])
	add("type", string(e.Type))
	add("prompt", e.Prompt)
	add("message", e.Message)
	add("error", e.ErrorType)
	add("source", e.Source)
	if e.Limit != nil {
		text += " limited"
		if !e.Limit.Until.IsZero() {
			text += "=" + e.Limit.Until.UTC().Format(time.RFC3339)
		}
	}
	if e.Background > 0 {
		text += fmt.Sprintf(" background=%d", e.Background)
	}
	if e.Queued {
		text += " queued"
	}
	if e.Held {
		text += " held"
	}
	if e.Again {
		text += " again"
	}
	if e.Child {
		text += " child"
	}
	return text
}

func briefs(t *testing.T, cli string, calls []call) []string {
	t.Helper()
	var got []string
	for _, c := range calls {
		e, err := get(t, cli).Event(c.Name, c.Payload)
		if err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
		got = append(got, c.Name+": "+brief(e))
	}
	return got
}

func TestRecordedEvents(t *testing.T) {
	for cli, want := range map[string][]string{
		"claude": {
			"SessionStart: session_start in=5a4c source=startup",
			"UserPromptSubmit: prompt in=5a4c turn=aa9a prompt=argument prompt\nsecond line [[text:from argument]]",
			"PermissionRequest: input in=051c turn=86ef message=Write: /etc/fakellm-nope",
			"Stop: end in=5a4c turn=aa9a message=from argument held", // there is no transcript that says otherwise
			"StopFailure: error in=c456 turn=816c message=Failed to authenticate. API Error: 401 fake error 401 error=authentication_failed",
			"SessionEnd: session_end in=5a4c turn=aa9a source=other",
			"Notification: nothing", "SubagentStop: nothing", "PostToolUseFailure: nothing",
		},
		"codex": {
			"SessionStart: session_start in=01a1 source=startup",
			"UserPromptSubmit: prompt in=01a1 turn=01a1 prompt=fake: sleep 3 ;; write k.txt hi ;; sleep 8 ;; say kdone",
			"SessionEnd: session_end in=01a1 source=other",
			"Interrupt: interrupt in=01a1 turn=01a1",
			"Stop: end in=01a1 turn=01a1 message=daemon done",
			"SessionStart: session_start in=01a1 source=resume",
			"SessionStart: session_start in=01a1 source=fork",
			"SessionStart: session_start in=01a1 source=clear",
			"SessionStart: session_start in=01a1 source=compact",
			"PermissionRequest: input in=01a1 turn=01a1 message=Bash: touch /home/dev/esc3",
		},
		"qwen": {
			"Notification: nothing", // of a login
			"UserPromptSubmit: prompt in=c557 prompt=fake: write /home/dev/lab/wg1/q.txt hello ;; say qwen done",
			"UserPromptSubmit: prompt in=c557", // with a tool's result
			"Stop: end in=c557 message=qwen done",
			"SessionStart: session_start in=1111 source=startup",
			"PermissionRequest: input in=1111 message=Write: /home/dev/lab/wg2/q.txt",
			"Notification: nothing", // of the permission
			"Notification: idle in=1111",
			"StopFailure: error in=1111 message=401 fakellm scripted error 401 error=authentication_failed",
			"SessionEnd: session_end in=1111 source=prompt_input_exit",
			"UserPromptSubmit: prompt in=c557 prompt=do: write second.txt 2\ndo: say Both done.\nand that queued", // two, typed while a tool ran
		},
		"copilot": {
			"sessionStart: session_start in=d7bb source=startup",
			"userPromptSubmitted: prompt in=d7bb prompt=fake: write c.txt hello ;; say copilot done",
			"permissionRequest: nothing", // comes without a dialog, too
			"agentStop: end in=d7bb",
			"sessionEnd: session_end in=d7bb source=complete",
			"notification: input in=a657 message=Run command: touch cpfile",
			"sessionEnd: session_end in=a657 source=user_exit",
			"errorOccurred: nothing", // another try may follow
			"userPromptSubmitted: prompt in=8cfa prompt=do: say subagent here child",
			"agentStop: end in=8cfa child",
			"userPromptSubmitted: prompt in=d7bb type=task-notification prompt=<system_notification>\nShell command \"scripted\" (shellId: 0) has completed successfully.\n</system_notification>",
		},
		"pi": {
			"session_start: session_start in=5e5e source=startup",
			"prompt: prompt in=5e5e turn=50c6 prompt=do: write one.txt 1\ndo: run cat one.txt\ndo: say Done.",
			"end: end in=5e5e turn=50c6 message=Done.",
			"prompt: prompt in=5e5e turn=4721 prompt=do: ask touch y.txt",
			"input: input in=5e5e turn=4721 message=Run this command? env PAW_ASK=1 sh -c 'touch y.txt'",
			"answered: answered in=5e5e turn=4721",
			"end: end in=5e5e turn=4721 message=OK.",
			"prompt: prompt in=5e5e turn=0d59 prompt=do: hang",
			"prompt: prompt in=5e5e turn=0d59 prompt=queued by paw queued",
			"interrupt: interrupt in=5e5e turn=0d59",
			"prompt: prompt in=5e5e turn=419a prompt=do: fail 400 scripted overload",
			`error: error in=5e5e turn=419a message=400: {"code":null,"message":"scripted overload","param":null,"type":"invalid_request_error"}`,
			"prompt: prompt in=5e5e turn=efd3 prompt=do: run sleep 3\ndo: say One.",
			"prompt: prompt in=5e5e turn=efd3 prompt=do: say Joined. queued",
			"end: end in=5e5e turn=efd3 message=Joined.",
			"session_end: session_end in=5e5e source=clear", // another conversation follows
			"session_start: session_start in=01a2 source=clear",
			"prompt: prompt in=01a2 turn=79bc prompt=do: say New.",
			"end: end in=01a2 turn=79bc message=New.",
			"session_end: session_end in=01a2 source=exit",
		},
	} {
		t.Run(cli, func(t *testing.T) {
			if diff := cmp.Diff(want, briefs(t, cli, recorded(t, cli))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestClaudeEvents(t *testing.T) {
	calls := []call{
		{"UserPromptSubmit", json.RawMessage(`{"session_id":"s","prompt_id":"p","prompt":"<task-notification>\n<task-id>b1</task-id>"}`)},
		{"Stop", json.RawMessage(`{"session_id":"s","prompt_id":"p","background_tasks":[{"id":"b1","status":"running"},{"id":"b2","status":"completed"}]}`)},
		{"PermissionRequest", json.RawMessage(`{"session_id":"s","agent_id":"a1","tool_name":"Bash","tool_input":{"command":"make all\nmake test"}}`)},
		{"PermissionRequest", json.RawMessage(`{"session_id":"s","tool_name":"AskUserQuestion","tool_input":{"questions":[{"question":"Which one?"}]}}`)},
		{"PostToolUse", json.RawMessage(`{"session_id":"s","prompt_id":"p","tool_name":"AskUserQuestion","tool_response":{"answers":{}}}`)},
		// As 2.1.330 calls it, but for the ids and paths.
		{"Elicitation", json.RawMessage(`{"session_id":"s","transcript_path":"/home/dev/t.jsonl","cwd":"/home/dev/lab","prompt_id":"p","hook_event_name":"Elicitation","mcp_server_name":"asker","message":"Which branch is it for?","mode":"form","requested_schema":{"type":"object","properties":{"branch":{"type":"string","title":"Branch"}},"required":["branch"]}}`)},
		{"ElicitationResult", json.RawMessage(`{"session_id":"s","prompt_id":"p","hook_event_name":"ElicitationResult","mcp_server_name":"asker","mode":"form","action":"cancel"}`)},
		{"SessionEnd", json.RawMessage(`{"session_id":"s","reason":"clear"}`)},
		{"ForkStart", json.RawMessage(`{"session_id":"parent","source":"resume"}`)},
		{"ForkStart", json.RawMessage(`{"session_id":"s","source":"clear"}`)},
	}
	want := []string{
		"UserPromptSubmit: prompt in=s turn=p type=task-notification prompt=<task-notification>\n<task-id>b1</task-id> queued",
		"Stop: end in=s turn=p background=1",
		"PermissionRequest: input in=s message=Bash: make all …",
		"PermissionRequest: input in=s message=Which one?",
		"PostToolUse: answered in=s turn=p",
		"Elicitation: input in=s turn=p message=asker: Which branch is it for?",
		"ElicitationResult: answered in=s turn=p",
		"SessionEnd: session_end in=s source=clear",
		"ForkStart: session_start source=fork", // the id is not the copy's
		"ForkStart: session_start in=s source=clear",
	}
	if diff := cmp.Diff(want, briefs(t, "claude", calls)); diff != "" {
		t.Error(diff)
	}
}

func TestOpencodeEvents(t *testing.T) {
	calls := []call{
		{"session_start", json.RawMessage(`{"source":"startup"}`)},
		{"prompt", json.RawMessage(`{"conversation":"ses_1","turnID":"msg_1","prompt":"do it","queued":false}`)},
		{"prompt", json.RawMessage(`{"conversation":"ses_1","turnID":"msg_1","prompt":"and that","queued":true}`)},
		{"input", json.RawMessage(`{"conversation":"ses_1","turnID":"msg_1","message":"bash: touch zz\nand more"}`)},
		{"answered", json.RawMessage(`{"conversation":"ses_1","turnID":"msg_1"}`)},
		{"limit", json.RawMessage(`{"conversation":"ses_1","turnID":"msg_1","message":"Free usage exceeded","limit":{"until":"2026-11-22T14:59:26.442Z"}}`)},
		{"end", json.RawMessage(`{"conversation":"ses_1","turnID":"msg_1","message":"done"}`)},
		{"interrupt", json.RawMessage(`{"conversation":"ses_1","turnID":"msg_1","message":"the user rejected a permission"}`)},
		{"error", json.RawMessage(`{"conversation":"ses_1","turnID":"msg_1","errorType":"APIError 400","message":"fake error 400"}`)},
		{"session_end", json.RawMessage(`{"conversation":"ses_1","source":"exit"}`)},
	}
	want := []string{
		"session_start: session_start source=startup",
		"prompt: prompt in=ses_ turn=msg_ prompt=do it",
		"prompt: prompt in=ses_ turn=msg_ prompt=and that queued",
		"input: input in=ses_ turn=msg_ message=bash: touch zz …",
		"answered: answered in=ses_ turn=msg_",
		"limit: limit in=ses_ turn=msg_ message=Free usage exceeded limited=2026-11-22T14:59:26Z",
		"end: end in=ses_ turn=msg_ message=done",
		"interrupt: interrupt in=ses_ turn=msg_ message=the user rejected a permission",
		"error: error in=ses_ turn=msg_ message=fake error 400 error=APIError 400",
		"session_end: session_end in=ses_ source=exit",
	}
	if diff := cmp.Diff(want, briefs(t, "opencode", calls)); diff != "" {
		t.Error(diff)
	}
}

// copilot's hook does not have the answer, and comes before the record has it.
func TestCopilotAnswer(t *testing.T) {
	l := newLab(t)
	lines := strings.SplitAfter(`{"type":"user.message","data":{"content":"p"},"timestamp":"2026-11-21T14:59:30.335Z"}
{"type":"assistant.message","data":{"content":"of the turn before"},"timestamp":"2026-11-21T14:59:30.927Z"}
{"type":"hook.start","data":{"hookType":"agentStop"},"timestamp":"2026-11-21T14:59:30.930Z"}
{"type":"user.message","data":{"content":"q"},"timestamp":"2026-11-21T14:59:32.706Z"}
{"type":"assistant.message","data":{"content":"a"},"timestamp":"2026-11-21T14:59:32.773Z"}
{"type":"assistant.message","data":{"content":""},"timestamp":"2026-11-21T14:59:32.780Z"}
{"type":"assistant.turn_end","data":{},"timestamp":"2026-11-21T14:59:32.782Z"}
{"type":"hook.start","data":{"hookType":"agentStop"},"timestamp":"2026-11-21T14:59:32.786Z"}
{"type":"hook.start","data":{"hookType":"notification"},"timestamp":"2026-11-21T14:59:32.790Z"}
`, "\n")
	for _, c := range []struct {
		written int // lines
		want    string
	}{{len(lines), "agentStop: end in=s message=a"}, {4, "agentStop: end in=s"}} {
		path := l.put("events.jsonl", strings.Join(lines[:c.written], ""))
		payload := fmt.Sprintf(`{"sessionId":"s","transcriptPath":%q,"timestamp":1795273172786}`, path)
		if diff := cmp.Diff([]string{c.want}, briefs(t, "copilot", []call{{"agentStop", json.RawMessage(payload)}})); diff != "" {
			t.Error(diff)
		}
	}
}

// At the end of copilot's very first turn its record may not be there yet.
func TestCopilotAnswerBeforeItsRecord(t *testing.T) {
	l := newLab(t)
	content := `{"type":"user.message","data":{"content":"q"},"timestamp":"2026-11-21T14:59:32.706Z"}
{"type":"assistant.message","data":{"content":"a"},"timestamp":"2026-11-21T14:59:32.773Z"}
{"type":"hook.start","data":{"hookType":"agentStop"},"timestamp":"2026-11-21T14:59:32.786Z"}
`
	path := filepath.Join(l.home, "events.jsonl")
	written := make(chan struct{})
	go func() {
		defer close(written)
		time.Sleep(50 * time.Millisecond) // copilot is late; the test must hold whatever the order
		_ = os.WriteFile(path+".new", []byte(content), 0o600)
		_ = os.Rename(path+".new", path)
	}()
	payload := fmt.Sprintf(`{"sessionId":"s","transcriptPath":%q,"timestamp":1795273172786}`, path)
	got := briefs(t, "copilot", []call{{"agentStop", json.RawMessage(payload)}})
	<-written
	if diff := cmp.Diff([]string{"agentStop: end in=s message=a"}, got); diff != "" {
		t.Error(diff)
	}
}

// A hook of another version or another program must not be taken for an event.
func TestEventsThatAreNone(t *testing.T) {
	for _, cli := range reporting {
		if e, err := get(t, cli).Event("NoSuchEvent", []byte(`{"session_id":"s"}`)); err != nil || e.Kind != "" {
			t.Errorf("%s: %v, %v", cli, e, err)
		}
		if _, err := get(t, cli).Event("Stop", []byte(`{"session_id":`)); err == nil || !strings.HasPrefix(err.Error(), cli+": ") {
			t.Errorf("%s: half a payload gives %v", cli, err)
		}
	}
	if e, err := get(t, "aider").Event("Stop", []byte(`{}`)); err != nil || e.Kind != "" {
		t.Errorf("aider: %v, %v", e, err)
	}
}

// Whether another hook may send claude on after its answer is what claude wrote down at its last end.
func TestClaudeEndsThatMayBeNone(t *testing.T) {
	l := newLab(t)
	summary := func(hooks int) string {
		return fmt.Sprintf(`{"type":"user","promptId":"p"}`+"\n"+`{"type":"system","subtype":"stop_hook_summary","hookCount":%d}`+"\n"+`{"type":"user","promptId":"p"}`+"\n", hooks)
	}
	for _, c := range []struct{ name, lines, active, want string }{
		{"no end before", `{"type":"user","promptId":"p"}` + "\n", "false", "Stop: end in=s turn=p held"},
		{"paw's hook alone", summary(1), "false", "Stop: end in=s turn=p"},
		{"two hooks", summary(2), "false", "Stop: end in=s turn=p held"},
		{"sent on", summary(1), "true", "Stop: end in=s turn=p held again"},
	} {
		payload := fmt.Sprintf(`{"session_id":"s","prompt_id":"p","stop_hook_active":%s,"transcript_path":%q}`, c.active, l.put("t.jsonl", c.lines))
		got := briefs(t, "claude", []call{{"Stop", json.RawMessage(payload)}})
		want := []string{c.want}
		got[0] = strings.Replace(got[0], " transcript="+filepath.Join(l.home, "t.jsonl"), "", 1)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

// TestSilentErrors: an error is awaited from the hooks of a CLI only where one reports it.
func TestSilentErrors(t *testing.T) {
	var silent []string
	set := clis.New(nil)
	for _, name := range set.Names() {
		if c, _ := set.Get(name); c.Facts().SilentErrors {
			silent = append(silent, name)
		}
	}
	if diff := cmp.Diff([]string{"codex", "copilot"}, silent); diff != "" {
		t.Error(diff)
	}
}
