package queue

import (
	"fmt"
	"slices"
	"strings"

	"paw/orchestrator/errs"
	"paw/session"
)

// Add appends tasks to a queue, all or none, and gives an id to those without one. seen returns the
// number of an agent's last turn, counting prompts that were typed and have not begun a turn yet.
func Add(q *session.Queue, tasks []session.Task, seen func(agent string) int) error {
	for i := range tasks {
		t := &tasks[i]
		t.State = session.TaskWaiting
		taken := func(id string) bool {
			return q.Task(id) != nil || slices.ContainsFunc(tasks, func(o session.Task) bool { return o.ID == id })
		}
		if t.ID == "" {
			for q.Last++; taken(fmt.Sprintf("t%d", q.Last)); q.Last++ {
			}
			t.ID = fmt.Sprintf("t%d", q.Last)
		}
		if err := session.ValidateTaskID(t.ID); err != nil {
			return errs.New(errs.Usage, "%w", err)
		}
		if q.Task(t.ID) != nil || slices.ContainsFunc(tasks[:i], func(o session.Task) bool { return o.ID == t.ID }) {
			return errs.New(errs.Usage, "%s: there is a task of that id", t.ID).Hint("paw queue %s", q.Session)
		}
	}
	if err := ordered(q, tasks); err != nil {
		return err
	}
	for _, t := range tasks {
		open := slices.ContainsFunc(q.Tasks, func(o session.Task) bool { return o.Agent == t.Agent && !o.State.Over() })
		if lane := q.Lanes[t.Agent]; t.Kind == session.PromptTask && !open {
			q.Lanes[t.Agent] = session.Lane{Seen: seen(t.Agent), Limit: lane.Limit}
		}
		q.Tasks = append(q.Tasks, t)
	}
	return forget(q)
}

// forget removes the oldest finished tasks from a queue with too many, unless unfinished tasks come
// after them.
func forget(q *session.Queue) error {
	needed := map[string]bool{}
	for _, t := range q.Tasks {
		if !t.State.Over() {
			needed[t.From] = true
			for _, id := range t.After {
				needed[id] = true
			}
		}
	}
	tooMany := len(q.Tasks) - session.MaxTasks
	q.Tasks = slices.DeleteFunc(q.Tasks, func(t session.Task) bool {
		goes := tooMany > 0 && t.State.Over() && !needed[t.ID]
		if goes {
			tooMany--
		}
		return goes
	})
	if len(q.Tasks) > session.MaxTasks {
		return errs.New(errs.Usage, "%s: a queue has at most %d tasks", q.Session, session.MaxTasks).Hint("paw queue %s", q.Session)
	}
	return nil
}

// ordered refuses tasks that come after an unknown task or after themselves.
func ordered(q *session.Queue, tasks []session.Task) error {
	byID := map[string]*session.Task{}
	all := q.Clone()
	for i := range tasks {
		byID[tasks[i].ID] = &tasks[i]
		all.Tasks = append(all.Tasks, tasks[i])
	}
	for i := range tasks {
		t := &tasks[i]
		if from := t.From; all.Task(from) != nil && !slices.Contains(t.After, from) {
			t.After = append(t.After, from) // the task begins at the state at the end of task from
		}
		for _, id := range t.After {
			if all.Task(id) == nil {
				e := unknown(all, id)
				e.Kind = errs.Usage
				return e
			}
		}
	}
	done := map[string]bool{}
	var visit func(id string, path []string) error
	visit = func(id string, path []string) error {
		t := byID[id]
		if t == nil || done[id] {
			return nil
		}
		if at := slices.Index(path, id); at >= 0 {
			return errs.New(errs.Usage, "%s: comes after itself: %s", id, strings.Join(append(path[at:], id), " -> "))
		}
		for _, before := range t.After {
			if err := visit(before, append(slices.Clone(path), id)); err != nil {
				return err
			}
		}
		done[id] = true
		return nil
	}
	for _, t := range tasks {
		if err := visit(t.ID, nil); err != nil {
			return err
		}
	}
	return nil
}
