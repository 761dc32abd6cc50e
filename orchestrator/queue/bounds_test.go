package queue

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"paw/session"
)

// TestBounds: a queue, a prompt and a plan have a largest size, and what is over makes room for more.
func TestBounds(t *testing.T) {
	q := (&session.Queue{Session: "s"}).Clone()
	seen := func(string) int { return 0 }
	tasks := func(n int, prefix string) (all []session.Task) {
		for i := range n {
			all = append(all, session.Task{ID: fmt.Sprintf("%s%d", prefix, i), Kind: session.AgentTask, CLIs: []string{"a"}, State: session.TaskWaiting})
		}
		return all
	}
	if err := Add(q, tasks(500, "a"), seen); err != nil {
		t.Errorf("500 tasks: %v", err)
	}
	if err := Add(q.Clone(), tasks(1, "b"), seen); err == nil || !strings.Contains(err.Error(), "at most 500 tasks") {
		t.Errorf("one more: %v", err)
	}
	q.Task("a0").State = session.TaskDone
	if err := Add(q, tasks(1, "b"), seen); err != nil || len(q.Tasks) != 500 || q.Task("a0") != nil || q.Task("b0") == nil {
		t.Errorf("one more, and one is done: %v, %d tasks", err, len(q.Tasks))
	}

	task := New{Task: session.Task{ID: "a", Kind: session.AgentTask}, Prompt: strings.Repeat("x", 1<<20)}
	if err := task.fault(); err != nil {
		t.Errorf("a prompt of 1 MiB: %v", err)
	}
	task.Prompt += "x"
	if err := task.fault(); err == nil || !strings.Contains(err.Error(), "larger than 1 MiB") {
		t.Errorf("a prompt of more: %v", err)
	}

	plan := filepath.Join(t.TempDir(), "plan.toml")
	text := "[[task]]\nid = \"a\"\nprompt = \"x\"\n#"
	for extra, want := range map[int]string{0: "", 1: "larger than 4 MiB"} {
		if err := os.WriteFile(plan, []byte(text+strings.Repeat("x", 4<<20-len(text)+extra)), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, err := ReadPlan(plan); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("a plan of 4 MiB and %d: %v", extra, err)
		}
	}
}
