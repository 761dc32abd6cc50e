package queue

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"paw/session"
	"paw/session/turn"
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

// TestBreakerCostsTwoStarts: of a CLI whose starts all come to nothing no more are started at once than the breaker allows.
func TestBreakerCostsTwoStarts(t *testing.T) {
	w := newWorld(t)
	w.most = 3
	for range 6 {
		w.add(session.Task{Kind: session.AgentTask, CLIs: []string{"a"}, What: "task"})
	}
	w.drain()
	if w.starts != quick {
		t.Errorf("%d were started at once\n%s", w.starts, w)
	}
	for _, p := range w.agents {
		w.take(p)
		w.end(p, aborted(turn.ReasonError))
	}
	for range 5 {
		w.drain()
		w.tick()
	}
	if w.drain(); w.starts != quick {
		t.Errorf("%d were started, and the first %d came to nothing\n%s", w.starts, quick, w)
	}
	w.letGo()
	for range 4 { // these live
		w.drain()
		for _, p := range w.agents {
			w.take(p)
		}
		w.tick()
	}
	if w.drain(); w.starts != quick+w.most {
		t.Errorf("%d were started after go\n%s", w.starts, w)
	}
}

// TestBreakerCountsTheCLIThatHasJustEnded: between the exit that a CLI reports and the end of its pane it may still have failed at
// its start.
func TestBreakerCountsTheCLIThatHasJustEnded(t *testing.T) {
	w := newWorld(t)
	w.most = 3
	for range 3 {
		w.add(session.Task{Kind: session.AgentTask, CLIs: []string{"a"}, What: "task"})
	}
	w.drain()
	exit := func(one *Turn) {
		aborted(turn.ReasonInterrupted)(one)
		one.ErrorMessage = "the CLI exited"
	}
	first, second := w.agents["t1"], w.agents["t2"]
	w.take(first)
	w.take(second)
	at := w.now()
	last := &second.turns[0]
	last.EndedAt = &at
	exit(last)
	w.midst = func() {
		w.dies(first)
		w.midst = func() { w.dies(second) }
	}
	w.end(first, exit)
	w.drain()
	if w.starts != quick {
		t.Errorf("%d were started, and the first %d came to nothing\n%s", w.starts, quick, w)
	}
}

// TestTasksThatAreOverLeave: what has been over for keep_days leaves the list, with its prompt, unless something waits for it.
func TestTasksThatAreOverLeave(t *testing.T) {
	w := newWorld(t)
	w.p.Config.Queue.KeepDays = 14
	w.agents["x"] = &played{cli: "a"}
	w.add(session.Task{ID: "old", Kind: session.PromptTask, Agent: "x", What: "p", State: session.TaskDone},
		session.Task{ID: "needed", Kind: session.PromptTask, Agent: "x", What: "p"}, session.Task{ID: "new", Kind: session.PromptTask, Agent: "x", What: "p"},
		session.Task{ID: "open", Kind: session.PromptTask, Agent: "x", What: "p", After: []string{"needed"}})
	w.must(w.p.Queues().KeepText(worldSession, "old", session.TextPrompt, "p"))
	w.change(func(q *session.Queue) {
		for _, id := range []string{"old", "needed", "new"} {
			q.Task(id).State, q.Task(id).Over = session.TaskDone, time.Now().AddDate(0, 0, -15)
		}
		q.Task("new").Over = time.Time{}
	})
	w.p.Now = time.Now
	w.must(forgetOld(t.Context(), w.p, worldSession))
	var left []string
	for _, task := range w.queue().Tasks {
		left = append(left, task.ID)
	}
	if got := strings.Join(left, " "); got != "needed new open" {
		t.Errorf("left are %s", got)
	}
	if _, err := w.p.Queues().Text(worldSession, session.Task{ID: "old"}); err == nil {
		t.Error("its prompt is kept")
	}
}
