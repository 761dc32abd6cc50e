package queue

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"paw/config"
	"paw/config/poll"
	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/notify"
	"paw/orchestrator/observe"
	"paw/session"
)

func (o *ownHands) tell(tasks []session.Task) {
	n := o.Config.Notify
	if !n.Any() || !slices.Contains(n.Events, config.NotifyHeld) && !slices.Contains(n.Events, config.NotifyError) {
		return
	}
	ids := make([]string, len(tasks))
	for i, t := range tasks {
		ids[i] = t.ID
	}
	o.Detach("notify", "__held", o.session, strings.Join(ids, ","))
}

// Tell notifies the user, after the configured dwell, of those tasks that are still held, and of
// those that have failed.
func Tell(ctx context.Context, h *app.App, sessionName string, ids []string) error {
	s, h, err := h.LoadConfigured(sessionName)
	if err != nil {
		return app.UnlessGone(err)
	}
	poll.Sleep(ctx, time.Duration(h.Config.Notify.Dwell)*time.Second)
	seen, err := Observe(ctx, h, s)
	if err != nil {
		return app.UnlessGone(err)
	}
	list, err := Look(ctx, h, seen)
	if list == nil || err != nil {
		return app.UnlessGone(err)
	}
	for _, kind := range []struct {
		event, words string
		state        session.TaskState
	}{{config.NotifyHeld, "holds %s: %s", session.TaskHeld}, {config.NotifyHeld, "waits with %s: %s", session.TaskWaiting}, {config.NotifyError, "%s failed: %s", session.TaskFailed}} {
		tasks := slices.DeleteFunc(slices.Clone(list.Tasks), func(t session.Task) bool {
			return !slices.Contains(ids, t.ID) || t.State != kind.state || !untold(t) || t.Why == list.Held
		})
		if len(tasks) > 0 && slices.Contains(h.Config.Notify.Events, kind.event) {
			tellOf(ctx, h, seen, tasks, kind.event, kind.words)
		}
	}
	return nil
}

// tellOf sends one notice of tasks that have come to the same; words has places for ids and reasons.
func tellOf(ctx context.Context, h *app.App, seen observe.Facts, tasks []session.Task, event, words string) {
	s := seen.Session
	notice := notify.Notice{
		Version: 1, Event: event, Session: s.Name, Agent: tasks[0].Agent, State: string(tasks[0].State), At: h.Now().UTC(),
		Text: tasks[0].What, Repo: s.RepoPath, Words: wordsOf(words, tasks),
	}
	if event == config.NotifyError {
		notice.Text = tasks[0].Why
	}
	if w := s.Agent(notice.Agent); w != nil && len(tasks) == 1 {
		notice.CLI = w.CLI
	} else {
		notice.Agent = ""
	}
	var terminals []string // that show a pane of the session
	for _, a := range seen.Agents {
		if a.Pane != nil {
			terminals = append(terminals, a.Pane.Terminals...)
		}
	}
	if err := notice.Tell(ctx, h.Config.Notify, h.Env, app.Once(terminals)); err != nil {
		h.HookLog().Add("paw", "notify", fmt.Errorf("queue of %s: %w", s.Name, err))
	}
}

// wordsOf puts the ids of tasks and their reasons into words.
func wordsOf(words string, tasks []session.Task) string {
	var ids, why []string
	for _, t := range tasks {
		ids, why = append(ids, t.ID), append(why, t.Why)
	}
	what := strings.Join(ids, ", ")
	if len(ids) > 3 {
		what = errs.Counted(len(ids), "task")
	}
	return fmt.Sprintf(words, what, strings.Join(app.Once(why), "; "))
}
