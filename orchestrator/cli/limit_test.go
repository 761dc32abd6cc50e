package cli_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"paw/session/turn"
)

// onTheDay is a turn in progress on the day on which the limits were recorded.
func onTheDay(t *testing.T, conversation, id, started string) *turn.Record {
	t.Helper()
	when, err := time.Parse(time.RFC3339Nano, "2026-11-22T"+started+"Z")
	if err != nil {
		t.Fatal(err)
	}
	return &turn.Record{State: turn.InProgress, Conversation: conversation, TurnID: id, StartedAt: when}
}

// TestClaudeLimit reads what claude writes when a subscription is used up, and when a key is used too fast: both are errors
// with the same status, and only the first is a limit. The hook and whoever reads the transcript later see the same.
func TestClaudeLimit(t *testing.T) {
	const (
		used = "bab84a72-9e70-481d-878c-4ecf5a5d24f7"
		fast = "ce0ddd40-0fe4-4bfd-8536-9b1a6ec253d2"
		hit  = "You've hit your 5-hour limit · resets 1:04pm (UTC)"
		slow = "API Error: Request rejected (429) · This request would exceed your account's rate limit. Please try again later."
	)
	l := newLab(t)
	lines := strings.SplitAfter(l.sample("claude-limit.jsonl"), "\n")
	path := l.put(l.claudeFile(l.worktree, claudeEnds), "")
	for _, c := range []struct {
		name, id, started, message string
		lines                      []string
		want                       string
	}{
		{"a subscription that is used up", used, "13:03:24", hit, lines[:3], "error in=051c turn=bab8 message=" + hit + " error=rate_limit limited=2026-11-22T13:04:40Z"},
		{"a key that is used too fast", fast, "12:52:11", slow, lines[3:], "error in=051c turn=ce0d message=" + slow + " error=rate_limit"},
		{"an older version, which does not say", used, "13:03:24", hit, []string{lines[0], strings.Replace(lines[1], `"apiError":"usage_limit_reached"`, `"x":1`, 1)}, "error in=051c turn=bab8 message=" + hit + " error=rate_limit"},
		{"no time", used, "13:03:24", hit, []string{lines[0], strings.ReplaceAll(lines[1], "resetsAt", "x")}, "error in=051c turn=bab8 message=" + hit + " error=rate_limit limited"},
		{"a time of another status", used, "13:03:24", hit, []string{lines[0], strings.ReplaceAll(lines[1], `"status":"rejected"`, `"status":"allowed"`)}, "error in=051c turn=bab8 message=" + hit + " error=rate_limit limited"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := os.WriteFile(path, []byte(strings.Join(c.lines, "")), 0o600); err != nil {
				t.Fatal(err)
			}
			o, err := get(t, "claude").Observe(t.Context(), l.with(claudeEnds), onTheDay(t, claudeEnds, c.id, c.started))
			if err != nil || o.Ended == nil {
				t.Fatalf("%+v, %v", o, err)
			}
			if got := brief(*o.Ended); got != c.want {
				t.Errorf("the transcript: %s, not %s", got, c.want)
			}
			payload, err := json.Marshal(map[string]string{
				"session_id": claudeEnds, "prompt_id": c.id, "transcript_path": path, "error": "rate_limit", "last_assistant_message": c.message,
			})
			if err != nil {
				t.Fatal(err)
			}
			if got := briefs(t, "claude", []call{{"StopFailure", payload}}); got[0] != "StopFailure: "+c.want {
				t.Errorf("the hook: %s, not %s", got[0], c.want)
			}
		})
	}
}

// A limit that is written down seconds after the hook was called is seen, and one of an earlier turn is not this one's.
func TestClaudeLimitThatIsWrittenLater(t *testing.T) { synctest.Test(t, testLateLimit) }

func testLateLimit(t *testing.T) {
	const message = "You've hit your 5-hour limit · resets 1:04pm (UTC)"
	l := newLab(t)
	lines := strings.SplitAfter(l.sample("claude-limit.jsonl"), "\n")
	path := l.put(l.claudeFile(l.worktree, claudeEnds), lines[0])
	payload, err := json.Marshal(map[string]string{
		"session_id": claudeEnds, "prompt_id": "bab84a72-9e70-481d-878c-4ecf5a5d24f7", "transcript_path": path, "error": "rate_limit", "last_assistant_message": message,
	})
	if err != nil {
		t.Fatal(err)
	}
	written := make(chan error)
	go func() {
		time.Sleep(5 * time.Second) // of the bubble's clock
		f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		if err == nil {
			_, err = f.WriteString(lines[1])
		}
		written <- err
	}()
	got := briefs(t, "claude", []call{{"StopFailure", payload}})
	if err := <-written; err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(got[0], "limited=2026-11-22T13:04:40Z") {
		t.Error(got[0])
	}
	older := strings.Join([]string{lines[0], lines[1], strings.Replace(lines[3], "ce0ddd40", "ce0ddd41", 1)}, "")
	if err := os.WriteFile(path, []byte(older), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := briefs(t, "claude", []call{{"StopFailure", payload}}); strings.Contains(got[0], "limited") {
		t.Errorf("that of the turn before: %s", got[0])
	}
}

// TestCodexLimit reads until when the windows are used up that a turn of codex ended by.
func TestCodexLimit(t *testing.T) {
	const (
		conversation = "01a20350-5452-7f52-a7db-f126225499a5"
		id           = "01a20350-6b18-7a83-958a-1b756c426481"
		said         = "error in=01a2 turn=01a2 message=You’ve hit your usage limit. Upgrade to Pro (https://chatgpt.com/explore/pro), visit https://chatgpt.com/settings/usage to purchase more credits or try again at 2:52 PM. error=usage_limit_exceeded"
	)
	l := newLab(t)
	sample := l.sample("codex-limit.jsonl")
	for _, c := range []struct {
		name   string
		change func(string) string
		want   string
	}{
		{"the first window", func(s string) string { return s }, said + " limited=2026-11-22T14:52:11Z"},
		{"both, of which the second is longer", func(s string) string { return strings.Replace(s, `"used_percent":80.0`, `"used_percent":100.0`, 1) }, said + " limited=2026-11-26T02:52:11Z"},
		{"none is used up", func(s string) string { return strings.Replace(s, `"used_percent":100.0`, `"used_percent":99.0`, 1) }, said + " limited"},
		{"no windows", func(s string) string { return strings.ReplaceAll(s, "rate_limits", "x") }, said + " limited"},
		{"no count at all", func(s string) string { return strings.ReplaceAll(s, "token_count", "x") }, said + " limited"},
		{"another error", func(s string) string { return strings.Replace(s, `"usage_limit_exceeded"`, `"server_overloaded"`, 1) }, strings.Replace(said, "usage_limit_exceeded", "server_overloaded", 1)},
	} {
		t.Run(c.name, func(t *testing.T) {
			l.put(".codex/sessions/2026/11/22/rollout-2026-11-22T12-52-04-"+conversation+".jsonl", c.change(sample))
			o, err := get(t, "codex").Observe(t.Context(), l.with(conversation), onTheDay(t, conversation, id, "12:52:11.680"))
			if err != nil || o.Ended == nil {
				t.Fatalf("%+v, %v", o, err)
			}
			if got := brief(*o.Ended); got != c.want || o.Busy {
				t.Errorf("%s, busy %v, not %s", got, o.Busy, c.want)
			}
		})
	}
}
