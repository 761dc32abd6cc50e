package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"paw/orchestrator/cli"
	"paw/session/turn"
)

// at is a time of the day on which the samples were recorded.
func at(t *testing.T, clock string) time.Time {
	t.Helper()
	when, err := time.Parse(time.RFC3339Nano, "2026-11-21T"+clock+"Z")
	if err != nil {
		t.Fatal(err)
	}
	return when
}

// open is a turn in progress.
func open(t *testing.T, conversation, id, started string) *turn.Record {
	t.Helper()
	return &turn.Record{State: turn.InProgress, Conversation: conversation, TurnID: id, StartedAt: at(t, started)}
}

// waiting is a turn in progress that asked for a permission.
func waiting(t *testing.T, conversation, id, started, asked string) *turn.Record {
	t.Helper()
	last, since := open(t, conversation, id, started), at(t, asked)
	last.Waiting, last.WaitingSince, last.Question = true, &since, "may I?"
	return last
}

// observed is what a CLI's record tells, in short.
func observed(t *testing.T, cliName string, s cli.Spec, last *turn.Record) string {
	t.Helper()
	o, err := get(t, cliName).Observe(t.Context(), s, last)
	if err != nil {
		t.Fatal(err)
	}
	if !o.Known {
		if !reflect.DeepEqual(o, cli.Observed{}) {
			t.Errorf("not known, but %+v", o)
		}
		return "unknown"
	}
	text := fmt.Sprintf("%s %s", o.At.UTC().Format("15:04:05.000"), o.Source)
	switch {
	case o.Ended != nil:
		if o.Busy || o.Waiting {
			t.Errorf("ended, but %+v", o)
		}
		return text + " " + brief(*o.Ended)
	case o.Waiting:
		return text + " waiting " + o.Question
	case o.Busy:
		return text + " busy"
	}
	return text + " idle"
}

const claudeEnds = "051cb337-3bbd-4023-a2c8-51d21e2faa33"

func TestClaudeEnds(t *testing.T) {
	l := newLab(t)
	path := l.put(l.claudeFile(l.worktree, claudeEnds), l.sample("claude-ends.jsonl"))
	lines := strings.SplitAfter(l.sample("claude-ends.jsonl"), "\n")
	for _, c := range []struct {
		name        string
		until       int // lines that are written
		id, started string
		want        string
	}{
		{"esc while it streams", 3, "d8211c90-f7db-47ce-aa7c-ef3022ac8301", "00:53:18.150", "00:53:21.182 transcript interrupt in=051c turn=d821"},
		{"half an answer", 2, "d8211c90-f7db-47ce-aa7c-ef3022ac8301", "00:53:18.150", "unknown"},
		{"esc in a tool", 7, "72ab36e8-21da-4e43-9c66-f5d9487cc228", "00:53:53.550", "00:53:56.651 transcript interrupt in=051c turn=72ab"},
		{"tool at work", 5, "72ab36e8-21da-4e43-9c66-f5d9487cc228", "00:53:53.550", "unknown"},
		{"permission denied", 11, "86efbbb6-69ee-485f-9924-2d5bf2bb1be2", "00:53:58.950", "00:54:01.214 transcript interrupt in=051c turn=86ef"},
		{
			"error", 14, "23fee3e5-94f0-4456-9f0d-82bfbc0d2167", "00:54:03.700",
			"00:54:03.899 transcript error in=051c turn=23fe message=API Error: 400 fake error 400 error=unknown",
		},
		{"answer", 18, "793c7d42-c39d-469d-a3bc-40c86f11b353", "00:57:15.700", "00:57:15.764 transcript end in=051c turn=793c message=ok multi"},
		{"the next prompt", 18, "no-such-id", "00:58:00", "unknown"},
		{"only an older end", 14, "d3b4203e-104b-457b-96ba-9f6cd2f6d1fd", "00:54:05", "unknown"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := os.WriteFile(path, []byte(strings.Join(lines[:c.until], "")), 0o600); err != nil {
				t.Fatal(err)
			}
			if got := observed(t, "claude", l.with("other"), open(t, claudeEnds, c.id, c.started)); got != c.want {
				t.Error(got)
			}
		})
	}
}

// The lines of what claude adds to a prompt come behind it, and before the hook that reports it.
func TestClaudeEndBehindAttachments(t *testing.T) {
	l := newLab(t)
	const line = `{"type":%q,"timestamp":"2026-11-21T04:%sZ","promptId":%q,"promptSource":%q,"message":{"content":%q}}` + "\n"
	text := ""
	for _, one := range [][5]string{
		{"user", "20:50.000", "before", "typed", "an older prompt"},
		{"user", "20:58.650", "p1", "typed", "do: ask touch g.txt"},
		{"attachment", "20:58.648", "", "", ""},
		{"attachment", "20:58.700", "", "", ""},
		{"assistant", "20:59.006", "", "", ""},
		{"user", "21:04.205", "p1", "", "[Request interrupted by user for tool use]"},
	} {
		text += fmt.Sprintf(line, one[0], one[1], one[2], one[3], one[4])
	}
	l.put(l.claudeFile(l.worktree, claudeEnds), text)
	if got, want := observed(t, "claude", l.with("other"), open(t, claudeEnds, "p1", "04:20:58.717")), "04:21:04.205 transcript interrupt in=051c turn=p1"; got != want {
		t.Errorf("%s, not %s", got, want)
	}
}

// A prompt that is typed while claude runs the hooks at the end of a turn is reported with the id of that turn, and begins with
// another one.
func TestClaudePromptQueuedAtTheEndOfATurn(t *testing.T) {
	l := newLab(t)
	const line = `{"type":%q,"subtype":%q,"timestamp":"2026-11-21T04:%sZ","promptId":%q,"promptSource":%q,"message":{"content":[{"type":"text","text":%q}]}}` + "\n"
	text := ""
	for _, one := range [][6]string{
		{"user", "", "20:50.000", "p1", "typed", "do: say one"},
		{"assistant", "", "20:51.000", "", "", "one"},
		{"system", "turn_duration", "20:53.000", "p1", "", ""},
		{"user", "", "20:53.100", "p2", "queued", "do: say zoom"},
		{"assistant", "", "20:54.000", "", "", "zoom"},
		{"system", "turn_duration", "20:55.000", "p2", "", ""},
	} {
		text += fmt.Sprintf(line, one[0], one[1], one[2], one[3], one[4], one[5])
	}
	l.put(l.claudeFile(l.worktree, claudeEnds), text)
	last := open(t, claudeEnds, "", "04:20:52.000")
	last.Prompt = "do: say zoom"
	if got, want := observed(t, "claude", l.with("other"), last), "04:20:55.000 transcript end in=051c turn=p2 message=zoom"; got != want {
		t.Errorf("%s, not %s", got, want)
	}
}

// A question that an Esc has closed is not the one that claude waits with afterwards.
func TestClaudeMenuAfterAnEsc(t *testing.T) {
	l := newLab(t)
	l.registry("waiting", at(t, "01:00:10"))
	asked := waiting(t, claudeEnds, "p", "01:00:00", "01:00:05")
	lines := `{"type":"user","timestamp":"` + stamp(t, "01:00:00.100") + `","promptId":"p","promptSource":"typed","message":{"content":"do: ask"}}
{"type":"assistant","timestamp":"` + stamp(t, "01:00:04.000") + `","message":{"content":[{"type":"text","text":"I ask."}]}}
`
	l.put(l.claudeFile(l.worktree, claudeEnds), lines)
	if got, want := observed(t, "claude", l.with(claudeEnds), asked), "01:00:10.000 record waiting may I?"; got != want {
		t.Errorf("asks: %s, not %s", got, want)
	}
	l.put(l.claudeFile(l.worktree, claudeEnds), lines+`{"type":"user","timestamp":"`+stamp(t, "01:00:07.000")+`","promptId":"p","message":{"content":[{"type":"text","text":"[Request interrupted by user for tool use]"}]}}`+"\n")
	if got, want := observed(t, "claude", l.with(claudeEnds), asked), "01:00:07.000 transcript interrupt in=051c turn=p"; got != want {
		t.Errorf("after an Esc: %s, not %s", got, want)
	}
}

// stamp returns a time of day of these tests as a transcript has it.
func stamp(t *testing.T, clock string) string {
	return at(t, clock).UTC().Format("2006-01-02T15:04:05.000Z")
}

// registry puts an entry of this test's own process into claude's registry.
func (l lab) registry(status string, at time.Time) string {
	return l.put(filepath.Join(".claude", "sessions", "1.json"), fmt.Sprintf(
		`{"pid":%d,"sessionId":%q,"status":%q,"waitingFor":"permission prompt","statusUpdatedAt":%d}`,
		os.Getpid(), claudeEnds, status, at.UnixMilli()))
}

func TestClaudeRegistry(t *testing.T) {
	l := newLab(t)
	started, later := "01:00:00", at(t, "01:00:10")
	asked := waiting(t, claudeEnds, "p", started, "01:00:05")
	held := func(at time.Time) *turn.Record {
		r := open(t, claudeEnds, "p", started)
		r.Held = &turn.Held{Message: "done", At: at}
		return r
	}
	for _, c := range []struct {
		name, status string
		at           time.Time
		last         *turn.Record
		want         string
	}{
		{"at work", "busy", later, open(t, claudeEnds, "p", started), "01:00:10.000 record busy"},
		{"at work without a turn", "busy", later, nil, "01:00:10.000 record busy"},
		{"granted", "busy", later, asked, "01:00:10.000 record busy"},
		{"permission", "waiting", later, asked, "01:00:10.000 record waiting may I?"},
		{"dialog", "waiting", later, nil, "01:00:10.000 record waiting asks for permission"},
		{"idle", "idle", later, nil, "01:00:10.000 record idle"},
		{"shell in the background", "shell", later, nil, "01:00:10.000 record idle"},
		{"esc before a word", "idle", later, open(t, claudeEnds, "p", started), "01:00:10.000 record interrupt in=051c turn=p message=claude is idle without an answer"},
		{"held, and idle since", "idle", later, held(later.Add(-time.Second)), "01:00:10.000 record end in=051c turn=p message=done"},
		{"held, and idle in the same millisecond", "idle", later, held(later.Add(time.Millisecond - 1)), "01:00:10.000 record end in=051c turn=p message=done"},
		{"idle before it was held", "idle", later, held(later.Add(time.Millisecond)), "01:00:10.000 record interrupt in=051c turn=p message=claude is idle without an answer"},
		{"began in the same millisecond", "idle", later, open(t, claudeEnds, "p", "01:00:10.0004"), "01:00:10.000 record interrupt in=051c turn=p message=claude is idle without an answer"},
		{"not yet busy", "idle", at(t, "00:59:00"), open(t, claudeEnds, "p", started), "unknown"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l.registry(c.status, c.at)
			if got := observed(t, "claude", l.with(claudeEnds), c.last); got != c.want {
				t.Error(got)
			}
		})
	}
	l.registry("idle", time.Now())
	if got := observed(t, "claude", l.with(claudeEnds), open(t, claudeEnds, "p", started)); got != "unknown" {
		t.Error("idle for a moment:", got)
	}
}

// A claude that was killed leaves its entry, and another process may get its number.
func TestClaudeRegistryOfTheDead(t *testing.T) {
	l := newLab(t)
	path := l.registry("busy", at(t, "01:00:10"))
	for name, pair := range map[string][2]string{
		"gone":           {fmt.Sprintf(`"pid":%d`, os.Getpid()), `"pid":2147483646`},
		"another number": {`"pid"`, `"procStart":"1","pid"`},
		"torn":           {`"status`, `"status"`},
	} {
		l.registry("busy", at(t, "01:00:10"))
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(strings.Replace(string(content), pair[0], pair[1], 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := observed(t, "claude", l.with(claudeEnds), nil); got != "unknown" {
			t.Errorf("%s: %s", name, got)
		}
	}
}

const codexEnds = "01a1fb99-2663-7c13-80b5-311c45f2f134"

func TestCodexEnds(t *testing.T) {
	l := newLab(t)
	sample := l.sample("codex-ends.jsonl")
	path := l.put(".codex/sessions/2026/11/21/rollout-2026-11-21T00-54-40-"+codexEnds+".jsonl", sample)
	lines := strings.SplitAfter(sample, "\n")
	const (
		first, escalated, aborted = "01a1fb99-2f7b-7b61-8192-d1f7bb3e6bcb", "01a1fb99-c9ba-7c91-8a15-3dcf6a0c4e0e", "01a1fb99-def2-7f43-846b-e80ba8d95ab0"
		failing                   = "01a1fb9a-3f6d-74f3-b903-7f33dc8a958d"
	)
	for _, c := range []struct {
		name  string
		until int
		last  *turn.Record
		want  string
	}{
		{"answer", 8, open(t, codexEnds, first, "00:54:42.860"), "00:54:43.245 transcript end in=01a1 turn=01a1 message=Done: hello two"},
		{"at work", 7, open(t, codexEnds, first, "00:54:42.860"), "00:54:42.850 transcript busy"},
		{"no turn", 8, nil, "00:54:43.245 transcript idle"},
		{"a turn of nobody's", 9, nil, "00:55:22.307 transcript busy"},
		{"the next turn", 9, open(t, codexEnds, first, "00:54:42.860"), "00:54:43.245 transcript end in=01a1 turn=01a1 message=Done: hello two"},
		{"permission", 10, waiting(t, codexEnds, escalated, "00:55:22.320", "00:55:22.400"), "00:55:22.400 transcript waiting may I?"},
		{"granted", 11, waiting(t, codexEnds, escalated, "00:55:22.320", "00:55:22.400"), "00:55:22.307 transcript busy"},
		{"esc", 16, open(t, codexEnds, aborted, "00:55:27.750"), "00:55:30.031 transcript interrupt in=01a1 turn=01a1"},
		{
			"error", 19, open(t, codexEnds, failing, "00:55:52.450"),
			"00:55:52.783 transcript error in=01a1 turn=01a1 message=" + status401 + " error=http_connection_failed",
		},
		{"cut off by a crash", 14, open(t, codexEnds, escalated, "00:55:22.320"), "00:55:25.626 transcript end in=01a1 turn=01a1 message=escalated done"},
		{"unknown id", 8, open(t, codexEnds, "", "00:54:42.860"), "00:54:43.245 transcript end in=01a1 turn=01a1 message=Done: hello two"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := os.WriteFile(path, []byte(strings.Join(lines[:c.until], "")), 0o600); err != nil {
				t.Fatal(err)
			}
			if got := observed(t, "codex", l.with(codexEnds), c.last); got != c.want {
				t.Error(got)
			}
		})
	}
	// A turn that has no end while the next one runs died with its process.
	if err := os.WriteFile(path, []byte(strings.Join(append(lines[:7:7], lines[8:10]...), "")), 0o600); err != nil {
		t.Fatal(err)
	}
	want := "00:55:22.307 transcript interrupt in=01a1 turn=01a1 message=another turn began"
	if got := observed(t, "codex", l.with(codexEnds), open(t, codexEnds, first, "00:54:42.860")); got != want {
		t.Error(got)
	}
	if got := observed(t, "codex", l.with("01a1fb99-0000-0000-0000-000000000000"), nil); got != "unknown" {
		t.Error("a conversation without a file:", got)
	}
}

// TestCodexTwoConversations: what two conversations do that work for one turn.
func TestCodexTwoConversations(t *testing.T) {
	l := newLab(t)
	const (
		a, b   = codexEnds, "01a1fb99-0000-7c13-80b5-311c45f2f134"
		ta, tb = "01a1fb99-2f7b-7b61-8192-d1f7bb3e6bcb", "01a1fb99-0000-7b61-8192-d1f7bb3e6bcb"
	)
	lines := strings.SplitAfter(l.sample("codex-ends.jsonl"), "\n")
	put := func(id, turnID string, until int, more ...string) {
		text := strings.ReplaceAll(strings.Join(append(lines[:until:until], more...), ""), a, id)
		l.put(".codex/sessions/2026/11/21/rollout-2026-11-21T00-54-40-"+id+".jsonl", strings.ReplaceAll(text, ta, turnID))
	}
	later := strings.Replace(lines[7], "00:54:43.245", "00:54:44.000", 1)
	failed := strings.Replace(later, `"type": "task_complete"`, `"type": "task_complete", "error":{"message":"no more"}`, 1)
	asks := func(by string) func(*turn.Record) {
		return func(last *turn.Record) {
			since := at(t, "00:54:43.100")
			last.Asked = []turn.Asked{{Conversation: by, Question: "may I, " + by[:9] + "?", Since: since}}
			last.Waiting, last.WaitingSince, last.Question = true, &since, last.Asked[0].Question
		}
	}
	for _, c := range []struct {
		name    string
		a, b    func()
		asks    func(*turn.Record)
		want    string
		working []string
	}{
		{"both work", func() { put(a, ta, 7) }, func() { put(b, tb, 7) }, nil, "00:54:42.850 transcript busy", []string{a, b}},
		{"the first has ended", func() { put(a, ta, 8) }, func() { put(b, tb, 7) }, nil, "00:54:42.850 transcript busy", []string{b}},
		{"the second has ended", func() { put(a, ta, 7) }, func() { put(b, tb, 8) }, nil, "00:54:42.850 transcript busy", []string{a}},
		{"both, the first last", func() { put(a, ta, 7, later) }, func() { put(b, tb, 8) }, nil, "00:54:44.000 transcript end in=01a1 turn=01a1 message=Done: hello two", nil},
		{"both, the second failed last", func() { put(a, ta, 8) }, func() { put(b, tb, 7, failed) }, nil, "00:54:44.000 transcript error in=01a1 turn=01a1 message=no more", nil},
		{"the first asks", func() { put(a, ta, 7) }, func() { put(b, tb, 7) }, asks(a), "00:54:43.100 transcript waiting may I, 01a1fb99-?", []string{a, b}},
		{"the second asks", func() { put(a, ta, 8) }, func() { put(b, tb, 7) }, asks(b), "00:54:43.100 transcript waiting may I, 01a1fb99-?", []string{b}},
		{"nothing of the second yet", func() { put(a, ta, 7) }, func() {}, nil, "00:54:42.850 transcript busy", []string{a}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_ = os.RemoveAll(filepath.Join(l.home, ".codex"))
			c.a()
			c.b()
			last := open(t, a, tb, "00:54:42.840")
			last.OlderIDs, last.Others = []string{ta}, []string{b}
			if c.asks != nil {
				c.asks(last)
			}
			if got := observed(t, "codex", l.with(b), last); got != c.want {
				t.Error(got)
			}
			o, err := get(t, "codex").Observe(t.Context(), l.with(b), last)
			if diff := cmp.Diff(c.working, o.Working); diff != "" || err != nil {
				t.Error(diff, err)
			}
		})
	}
}

// A long turn is not read from its begin.
func TestCodexLongTurn(t *testing.T) {
	l := newLab(t)
	lines := strings.SplitAfter(l.sample("codex-ends.jsonl"), "\n")
	chatter := strings.Repeat(`{"timestamp":"2026-11-21T00:54:43.000Z","type":"response_item","payload":{"text":"`+strings.Repeat("x", 60_000)+`"}}`+"\n", 40)
	l.put(".codex/sessions/2026/11/21/rollout-2026-11-21T00-54-40-"+codexEnds+".jsonl",
		strings.Join(lines[:2], "")+chatter+strings.Join(lines[6:8], "")+`{"torn`)
	want := "00:54:43.245 transcript end in=01a1 turn=01a1 message=Done: hello two"
	if got := observed(t, "codex", l.with(codexEnds), open(t, codexEnds, "01a1fb99-2f7b-7b61-8192-d1f7bb3e6bcb", "00:54:42.860")); got != want {
		t.Error(got)
	}
}

func TestOtherEnds(t *testing.T) {
	l := newLab(t)
	const qwen, copilot = "11111111-2222-4333-8444-555555555555", "f8582031-12a9-43e4-8640-9df83bc622ea"
	l.put(".qwen/projects/"+dash(l.worktree)+"/chats/"+qwen+".jsonl", strings.Join(strings.SplitAfter(l.sample("qwen-ends.jsonl"), "\n")[:9], ""))
	l.put(".copilot/session-state/"+copilot+"/events.jsonl", l.sample("copilot-ends.jsonl"))
	for _, c := range []struct {
		cli, id string
		last    *turn.Record
		want    string
	}{
		{"qwen", qwen, open(t, qwen, "", "01:10:34.770"), "01:10:36.740 transcript interrupt in=1111"},
		{"qwen", qwen, open(t, qwen, "", "01:10:40"), "unknown"},
		{"copilot", copilot, open(t, copilot, "", "01:15:25"), "01:15:28.072 transcript interrupt in=f858"},
		{"copilot", copilot, open(t, copilot, "", "01:15:29"), "unknown"},
		{"opencode", "ses_1", open(t, "ses_1", "m", "01:15:29"), "unknown"},
	} {
		if got := observed(t, c.cli, l.with(c.id), c.last); got != c.want {
			t.Errorf("%s: %s", c.cli, got)
		}
	}
	lines := strings.SplitAfter(l.sample("copilot-ends.jsonl"), "\n")
	l.put(".copilot/session-state/"+copilot+"/events.jsonl", strings.Join(lines[:2], ""))
	want := "01:15:22.973 transcript error in=f858 message=Authentication failed with provider at http://127.0.0.1:8765/v1 (HTTP 401).\n" +
		"  Check your COPILOT_PROVIDER_API_KEY, COPILOT_PROVIDER_API_KEY_COMMAND, or COPILOT_PROVIDER_BEARER_TOKEN. error=authentication"
	if got := observed(t, "copilot", l.with(copilot), open(t, copilot, "", "01:15:20")); got != want {
		t.Error(cmp.Diff(want, got))
	}
	const taken = `{"type":"session.usage_checkpoint","data":{"promptCacheBreakState":[{"pendingRewriteSources":["rewind"]}]},"timestamp":"2026-11-21T01:15:26.000Z"}` + "\n"
	for after, want := range map[string]string{taken: "01:15:26.000 transcript interrupt in=f858", taken + lines[0]: "busy"} { // the prompt is off the record, or another one is there
		l.put(".copilot/session-state/"+copilot+"/events.jsonl", after)
		if got := observed(t, "copilot", l.with(copilot), open(t, copilot, "", "01:15:10")); !strings.Contains(got, want) {
			t.Errorf("after a rewind: %s, want %s", got, want)
		}
	}
	l.put(".copilot/session-state/"+copilot+"/events.jsonl", strings.Join(lines[2:5], ""))
	if got := observed(t, "copilot", l.with(copilot), waiting(t, copilot, "", "01:15:25", "01:15:25.275")); !strings.HasSuffix(got, " waiting may I?") {
		t.Error(got)
	}
}

// TestCopilotAsksTwice: a turn that asks for one thing after the other waits for the second, too, although the first was
// granted after the wait began.
func TestCopilotAsksTwice(t *testing.T) {
	l := newLab(t)
	const id = "f8582031-12a9-43e4-8640-9df83bc622ea"
	event := func(kind, request string, second int) string {
		return fmt.Sprintf(`{"type":"permission.%s","data":{"requestId":%q},"timestamp":"2026-11-21T01:00:%02dZ"}`+"\n", kind, request, second)
	}
	asked, granted := event("requested", "a", 10), event("completed", "a", 12)
	again, grantedAgain := event("requested", "b", 13), event("completed", "b", 15)
	for _, c := range []struct {
		name, record string
		busy         bool
	}{
		{"the first", asked, false},
		{"the first, granted", asked + granted, true},
		{"the second", asked + granted + again, false},
		{"the second, granted", asked + granted + again + grantedAgain, true},
		{"both at once, one granted", asked + again + grantedAgain, false},
		{"both at once, granted", asked + again + grantedAgain + granted, true},
	} {
		l.put(".copilot/session-state/"+id+"/events.jsonl", c.record)
		got := observed(t, "copilot", l.with(id), waiting(t, id, "", "01:00:05", "01:00:10.100"))
		if strings.HasSuffix(got, " busy") != c.busy || strings.HasSuffix(got, " waiting may I?") == c.busy {
			t.Errorf("%s: %s", c.name, got)
		}
	}
}

func TestDemoEnds(t *testing.T) {
	l := newLab(t)
	const (
		start    = `{"type":"event","event":"start","turn":0,"timestamp":"2026-11-21T01:00:00Z"}` + "\n"
		begin    = `{"type":"event","event":"turn_start","turn":1,"timestamp":"2026-11-21T01:00:01Z"}` + "\n{\"role\":\"user\",\"content\":\"x\"}\n"
		ask      = `{"type":"event","event":"waiting","turn":1,"question":"ok?","timestamp":"2026-11-21T01:00:02Z"}` + "\n"
		answered = `{"type":"event","event":"answered","turn":1,"timestamp":"2026-11-21T01:00:03Z"}` + "\n"
		end      = `{"type":"event","event":"turn_end","turn":1,"answer":"a","timestamp":"2026-11-21T01:00:04Z"}` + "\n"
		stop     = `{"type":"event","event":"interrupted","turn":1,"timestamp":"2026-11-21T01:00:04Z"}` + "\n"
		fail     = `{"type":"event","event":"error","turn":1,"error":"no quota","timestamp":"2026-11-21T01:00:04Z"}` + "\n"
		exit     = `{"type":"event","event":"exit","turn":1,"code":3,"timestamp":"2026-11-21T01:00:05Z"}` + "\n"
		next     = `{"type":"event","event":"turn_start","turn":2,"timestamp":"2026-11-21T01:00:06Z"}` + "\n"
	)
	one := open(t, "c1", "c1/1", "01:00:01")
	for _, c := range []struct {
		name, content string
		last          *turn.Record
		want          string
	}{
		{"ready", start, nil, "01:00:00.000 transcript idle"},
		{"at work", start + begin, one, "01:00:01.000 transcript busy"},
		{"asks", start + begin + ask, one, "01:00:02.000 transcript waiting ok?"},
		{"goes on", start + begin + ask + answered, one, "01:00:03.000 transcript busy"},
		{"answer", start + begin + end, one, "01:00:04.000 transcript end in=c1 turn=c1/1 message=a"},
		{"answer known", start + begin + end, nil, "01:00:04.000 transcript idle"},
		{"esc", start + begin + stop, one, "01:00:04.000 transcript interrupt in=c1 turn=c1/1"},
		{"error", start + begin + fail, one, "01:00:04.000 transcript error in=c1 turn=c1/1 message=no quota error=error"},
		{"left", start + begin + exit, one, "01:00:05.000 transcript interrupt in=c1 turn=c1/1 message=the CLI exited"},
		{"left later", start + begin + end + exit, one, "01:00:04.000 transcript end in=c1 turn=c1/1 message=a"},
		{"the next turn", start + begin + end + next, one, "01:00:04.000 transcript end in=c1 turn=c1/1 message=a"},
		{"torn", start + begin + `{"type":"event","eve`, one, "01:00:01.000 transcript busy"},
	} {
		l.put(".local/state/paw/demo/c1.jsonl", c.content)
		if got := observed(t, "demo", l.with("c1"), c.last); got != c.want {
			t.Errorf("%s: %s", c.name, got)
		}
	}
	if got := observed(t, "demo", l.with("c2"), nil); got != "unknown" {
		t.Error("a conversation without a file:", got)
	}
}
