package cli_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"paw/session/turn"
)

// TestClaudeSubagentsHoldTheTurn: an answer while subagents work is no end, neither by its hook nor by the transcript.
func TestClaudeSubagentsHoldTheTurn(t *testing.T) {
	l := newLab(t)
	c := get(t, "claude")
	for tasks, want := range map[string][2]int{
		`[{"id":"a1","type":"subagent","status":"running"},{"id":"b1","type":"shell","status":"running"}]`:      {1, 1},
		`[{"id":"a1","type":"subagent","status":"completed"},{"id":"a2","type":"subagent","status":"pending"}]`: {1, 0},
		`[]`: {0, 0},
	} {
		e, err := c.Event("Stop", []byte(`{"session_id":"s","prompt_id":"p","background_tasks":`+tasks+`}`))
		if err != nil || e.Kind != turn.KindEnd || [2]int{e.Subagents, e.Background} != want {
			t.Errorf("%s: %+v, %v", tasks, e, err)
		}
	}
	path := l.claudeFile(l.worktree, claudeEnds)
	line := func(clock, rest string) string {
		return fmt.Sprintf(`{"timestamp":"2026-11-21T04:%sZ",%s}`+"\n", clock, rest)
	}
	text := line("20:58.650", `"type":"user","promptId":"p1","promptSource":"typed","message":{"content":"begin"}`) +
		line("20:59.000", `"type":"assistant","message":{"id":"m1","content":[{"type":"text","text":"so far"}],"usage":{"input_tokens":100,"output_tokens":10}}`) +
		line("20:59.100", `"type":"system","subtype":"turn_duration","pendingBackgroundAgentCount":1`)
	l.put(path, text)
	last := open(t, claudeEnds, "p1", "04:20:58.600")
	if got := observed(t, "claude", l.with(claudeEnds), last); got != "unknown" {
		t.Errorf("while a subagent works: %s", got)
	}
	last.TurnID, last.OlderIDs, last.Held = "p2", []string{"p1"}, &turn.Held{Subagents: 1, At: at(t, "04:20:59.050")}
	text += line("21:09.000", `"type":"user","promptId":"p2","promptSource":"system","message":{"content":"<task-notification>"}`) +
		line("21:10.000", `"type":"assistant","message":{"id":"m2","content":[{"type":"text","text":"all done"}],"usage":{"input_tokens":200,"output_tokens":20}}`) +
		line("21:10.100", `"type":"system","subtype":"turn_duration"`)
	l.put(path, text)
	if got, want := observed(t, "claude", l.with(claudeEnds), last), "04:21:10.100 transcript end in=051c turn=p2 message=all done"; got != want {
		t.Errorf("%s, want %s", got, want)
	}

	l.put(strings.TrimSuffix(path, ".jsonl")+"/subagents/agent-a1.jsonl", line("21:05.000", `"isSidechain":true,"type":"assistant","message":{"id":"m3","usage":{"input_tokens":1000,"output_tokens":5}}`))
	uses, err := c.Uses(t.Context(), l.with(claudeEnds))
	var input int64
	for _, u := range uses {
		input += u.Input
	}
	if err != nil || len(uses) != 3 || input != 1300 {
		t.Errorf("%+v, %v", uses, err)
	}
}

// TestClaudeIsIdleBeforeItReports: between the end of its last subagent and the prompt that it gives itself for that, claude is idle:
// for seconds on a busy machine. The turn is over when the transcript has an end without subagents, or where no prompt comes at all.
func TestClaudeIsIdleBeforeItReports(t *testing.T) {
	const answered = `{"timestamp":%q,"type":"user","promptId":"p1","promptSource":"typed","message":{"content":"begin"}}
{"timestamp":%q,"type":"assistant","message":{"id":"m1","content":[{"type":"text","text":"so far"}]}}
{"timestamp":%q,"type":"system","subtype":"turn_duration"%s}
`
	now := time.Now()
	for _, c := range []struct {
		name, pending string
		idle          time.Duration
		want          string
	}{
		{"at once", `,"pendingBackgroundAgentCount":1`, 0, "busy"},
		{"on a busy machine", `,"pendingBackgroundAgentCount":1`, 10 * time.Second, "busy"},
		{"it never reports", `,"pendingBackgroundAgentCount":1`, 40 * time.Second, "end"},
		{"the last answer", "", 0, "end"},
		{"the last answer, some time ago", "", 10 * time.Second, "end"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newLab(t)
			l.registry("idle", now.Add(-c.idle))
			started := now.Add(-time.Minute).UTC()
			stamp := func(after time.Duration) string { return started.Add(after).Format("2006-01-02T15:04:05.000Z") }
			l.put(l.claudeFile(l.worktree, claudeEnds), fmt.Sprintf(answered, stamp(time.Second), stamp(2*time.Second), stamp(3*time.Second), c.pending))
			last := &turn.Record{State: turn.InProgress, Conversation: claudeEnds, TurnID: "p1", StartedAt: started}
			last.Held = &turn.Held{Subagents: 1, At: started.Add(3 * time.Second)}
			if got := observed(t, "claude", l.with(claudeEnds), last); !strings.Contains(got, " "+c.want) {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

// TestClaudeAnswersBeforeItReports: a subagent that ended while claude gave its answer is no task any more when the answer is there, and
// claude goes on with its report.
func TestClaudeAnswersBeforeItReports(t *testing.T) {
	l := newLab(t)
	path := l.claudeFile(l.worktree, claudeEnds)
	l.put(strings.TrimSuffix(path, ".jsonl")+"/subagents/agent-a1.jsonl", "{}\n")
	l.put(strings.TrimSuffix(path, ".jsonl")+"/subagents/agent-a2.jsonl", "{}\n")
	queue := func(operation, content string) string {
		return fmt.Sprintf(`{"type":"queue-operation","operation":%q,"timestamp":"2026-11-23T15:37:20.874Z","content":%q}`+"\n", operation, content)
	}
	ends := func(task string) string {
		return queue("enqueue", "<task-notification>\n<task-id>"+task+"</task-id>\n<status>completed</status>")
	}
	const typed = `{"timestamp":"2026-11-23T15:36:59.000Z","type":"user","promptId":"p1","promptSource":"typed","message":{"content":"begin"}}` + "\n"
	const goesOn = `{"timestamp":"2026-11-23T15:37:29.400Z","type":"user","promptId":"p2","promptSource":"system","message":{"content":"<task-notification>"}}` + "\n"
	dequeue := queue("dequeue", "")
	for name, c := range map[string]struct {
		lines string
		want  int
	}{
		"nothing":                  {typed, 0},
		"a subagent":               {typed + ends("a1"), 1},
		"two":                      {typed + ends("a1") + ends("a2"), 2},
		"one is answered":          {typed + ends("a1") + ends("a2") + dequeue + goesOn, 1},
		"both are answered":        {typed + ends("a1") + dequeue + goesOn + ends("a2") + dequeue + goesOn, 0},
		"a command":                {typed + ends("b1"), 0},
		"a prompt of the user":     {typed + queue("enqueue", "next"), 0},
		"it was told in the turn":  {typed + ends("a1") + queue("remove", ""), 0},
		"the user took it all":     {typed + ends("a1") + queue("popAll", ""), 0},
		"of a turn that was typed": {ends("a1") + typed, 0},
	} {
		l.put(path, c.lines)
		e, err := get(t, "claude").Event("Stop", []byte(fmt.Sprintf(`{"session_id":"s","transcript_path":%q,"background_tasks":[]}`, filepath.Join(l.home, path))))
		if err != nil || e.Subagents != c.want {
			t.Errorf("%s: %d subagents, want %d, %v", name, e.Subagents, c.want, err)
		}
	}
}
