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

// subagentFiles returns the folder with the transcripts of a conversation's subagents.
func subagentFiles(transcript string) string {
	return filepath.Join(strings.TrimSuffix(transcript, ".jsonl"), "subagents")
}

// taskID matches the prompt that claude gives itself when a task has ended, and captures the task's
// id.
var taskID = lazyregexp.New(`^<task-notification>\s*<task-id>(\w+)</task-id>`)

// reported counts the ended subagents whose reports wait in claude's queue: claude goes on with the
// turn for each. They are no longer listed as tasks.
func reported(transcript string) int {
	var operations []turnLine
	_ = records.EachBack(transcript, func(line turnLine) bool {
		if line.Type == "queue-operation" {
			operations = append(operations, line)
		}
		return line.PromptSource != "typed" // the queue is empty when claude takes a typed prompt at once
	})
	var queue []string
	for _, line := range slices.Backward(operations) {
		switch {
		case line.Operation == "enqueue":
			var prompt string
			_ = json.Unmarshal(line.Content, &prompt) // content that is no string is no report
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

// reportsAfter is how long claude may be idle after its last subagent: claude prompts itself at the
// end of each, also of one that the user has stopped.
const reportsAfter = 30 * time.Second

// reports reports whether claude is about to go on with the open turn, because subagents still
// worked for it when claude answered.
func reports(entry registryEntry, last *turn.Record) bool {
	return records.IsOpen(last) && last.Held != nil && last.Held.Subagents > 0 && time.Since(entry.since()) < reportsAfter
}
