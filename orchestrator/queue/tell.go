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
	"paw/session"
)

// tell starts a process that notifies the user of held tasks, if the configuration asks for it, so
// that the queue can go on.
func (o *ownHands) tell(held []session.Task) {
	n := o.Config.Notify
	if !n.Any() || !slices.Contains(n.Events, config.NotifyHeld) {
		return
	}
	ids := make([]string, len(held))
	for i, t := range held {
		ids[i] = t.ID
	}
	o.Detach("notify", "__held", o.session, strings.Join(ids, ","))
}

// Tell notifies the user, after the configured dwell, of those tasks that are still held.
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
	held := slices.DeleteFunc(list.Tasks, func(t session.Task) bool {
		return !slices.Contains(ids, t.ID) || t.State != session.TaskHeld || t.Why == session.HeldYou || t.Why == list.Held
	})
	if len(held) == 0 {
		return nil
	}
	notice := notify.Notice{
		Version: 1, Event: config.NotifyHeld, Session: s.Name, Agent: held[0].Agent, State: string(session.TaskHeld), At: h.Now().UTC(),
		Text: held[0].What, Repo: s.RepoPath, Words: heldWords(held),
	}
	if w := s.Agent(notice.Agent); w != nil && len(held) == 1 {
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
	return nil
}

// heldWords describes held tasks and their reasons.
func heldWords(held []session.Task) string {
	var ids, why []string
	for _, t := range held {
		ids, why = append(ids, t.ID), append(why, t.Why)
	}
	what := strings.Join(ids, ", ")
	if len(ids) > 3 {
		what = errs.Counted(len(ids), "task")
	}
	return fmt.Sprintf("holds %s: %s", what, strings.Join(app.Once(why), "; "))
}
