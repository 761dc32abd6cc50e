package cli_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"paw/orchestrator/cli"
	"paw/session/history"
)

// oneLine is a message in one line: its role, the id that it answers, what it says and what it calls.
func oneLine(m history.Message) string {
	words := []string{string(m.Role)}
	if m.ToolCallID != "" {
		words = append(words, "<"+m.ToolCallID)
	}
	if m.Content != "" {
		words = append(words, m.Content)
	}
	for _, call := range m.ToolCalls {
		words = append(words, ">"+strings.TrimSpace(call.ID+" "+call.Name+" "+call.Arguments))
	}
	return strings.Join(words, " ")
}

func inLines(t cli.Transcript) []string {
	lines := make([]string, 0, len(t.Messages))
	for _, m := range t.Messages {
		lines = append(lines, oneLine(m))
	}
	return lines
}

// historyCase is a transcript in the words of its CLI, and what it says.
type historyCase struct {
	name    string
	lines   string
	want    []string
	skipped int
}

// checkHistory reads each case as the conversation id of a CLI from a file below HOME.
func checkHistory(t *testing.T, cli, id string, file func(l lab) string, cases []historyCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			l := newLab(t)
			l.put(file(l), strings.TrimSpace(c.lines)+"\n")
			got, err := get(t, cli).History(context.Background(), l.with(id))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, inLines(got)); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
			if got.Skipped != c.skipped || got.ID != id {
				t.Errorf("%d skipped of %s, want %d of %s", got.Skipped, got.ID, c.skipped, id)
			}
		})
	}
}

func TestClaudeHistory(t *testing.T) {
	const prompt = `{"type":"user","uuid":"1","parentUuid":null,"message":{"role":"user","content":"first"},"timestamp":"2026-01-01T00:00:01Z"}` + "\n"
	checkHistory(t, "claude", claudeID, func(l lab) string {
		return filepath.Join(".claude", "projects", dash(l.worktree), claudeID+".jsonl")
	}, []historyCase{
		{
			// Of two tools at the same time the next answer follows the second one alone.
			"parallel tools", prompt + `
{"type":"assistant","uuid":"2","parentUuid":"1","message":{"id":"m1","content":[{"type":"thinking","thinking":"hm"}]}}
{"type":"assistant","uuid":"3","parentUuid":"2","message":{"id":"m1","content":[{"type":"text","text":"Both."}]}}
{"type":"assistant","uuid":"4","parentUuid":"3","message":{"id":"m1","content":[{"type":"tool_use","id":"a","name":"Read","input":{"file_path": "x"}}]}}
{"type":"user","uuid":"5","parentUuid":"4","message":{"content":[{"type":"tool_result","tool_use_id":"a","content":"of a"}]}}
{"type":"assistant","uuid":"6","parentUuid":"4","message":{"id":"m1","content":[{"type":"tool_use","id":"b","name":"Bash","input":{}}]}}
{"type":"user","uuid":"7","parentUuid":"6","message":{"content":[{"type":"tool_result","tool_use_id":"b","content":[{"type":"text","text":"of"},{"type":"text","text":"b"},{"type":"image"}]}]}}
{"type":"assistant","uuid":"8","parentUuid":"7","message":{"id":"m2","content":[{"type":"text","text":"Done."}]}}`,
			[]string{
				"user first", `assistant Both. >a Read {"file_path":"x"} >b Bash {}`, "tool <a of a", "tool <b of\nb\n[image]", "assistant Done.",
			}, 0,
		},
		{
			"crash between parallel results", prompt + `
{"type":"assistant","uuid":"2","parentUuid":"1","message":{"id":"m1","content":[{"type":"tool_use","id":"a","name":"Read","input":{}}]}}
{"type":"assistant","uuid":"3","parentUuid":"2","message":{"id":"m1","content":[{"type":"tool_use","id":"b","name":"Bash","input":{}}]}}
{"type":"user","uuid":"4","parentUuid":"2","message":{"content":[{"type":"tool_result","tool_use_id":"a","content":"of a"}]}}`,
			[]string{"user first", `assistant >a Read {} >b Bash {}`, "tool <a of a"}, 0,
		},
		{
			"rewind", prompt + `
{"type":"assistant","uuid":"2","parentUuid":"1","message":{"id":"m1","content":[{"type":"tool_use","id":"a","name":"Bash","input":{}}]}}
{"type":"user","uuid":"3","parentUuid":"2","message":{"content":[{"type":"tool_result","tool_use_id":"a","content":"gone"}]}}
{"type":"user","uuid":"4","parentUuid":null,"message":{"content":"first, but better"}}
{"type":"assistant","uuid":"5","parentUuid":"4","message":{"id":"m2","content":[{"type":"text","text":"Yes."}]}}`,
			[]string{"user first, but better", "assistant Yes."}, 0,
		},
		{
			"compaction", prompt + `
{"type":"assistant","uuid":"2","parentUuid":"1","message":{"id":"m1","content":[{"type":"text","text":"Said before."}]}}
{"type":"system","uuid":"3","parentUuid":null,"logicalParentUuid":"2","subtype":"compact_boundary"}
{"type":"user","uuid":"4","parentUuid":"3","isCompactSummary":true,"message":{"content":"This session is being continued"}}
{"type":"user","uuid":"5","parentUuid":"4","message":{"content":"go on"}}
{"type":"assistant","uuid":"6","parentUuid":"5","message":{"id":"m2","content":[{"type":"text","text":"Said after."}]}}`,
			[]string{"user first", "assistant Said before.", "user go on", "assistant Said after."}, 0,
		},
		{
			"subagents and notes", prompt + `
{"type":"user","uuid":"2","parentUuid":null,"isSidechain":true,"message":{"content":"prompt of a subagent"}}
{"type":"user","uuid":"3","parentUuid":"1","isMeta":true,"message":{"content":"Caveat: ..."}}
{"type":"user","uuid":"4","parentUuid":"3","message":{"content":"<command-name>/model</command-name>\n<command-args></command-args>"}}
{"type":"user","uuid":"5","parentUuid":"4","message":{"content":"<local-command-stdout>Set model</local-command-stdout>"}}
{"type":"user","uuid":"6","parentUuid":"5","message":{"content":"<command-message>review is running</command-message>\n<command-name>/review</command-name>\n<command-args>the parser</command-args>"}}
{"type":"user","uuid":"7","parentUuid":"6","isMeta":true,"message":{"content":[{"type":"text","text":"You are to review ..."}]}}
{"type":"user","uuid":"8","parentUuid":"7","origin":{"kind":"task-notification"},"message":{"content":"<task-notification>done</task-notification>"}}
{"type":"attachment","uuid":"9","parentUuid":"8","attachment":{"type":"queued_command","commandMode":"task-notification","prompt":"another task is done"}}
{"type":"attachment","uuid":"10","parentUuid":"9","attachment":{"type":"queued_command","commandMode":"prompt","prompt":[{"type":"text","text":"and this"},{"type":"image"}]}}
{"type":"file-history-snapshot","messageId":"8"}`,
			[]string{
				"user first", "user /review the parser", "system <task-notification>done</task-notification>", "system another task is done",
				"user and this\n[image]",
			}, 0,
		},
		{
			// As 2.1.330 writes what another session sends: to an idle claude, and to one at work.
			"messages of another session", prompt + `
{"type":"user","uuid":"2","parentUuid":"1","isMeta":true,"origin":{"kind":"peer"},"promptSource":"system","message":{"content":"Another Claude session sent a message:\n<cross-session-message from=\"uds:/tmp/cc-socks/1.sock\" from-name=\"web-a6\" from-mode=\"prompting\">\nIs it done?\n</cross-session-message>\n\nThis came from another Claude session — not typed by your user, but very likely working on their behalf."}}
{"type":"attachment","uuid":"3","parentUuid":"2","attachment":{"type":"queued_command","commandMode":"prompt","isMeta":true,"prompt":"<cross-session-message from=\"uds:/tmp/cc-socks/1.sock\" from-name=\"web-a6\" from-mode=\"prompting\">\nHurry.\n</cross-session-message>"}}`,
			[]string{"user first", "system message from web-a6: Is it done?", "system message from web-a6: Hurry."}, 0,
		},
		{
			// claude goes on from the prompt.
			"resumed after a crash in a tool", prompt + `
{"type":"assistant","uuid":"2","parentUuid":"1","message":{"id":"m1","content":[{"type":"tool_use","id":"a","name":"Bash","input":{}}]}}
{"type":"assistant","uuid":"3","parentUuid":"1","message":{"id":"m2","model":"<synthetic>","content":[{"type":"text","text":"No response requested."}]}}
{"type":"user","uuid":"4","parentUuid":"3","message":{"content":"next"}}`,
			[]string{"user first", "assistant >a Bash {}", "user next"}, 0,
		},
		{
			"resumed after a crash behind a tool", prompt + `
{"type":"assistant","uuid":"2","parentUuid":"1","message":{"id":"m1","content":[{"type":"tool_use","id":"a","name":"Bash","input":{}}]}}
{"type":"user","uuid":"3","parentUuid":"2","message":{"content":[{"type":"tool_result","tool_use_id":"a","content":"of a"}]}}
{"type":"user","uuid":"4","parentUuid":"3","isMeta":true,"message":{"content":[{"type":"text","text":"Continue from where you left off."}]}}
{"type":"assistant","uuid":"5","parentUuid":"4","message":{"id":"m2","model":"<synthetic>","content":[{"type":"text","text":"No response requested."}]}}
{"type":"user","uuid":"6","parentUuid":"5","message":{"content":"next"}}`,
			[]string{"user first", "assistant >a Bash {}", "tool <a of a", "user next"}, 0,
		},
		{
			// So claude writes the first answer of a new conversation.
			"answer before its prompt", `
{"type":"assistant","uuid":"2","parentUuid":"1","message":{"id":"m1","content":[{"type":"text","text":"Yes."}]}}
` + prompt + `
{"type":"system","uuid":"3","parentUuid":"2","subtype":"turn_duration"}`,
			[]string{"user first", "assistant Yes."}, 0,
		},
		{
			// What hangs off a torn line is not lost.
			"torn in the midst", prompt + `
{"type":"assistant","uuid":"2","parentUuid":"1","message":{"id":"m1","cont
{"type":"user","uuid":"3","parentUuid":"2","message":{"content":"next"}}
{"type":"hologram","uuid":"4"}
{"type":"telegram","uuid":"4a","message":{"content":"a message of a new kind"}}
{"type":"api-request"}
{"type":"assistant","uuid":"5","parentUuid":"3","message":{"id":"m2","content":[{"type":"text","text":"Yes."},{"type":"smell"}]}}`,
			[]string{"user first", "user next", "assistant Yes."}, 3,
		},
		{"nothing", `{"type":"mode","mode":"normal"}`, []string{}, 0},
	})
}
