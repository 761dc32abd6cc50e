package main

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestAnEndThatStatusShowsIsWrittenDown: claude writes an Esc into its transcript and calls no
// hook. As soon as paw status shows the end, paw turns has it with a snapshot: later changes of the
// user do not belong to the turn.
func TestAnEndThatStatusShowsIsWrittenDown(t *testing.T) {
	t.Parallel()
	w, a := claudeWorld(t)
	w.ok(w.claudeHook(a, nil, "UserPromptSubmit", "prompt", "first", "prompt_id", "p1"))
	w.write(a.WorktreePath, "half.txt", "unfinished\n")
	w.claudeWrote(a, "p1", "first", "[Request interrupted by user]")
	waitFor(t, "status has it", func() bool {
		now := w.agent("claude")
		return now.State == "idle" && now.Reason != nil && *now.Reason == "turn interrupted"
	})
	if list := w.ok(w.paw("turns", "claude")).stdout; !strings.Contains(list, "1  interrupted") || !strings.Contains(list, "1 file") {
		t.Errorf("paw turns:\n%s", list)
	}
	w.write(a.WorktreePath, "hand.txt", "by hand\n")
	if diff := w.ok(w.paw("diff", "claude", "1", "--stat")).stdout; !strings.Contains(diff, "half.txt") || strings.Contains(diff, "hand.txt") {
		t.Errorf("paw diff of the turn:\n%s", diff)
	}
}

// claudeWrote writes a transcript of claude with what the user typed, and what claude wrote as if he had, in one turn.
func (w *world) claudeWrote(a agentJSON, id, typed, noted string) {
	w.t.Helper()
	var lines strings.Builder
	for _, line := range [][2]string{{"typed", typed}, {"", noted}} {
		fmt.Fprintf(&lines, `{"type":"user","promptId":%q,"promptSource":%q,"timestamp":%q,"message":{"content":%q}}`+"\n",
			id, line[0], time.Now().UTC().Format(time.RFC3339Nano), line[1])
	}
	folder := regexp.MustCompile(`[^A-Za-z0-9]`).ReplaceAllString(a.WorktreePath, "-")
	w.write(filepath.Join(w.root, "home/.claude/projects", folder), *a.ConversationID+".jsonl", lines.String())
}

// TestATurnThatGoesOnHasNotEnded: claude's transcript has an end, and then claude reports another prompt of the same turn, in which it
// is at work: that joins the turn, whatever the transcript has.
func TestATurnThatGoesOnHasNotEnded(t *testing.T) {
	t.Parallel()
	w, a := claudeWorld(t)
	w.ok(w.claudeHook(a, nil, "UserPromptSubmit", "prompt", "first", "prompt_id", "p1"))
	w.claudeWrote(a, "p1", "first", "[Request interrupted by user]")
	w.write(filepath.Join(w.root, "home/.claude/sessions"), "1.json",
		fmt.Sprintf(`{"pid":%d,"sessionId":%q,"status":"busy","statusUpdatedAt":%d}`, *a.PID, *a.ConversationID, time.Now().UnixMilli()))
	w.ok(w.claudeHook(a, nil, "UserPromptSubmit", "prompt", "and this", "prompt_id", "p1"))
	if list := w.turnsOf("claude"); len(list) != 1 || list[0].State != "in_progress" {
		t.Errorf("turns: %+v", list)
	}
}

// TestAnEndCountsBeforeTheRecordHasIt: between the end in its log and the one in the session's record a turn counts as finished.
func TestAnEndCountsBeforeTheRecordHasIt(t *testing.T) {
	t.Parallel()
	w, a := claudeWorld(t)
	w.ok(w.claudeHook(a, nil, "UserPromptSubmit", "prompt", "first", "prompt_id", "p1"))
	w.ok(w.claudeHook(a, []string{"PAW_TEST_KILL=turn.ended"}, "Stop", "last_assistant_message", "done", "prompt_id", "p1"))
	waitFor(t, "its log has the end", func() bool { return w.agent("claude").CurrentTurn == nil })
	if a := w.agent("claude"); a.State != "idle" || a.TurnsCompleted != 1 || a.ToReview != 1 {
		t.Errorf("%s, %d finished, %d to review", a.State, a.TurnsCompleted, a.ToReview)
	}
}
