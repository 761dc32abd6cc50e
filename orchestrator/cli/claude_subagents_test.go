package cli_test

import (
	"fmt"
	"strings"
	"testing"

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
