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
	var lines strings.Builder
	for _, line := range [][2]string{{"typed", "first"}, {"", "[Request interrupted by user]"}} {
		fmt.Fprintf(&lines, `{"type":"user","promptId":"p1","promptSource":%q,"timestamp":%q,"message":{"content":%q}}`+"\n",
			line[0], time.Now().UTC().Format(time.RFC3339Nano), line[1])
	}
	folder := regexp.MustCompile(`[^A-Za-z0-9]`).ReplaceAllString(a.WorktreePath, "-")
	w.write(filepath.Join(w.root, "home/.claude/projects", folder), *a.ConversationID+".jsonl", lines.String())
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
