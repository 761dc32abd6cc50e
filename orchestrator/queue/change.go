package queue

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"paw/config"
	"paw/orchestrator/errs"
	"paw/session"
)

// Hold keeps tasks from beginning, or the whole queue if ids is empty. It returns a line for each
// task that it cannot hold.
func Hold(q *session.Queue, ids []string) (said []string) {
	if len(ids) == 0 {
		q.Held = session.HeldYou
		return nil
	}
	for _, id := range ids {
		switch t := q.Task(id); t.State {
		case session.TaskWaiting:
			t.State, t.Why = session.TaskHeld, session.HeldYou
		case session.TaskRunning:
			said = append(said, worksOn(q.Session, *t))
		case session.TaskHeld:
		default:
			said = append(said, fmt.Sprintf("%s: is %s", id, t.State))
		}
	}
	return said
}

// holdOpen holds a queue in which something is not over: it holds nothing for what is queued later.
func holdOpen(q *session.Queue, why string) {
	if slices.ContainsFunc(q.Tasks, func(t session.Task) bool { return !t.State.Over() }) {
		q.Held = cmp.Or(q.Held, why)
	}
}

// known returns the CLI of an agent, "" for an agent that does not exist, and the number of the
// agent's last turn, counting prompts that were typed and have not begun a turn yet.
type known func(agent string) (cli string, turn int)

// Go releases tasks, or the whole queue if ids is empty, from whatever holds them: a person, a
// stop, a limit, a breaker, or an earlier task that was not done. Where the whole queue is held the
// other tasks stay held. It does not repeat prompts that may have been typed, and returns a line for
// each of them.
func Go(q *session.Queue, ids []string, of known) (said []string) {
	if len(ids) == 0 {
		q.Held, q.Blocks = "", map[string]session.Block{}
		for _, t := range q.Tasks {
			if !t.State.Over() {
				ids = append(ids, t.ID)
			}
		}
	}
	held := q.Held
	for _, id := range ids {
		t := q.Task(id)
		if t.State.Over() {
			line := fmt.Sprintf("%s: is %s", id, t.State)
			if t.State != session.TaskDone {
				line += fmt.Sprintf("; %s begins it again", errs.Line("paw queue retry %s", id))
			}
			said = append(said, line)
			continue
		}
		q.Held = ""
		letGo(q, t, of)
		switch cli, _ := of(t.Agent); {
		case t.State != session.TaskHeld:
		case cli == "" && t.Kind == session.PromptTask && len(t.CLIs) == 0:
			said = append(said, noAgent(t))
		case cli == "":
			said = append(said, fmt.Sprintf("%s: its agent is not there, and is not made again; %s does it", id, errs.Line("paw queue retry %s", id)))
		default:
			said = append(said, fmt.Sprintf("%s: may have been typed, and is not repeated; %s does it", id, errs.Line("paw queue retry %s", id)))
		}
	}
	for i := range q.Tasks {
		if t := &q.Tasks[i]; held != "" && q.Held == "" && t.State == session.TaskWaiting && !slices.Contains(ids, t.ID) {
			t.State, t.Why = session.TaskHeld, session.HeldYou
		}
	}
	return said
}

func letGo(q *session.Queue, t *session.Task, of known) {
	cli, turn := of(t.Agent)
	if lane, there := q.Lanes[t.Agent]; there {
		lane.Held, lane.Seen = false, max(lane.Seen, turn) // earlier typing of the user does not hold the agent any more
		q.Lanes[t.Agent] = lane
	}
	for key, b := range q.Blocks {
		if b.CLI == cli || t.Kind == session.AgentTask && slices.Contains(t.CLIs, b.CLI) {
			delete(q.Blocks, key)
		}
	}
	clear(q.Quick)
	t.After = slices.DeleteFunc(slices.Clone(t.After), func(id string) bool {
		before := q.Task(id)
		return before != nil && before.State.Over() && before.State != session.TaskDone
	})
	switch {
	case t.State == session.TaskWaiting && t.Kind == session.PromptTask:
		t.Limited, t.NotYet = false, time.Time{}
	case t.State != session.TaskHeld:
	case strings.HasPrefix(t.Why, session.HeldCheck):
		t.State, t.Why, t.Checking = session.TaskRunning, "", true
	case strings.HasPrefix(t.Why, "limit:"):
		t.State, t.Why, t.Text, t.Kind, t.Limited, t.Limits, t.Typed = session.TaskWaiting, "", session.TextContinue, session.PromptTask, false, 0, false
	case !t.Typed:
		t.State, t.Why = session.TaskWaiting, ""
	}
}

// Retry begins tasks again, also those whose prompt was typed: with the same agent if it exists,
// else with a new one. seen returns a task as the user sees it.
func Retry(q *session.Queue, ids []string, of known, seen func(session.Task) session.Task) (said []string) {
	for _, id := range ids {
		t := q.Task(id)
		cli, _ := of(t.Agent)
		gone := t.State == session.TaskWaiting && t.Kind == session.PromptTask && cli == "" // its agent was removed
		if !gone && t.State != session.TaskHeld && t.State != session.TaskFailed && t.State != session.TaskDropped {
			said = append(said, notBegun(q.Session, seen(*t), cli != ""))
			continue
		}
		if cli == "" && t.Kind == session.PromptTask && len(t.CLIs) == 0 {
			said = append(said, noAgent(t))
			continue
		}
		t.State = session.TaskHeld
		letGo(q, t, of)
		t.State, t.Why, t.Turn, t.Tries, t.Limits, t.Typed, t.Limited, t.Checking = session.TaskWaiting, "", 0, 0, 0, false, false, false
		t.Text, t.Checking, t.Commit = session.TextPrompt, t.On != "", ""
		switch {
		case t.Agent != "" && cli != "":
			t.Kind = session.PromptTask
		case len(t.CLIs) > 0:
			t.Kind, t.Agent = session.AgentTask, ""
		}
	}
	return said
}

// noAgent says of a task that its agent was removed.
func noAgent(t *session.Task) string {
	return fmt.Sprintf("%s: there is no agent %s any more; %s takes it out", t.ID, t.Agent, errs.Line("paw queue drop %s", t.ID))
}

// notBegun says of a task that is not begun again how it is, and why or what helps.
func notBegun(sessionName string, t session.Task, agentThere bool) string {
	switch {
	case t.State == session.TaskHeld:
		return fmt.Sprintf("%s: is held, and was not typed yet: %s", t.ID, withCure(sessionName, t))
	case t.State == session.TaskRunning && agentThere:
		return worksOn(sessionName, t)
	case t.State == session.TaskDone && agentThere:
		return fmt.Sprintf("%s: is done; %s asks its agent for more", t.ID, errs.Line("paw send %s/%s", sessionName, t.Agent))
	}
	return fmt.Sprintf("%s: is %s", t.ID, t.State)
}

// worksOn says of a task that an agent is at it, and how to end that.
func worksOn(sessionName string, t session.Task) string {
	return fmt.Sprintf("%s: %s works on it already; %s ends that", t.ID, t.Agent, errs.Line("paw stop %s/%s", sessionName, t.Agent))
}

// Drop removes tasks. An agent that works on one goes on.
func Drop(q *session.Queue, ids []string) (said []string) {
	for _, id := range ids {
		t := q.Task(id)
		if t.State.Over() {
			said = append(said, fmt.Sprintf("%s: is %s", id, t.State))
			continue
		}
		if t.State == session.TaskRunning {
			said = append(said, fmt.Sprintf("%s: %s works on", id, t.Agent))
		}
		t.State, t.Why, t.Checking = session.TaskDropped, session.HeldYou, false
	}
	return said
}

// Named refuses ids that no task has.
func Named(q *session.Queue, ids []string) error {
	for _, id := range ids {
		if q.Task(id) == nil {
			return unknown(q, id)
		}
	}
	return nil
}

// unknown returns the error for an id that no task has, with the most similar id.
func unknown(q *session.Queue, id string) *errs.Error {
	all := make([]string, len(q.Tasks))
	for i, t := range q.Tasks {
		all[i] = t.ID
	}
	e := errs.New(errs.NotFound, "%s: no such task in the queue of %s", id, q.Session)
	if near := config.Nearest(id, all); near != "" {
		e.Message += fmt.Sprintf(" (did you mean %s?)", near)
	}
	return e.Hint("paw queue %s", q.Session)
}

// taskError is the error of one of several tasks.
type taskError struct {
	index int
	error
}

func (e *taskError) Unwrap() error { return e.error }

// Add appends tasks to a queue, all or none, and gives an id to those without one. seen returns the
// number of an agent's last turn, counting prompts that were typed and have not begun a turn yet.
func Add(q *session.Queue, tasks []session.Task, seen func(agent string) int) error {
	for i := range tasks {
		t := &tasks[i]
		t.State = session.TaskWaiting
		taken := func(id string) bool {
			return q.Task(id) != nil || q.RaceOf(id) != nil || slices.ContainsFunc(tasks, func(o session.Task) bool { return o.ID == id })
		}
		if t.ID == "" {
			for q.Last++; taken(fmt.Sprintf("t%d", q.Last)); q.Last++ {
			}
			t.ID = fmt.Sprintf("t%d", q.Last)
		}
		if err := session.ValidateTaskID(t.ID); err != nil {
			return &taskError{i, errs.New(errs.Usage, "%w", err)}
		}
		if q.Task(t.ID) != nil || slices.ContainsFunc(tasks[:i], func(o session.Task) bool { return o.ID == t.ID }) {
			return &taskError{i, errs.New(errs.Usage, "%s: there is a task of that id", t.ID).Hint("paw queue %s", q.Session)}
		}
		onCI := func(o session.Task) bool { return o.On != "" && o.Agent == t.Agent && !o.State.Over() }
		if has := slices.IndexFunc(q.Tasks, onCI); t.On != "" && has >= 0 {
			return &taskError{i, errs.New(errs.Refused, "%s: gets the failed checks of its pull request from %s already", t.Agent, q.Tasks[has].ID).Hint("paw queue %s", q.Session)}
		}
		if r := q.RaceOf(t.ID); r != nil { // its task may have left the list
			return &taskError{i, errs.New(errs.Usage, "%s: is a task of the race %s", t.ID, r.Name).Hint("paw race %s", r.Name)}
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
	forgetSome(q, len(q.Tasks)-session.MaxTasks, everyOne)
	if len(q.Tasks) > session.MaxTasks {
		return errs.New(errs.Usage, "%s: a queue has at most %d tasks", q.Session, session.MaxTasks).Hint("paw queue %s", q.Session)
	}
	return nil
}

func everyOne(session.Task) bool { return true }

// forgetSome removes so many of the oldest tasks that are over and for which old holds, unless
// unfinished tasks come after them, and returns their ids.
func forgetSome(q *session.Queue, most int, old func(session.Task) bool) (gone []string) {
	needed := map[string]bool{}
	for _, t := range q.Tasks {
		if !t.State.Over() {
			needed[t.From] = true
			for _, id := range t.After {
				needed[id] = true
			}
		}
	}
	q.Tasks = slices.DeleteFunc(q.Tasks, func(t session.Task) bool {
		goes := len(gone) < most && t.State.Over() && !needed[t.ID] && old(t)
		if goes {
			gone = append(gone, t.ID)
		}
		return goes
	})
	return gone
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
				return &taskError{i, e}
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
	for i, t := range tasks {
		if err := visit(t.ID, nil); err != nil {
			return &taskError{i, err}
		}
	}
	return nil
}
