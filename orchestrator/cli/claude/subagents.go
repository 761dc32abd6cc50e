package claude

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"paw/config/lazyregexp"
	"paw/orchestrator/cli/internal/records"
	"paw/session/turn"
)

// subagentFiles is the folder of what the subagents of a conversation write down, beside its transcript.
func subagentFiles(transcript string) string {
	return filepath.Join(strings.TrimSuffix(transcript, ".jsonl"), "subagents")
}

// taskID is the task that claude prompts itself about.
var taskID = lazyregexp.New(`^<task-notification>\s*<task-id>(\w+)</task-id>`)

// reported counts the subagents whose end claude has put behind its answer, to go on with it. They are no tasks any more.
func reported(transcript string) int {
	var operations []turnLine
	_ = records.EachBack(transcript, func(line turnLine) bool {
		if line.Type == "queue-operation" {
			operations = append(operations, line)
		}
		return line.PromptSource != "typed" // nothing waits when claude takes what is typed at once
	})
	var queue []string
	for _, line := range slices.Backward(operations) {
		switch {
		case line.Operation == "enqueue":
			var prompt string
			_ = json.Unmarshal(line.Content, &prompt) // what is no text is no report
			queue = append(queue, prompt)
		case line.Operation == "dequeue" && len(queue) > 0, line.Operation == "remove" && len(queue) > 0:
			queue = queue[1:]
		default:
			queue = nil
		}
	}
	n := 0
	for _, prompt := range queue {
		task := taskID.FindStringSubmatch(prompt)
		if task == nil {
			continue
		}
		if _, err := os.Stat(filepath.Join(subagentFiles(transcript), "agent-"+task[1]+".jsonl")); !errors.Is(err, fs.ErrNotExist) {
			n++
		}
	}
	return n
}

// reportsAfter is how long claude may be idle behind its last subagent: it prompts itself for the end of each, also of one that its
// user has stopped.
const reportsAfter = 30 * time.Second

// reports reports whether claude is about to go on with the open turn, as subagents still worked for it when claude had answered.
func reports(entry registryEntry, last *turn.Record) bool {
	return records.IsOpen(last) && last.Held != nil && last.Held.Subagents > 0 && time.Since(entry.since()) < reportsAfter
}
