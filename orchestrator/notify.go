package orchestrator

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"paw/config"
	"paw/config/poll"
	"paw/orchestrator/app"
	"paw/orchestrator/cli"
	"paw/orchestrator/notify"
	"paw/orchestrator/observe"
	"paw/session"
	"paw/session/turn"
	"paw/tmux"
)

// eventOf returns the event in the last turn of an agent since a moment of which the user may be
// notified, nil for none that matters.
func eventOf(last *turn.Record, since time.Time) *notify.Notice {
	n := notify.Notice{Version: 1}
	switch {
	case last == nil:
		return nil
	case last.State == turn.InProgress && last.Waiting && last.WaitingSince != nil:
		n.Event, n.At, n.Text = config.NotifyWaiting, *last.WaitingSince, last.Question
	case last.Limit != nil && last.LimitedSince != nil:
		n.Event, n.At, n.Text = config.NotifyLimit, *last.LimitedSince, last.ErrorMessage
	case last.State == turn.Finished && last.EndedAt != nil:
		n.Event, n.At, n.Text = config.NotifyFinished, *last.EndedAt, last.Message
	case last.State == turn.Aborted && last.Reason == turn.ReasonError && last.EndedAt != nil:
		n.Event, n.At, n.Text = config.NotifyError, *last.EndedAt, last.ErrorMessage
	default:
		return nil
	}
	if n.Turn = last.Number; n.At.Before(since) {
		return nil
	}
	return &n
}

// wordsOf identifies an event in the arguments of the notifying process.
func wordsOf(n *notify.Notice) []string {
	return []string{n.Event, strconv.Itoa(n.Turn), strconv.FormatInt(n.At.UnixNano(), 10)}
}

// notifyOf starts a process that notifies the user of an agent's event since a moment, if the
// configuration asks for it: the CLI waits for its hook.
func notifyOf(h *app.App, sessionName, agentName string, since time.Time) {
	if !h.Config.Notify.Any() {
		return
	}
	last, err := h.TurnDir(sessionName, agentName).Last()
	if err != nil {
		return
	}
	now := eventOf(last, since)
	if now == nil || !slices.Contains(h.Config.Notify.Events, now.Event) {
		return
	}
	h.Detach("notify", append([]string{"__notify", sessionName, agentName}, wordsOf(now)...)...)
}

// hooksEnd is how long after an event the CLI's own record may still say that the CLI works,
// because its hooks run.
const hooksEnd = 10 * time.Second

// Notify notifies the user of an event, once, after the configured dwell, unless the event is
// obsolete by then or the user is looking at the pane. What fails while it looks is tried again for a
// while. Failures are logged for doctor.
func Notify(ctx context.Context, h *app.App, sessionName, agentName string, words []string) error {
	if !claimNotice(h, sessionName, agentName, strings.Join(words, "-")) {
		return nil
	}
	_, h, err := h.LoadConfigured(sessionName)
	if err != nil {
		return app.UnlessGone(err)
	}
	dwell := time.Duration(h.Config.Notify.Dwell) * time.Second
	poll.Sleep(ctx, dwell)
	var now outcome
	for {
		poll.Until(ctx, 25*poll.Tick, max(hooksEnd-dwell, hooksEnd/2), func() (settled bool) {
			now, err = stillSo(ctx, h, sessionName, agentName, words)
			return now.settled || err != nil && app.UnlessGone(err) == nil
		})
		if err != nil || now.notice == nil {
			return h.Logged("notify", err)
		}
		if now.leaves.IsZero() {
			break
		}
		poll.Sleep(ctx, min(now.leaves.Sub(h.Now()), looking)) // the focus may be lost before
	}
	if err := now.notice.Tell(ctx, h.Config.Notify, h.Env, now.terminals); err != nil {
		h.HookLog().Add("paw", "notify", fmt.Errorf("notify of %s/%s: %w", sessionName, agentName, err))
	}
	return nil
}

// noticePrefix begins the names of files by which one process claims a notification.
const noticePrefix = "notice-"

// claimNotice reports whether no other process has claimed a notification, and deletes old claims.
func claimNotice(h *app.App, sessionName, agentName, what string) bool {
	dir := h.StateDir(sessionName, agentName)
	f, err := os.OpenFile(filepath.Join(dir, noticePrefix+what), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return false
	}
	f.Close()
	old, _ := filepath.Glob(filepath.Join(cli.GlobQuote(dir), noticePrefix+"*"))
	for _, path := range old {
		if info, err := os.Stat(path); err == nil && path != f.Name() && time.Since(info.ModTime()) > time.Hour {
			_ = os.Remove(path)
		}
	}
	return true
}

// looking is how long after a key press the user counts as looking at a terminal that does not
// report its focus.
const looking = 15 * time.Second

// focused is the same for a terminal that tmux takes for one that has the focus: tmux does not tell
// whether a terminal has ever reported it.
const focused = 3 * time.Minute

// outcome tells what has become of an event.
type outcome struct {
	// settled means that the state of the agent and its turn log agree.
	settled   bool
	notice    *notify.Notice // nil when the event is obsolete, or the user has seen it
	terminals []string       // terminals that may show the notice
	leaves    time.Time      // time until which the user counts as looking at the pane, zero if not
}

// stillSo finds out what has become of an event.
func stillSo(ctx context.Context, h *app.App, sessionName, agentName string, words []string) (outcome, error) {
	over := outcome{settled: true}
	s, err := h.Load(sessionName)
	if err != nil {
		return outcome{}, err
	}
	f, err := observe.Observe(ctx, h, s)
	if err != nil {
		return outcome{}, err
	}
	a := f.Agent(agentName)
	if a == nil {
		return over, nil
	}
	now := eventOf(a.Turns.Last, time.Time{})
	if now == nil || !slices.Equal(wordsOf(now), words) {
		return over, nil
	}
	state := observe.States(h, f)[slices.IndexFunc(f.Agents, func(one observe.Agent) bool { return one.Record.Name == agentName })]
	if now.Event == config.NotifyFinished && state.State == session.StateWaitingChildren {
		return over, nil // it goes on by itself
	}
	waits, limited := now.Event == config.NotifyWaiting, now.Event == config.NotifyLimit
	if waits != (state.State == session.StateWaitingInput) || limited != (state.Limit != nil) || state.State == session.StateRunning && !limited {
		return outcome{}, nil
	}
	now.Session, now.Agent, now.CLI, now.State, now.At = s.Name, agentName, a.Record.CLI, string(state.State), now.At.UTC()
	now.Repo, now.Words = s.RepoPath, noticeWords(now, state)
	tell := outcome{settled: true, notice: now}
	if a.Pane == nil {
		return tell, nil
	}
	view, err := h.TmuxFor(s).View(ctx, a.Pane.ID)
	if err != nil {
		return tell, nil //nolint:nilerr // nobody can look at it there, and he can be told in other ways
	}
	seen, leaves := looksUntil(view, now.At, h.Now())
	if seen {
		return over, nil
	}
	tell.leaves = leaves
	tell.terminals = view.Terminals
	return tell, nil
}

func noticeWords(now *notify.Notice, state session.AgentStatus) string {
	switch now.Event {
	case config.NotifyFinished:
		return fmt.Sprintf("has finished turn %d", now.Turn)
	case config.NotifyError:
		return fmt.Sprintf("failed in turn %d", now.Turn)
	case config.NotifyLimit:
		return "is " + state.InWords()
	}
	return state.InWords()
}

// looksUntil reports whether the user has seen an event, by a key since then, and else until when
// the user counts as looking at the pane, zero for not at all.
func looksUntil(view tmux.View, event, now time.Time) (seen bool, leaves time.Time) {
	for _, look := range []struct {
		key   time.Time
		lasts time.Duration
	}{{view.LastKey, looking}, {view.Focused, focused}} {
		if !look.key.Before(event.Truncate(time.Second)) {
			return true, time.Time{}
		}
		if until := look.key.Add(look.lasts); now.Before(until) && until.After(leaves) {
			leaves = until
		}
	}
	return false, leaves
}
