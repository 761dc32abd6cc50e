package cli_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const codexHistoryID = "01a1fb99-0000-7000-8000-000000000001"

func TestCodexHistory(t *testing.T) {
	const meta = `{"type":"session_meta","ordinal":0,"payload":{"id":"` + codexHistoryID + `","base_instructions":{"text":"You are codex"}}}` + "\n"
	checkHistory(t, "codex", codexHistoryID, func(lab) string { return rollout(codexHistoryID) }, []historyCase{
		{
			"what codex adds in the user's name", meta + `
{"type":"response_item","payload":{"type":"message","role":"developer","content":[{"type":"input_text","text":"be nice"}]}}
{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"# AGENTS.md instructions for /x\n..."},{"type":"input_text","text":"look at "},{"type":"input_image","image_url":"data:"}],"internal_chat_message_metadata_passthrough":{"content_item_kinds":["agents_md","user.text","user.image"]}}}
{"type":"event_msg","payload":{"type":"item_completed","item":{"type":"UserMessage"}}}
{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"<user_shell_command>\n<command>\nls -l\n</command>\n<result>\nExit code: 0\nOutput:\nNOTES.md\n\n</result>\n</user_shell_command>"}]}}`,
			[]string{"user look at \n[image]", "user !ls -l", "system Exit code: 0\nOutput:\nNOTES.md"}, 0,
		},
		{
			"tools", meta + `
{"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"All of them."}]}}
{"type":"response_item","payload":{"type":"reasoning","summary":[]}}
{"type":"response_item","payload":{"type":"function_call","call_id":"a","name":"exec_command","arguments":"{\"cmd\": \"ls\"}"}}
{"type":"response_item","payload":{"type":"custom_tool_call","call_id":"b","name":"apply_patch","input":"*** Begin Patch"}}
{"type":"response_item","payload":{"type":"local_shell_call","call_id":"c","status":"completed","action":{"type": "exec","command":["ls"]}}}
{"type":"response_item","payload":{"type":"function_call_output","call_id":"a","output":"NOTES.md"}}
{"type":"response_item","payload":{"type":"custom_tool_call_output","call_id":"b","output":[{"type":"input_text","text":"patched"},{"type":"input_image"}]}}
{"type":"response_item","payload":{"type":"function_call_output","call_id":"c","output":"c.txt"}}
{"type":"response_item","payload":{"type":"web_search_call","id":"ws_1","action":{"query":"go"}}}
{"type":"event_msg","payload":{"type":"task_complete","last_agent_message":null,"error":{"message":"overloaded"}}}`,
			[]string{
				`assistant All of them. >a exec_command {"cmd": "ls"} >b apply_patch *** Begin Patch >c local_shell {"type":"exec","command":["ls"]}`,
				"tool <a NOTES.md", "tool <b patched\n[image]", "tool <c c.txt", `assistant >ws_1 web_search {"query":"go"}`, "system overloaded",
			}, 0,
		},
		{
			"taken back and compacted", meta + `
{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"one"}]}}
{"type":"compacted","payload":{"message":"summary of one"}}
{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"two"}]}}
{"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"to two"}]}}
{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"three"}]}}
{"type":"event_msg","payload":{"type":"thread_rolled_back","num_turns":2}}
{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"four"}]}}`,
			[]string{"user one", "user four"}, 0,
		},
		{
			"not understood", meta + `
{"type":"response_item","payload":{"type":"hologram"}}
{"type":"hologram","payload":{}}
{"type":"event_msg","payload":{"type":"hologram"}}`,
			[]string{}, 1,
		},
	})
}

// TestCodexHistoryOfForks: a fork of a fork has the lines of both before it, up to where each was forked; what can no
// longer be found is counted.
func TestCodexHistoryOfForks(t *testing.T) {
	id := func(n int) string { return fmt.Sprintf("01a1fb99-0000-7000-8000-00000000000%d", n) }
	say := func(ordinal int, text string) string {
		return fmt.Sprintf(`{"type":"response_item","ordinal":%d,"payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"%s"}]}}`+"\n", ordinal, text)
	}
	meta := func(ordinal, n int, from string) string {
		return fmt.Sprintf(`{"type":"session_meta","ordinal":%d,"payload":{"id":"%s"%s}}`+"\n", ordinal, id(n), from)
	}
	fork := func(n, before int) string {
		return fmt.Sprintf(`,"forked_from_id":"%s","forked_from_ordinal_exclusive":%d`, id(n), before)
	}
	l := newLab(t)
	l.put(rollout(id(1)), meta(0, 1, "")+say(1, "one")+say(2, "two")+say(3, "not in the fork"))
	l.put(rollout(id(2)), meta(3, 2, fork(1, 3))+say(4, "three")+say(5, "nor this"))
	l.put(rollout(id(3)), meta(5, 3, fork(2, 5))+say(6, "four"))
	l.put(rollout(id(4)), meta(5, 4, fork(9, 5))+say(6, "alone"))
	// An older codex copies the lines, with the first line of the source among them.
	l.put(rollout(id(5)), meta(0, 5, `,"forked_from_id":"`+id(1)+`"`)+meta(0, 1, "")+say(1, "one")+say(2, "copied"))
	// Two that name each other end somewhere.
	l.put(rollout(id(6)), meta(0, 6, fork(7, 5))+say(1, "six"))
	l.put(rollout(id(7)), meta(0, 7, fork(6, 5))+say(1, "seven"))
	for n, c := range map[int]struct {
		want    []string
		skipped int
	}{
		3: {[]string{"user one", "user two", "user three", "user four"}, 0},
		4: {[]string{"user alone"}, 1},
		5: {[]string{"user one", "user copied"}, 0},
	} {
		got, err := get(t, "codex").History(context.Background(), l.with(id(n)))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, inLines(got)); diff != "" || got.Skipped != c.skipped {
			t.Errorf("%d: %d skipped, want %d; -want +got\n%s", n, got.Skipped, c.skipped, diff)
		}
	}
	if _, err := get(t, "codex").History(context.Background(), l.with(id(6))); err != nil {
		t.Error(err)
	}
}
