package orchestrator

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"paw/config"
	"paw/config/poll"
	"paw/orchestrator/app"
	"paw/orchestrator/children"
	"paw/orchestrator/live"
	"paw/orchestrator/observe"
	"paw/orchestrator/queue"
	"paw/orchestrator/turns"
	"paw/session"
	"paw/session/turn"
)

// How a turn is followed that may not be over, or behind which a prompt waits: often at first, and
// for a minute at most. The next report or command finds what happens later.
const (
	followPatience = time.Minute
	followFirst    = 20 * time.Millisecond
	followMost     = 500 * time.Millisecond
)

// follow starts a process that watches how the CLI goes on after an end that may not be final,
// since the CLI waits for its hook: it begins once the process after has ended, 0 for none. If it
// never starts, the next report or command finds out.
func follow(h *app.App, sessionName, agentName string, after int) {
	h.Detach("follow", "__follow", sessionName, agentName, fmt.Sprint(after))
}

// Follow applies what the CLI's own record tells about an agent's turns after an end, until the
// agent is idle or has begun another turn. It first waits for the process hook to end.
func Follow(ctx context.Context, h *app.App, sessionName, agentName string, hook int) error {
	ctx, cancel := context.WithTimeout(ctx, followPatience)
	defer cancel()
	app.AwaitHook(ctx, hook)
	for pause := followFirst; ctx.Err() == nil; pause = min(2*pause, followMost) {
		done, err := followOnce(ctx, h, sessionName, agentName)
		if err = h.Logged("follow", err); done || err != nil {
			return err
		}
		poll.Sleep(ctx, pause)
	}
	return nil
}

// followOnce looks once; done means that there is nothing more to follow.
func followOnce(ctx context.Context, h *app.App, sessionName, agentName string) (done bool, err error) {
	s, err := h.Load(sessionName)
	if err != nil {
		return true, err
	}
	w := s.Agent(agentName)
	lock, err := h.Locks.ProbeAgent(sessionName, agentName)
	if w == nil || err != nil || lock.State != session.LockHeld {
		return true, err // the command that ended the CLI, or recover, closes the turns
	}
	last, err := h.TurnDir(s.Name, w.Name).Last()
	if err != nil || last == nil {
		return true, err
	}
	seen := observe.AskRecord(ctx, h.Agent(s, w), last)
	ended := last.State == turn.InProgress && seen.Ended != nil
	behind := len(seen.Later) > 0 || ended && (last.Held != nil || endedUnseen(h.Agent(s, w)))
	if !behind {
		rests := seen.Known && !seen.Busy && !seen.Waiting
		open := last.State == turn.InProgress
		if rests && !open {
			turns.NothingQueued(h, s.Name, w.Name)
			showStates(ctx, h, s)
		}
		held := last.Held != nil && last.Held.Subagents == 0 // subagents take their time, and a hook reports them
		return rests && !open || open && !held && !ended, nil
	}
	err = takeMissed(ctx, h.Agent(s, w))
	showStates(ctx, h, s)
	return false, err
}

// FollowAnswer starts a process that writes down the end of a turn after an answer to a dialog:
// some CLIs run no hook after a refusal.
func FollowAnswer(h *app.App, s *session.Session, agentName string) {
	follow(h, s.Name, agentName, os.Getpid())
}

// FollowEnd starts a process that writes down the end of a turn which no hook reports, as after an Esc, while this one goes on.
func FollowEnd(h *app.App, s *session.Session, agentName string) { follow(h, s.Name, agentName, 0) }

// FollowUnseen starts a process for each turn that has ended by what the agents' states show and is
// still open in its log, to write down the end. It serves commands that only show agents. told,
// unless nil, keeps the turns for which that was done, so that it is done once.
func FollowUnseen(h *app.App, st observe.SessionStatus, told map[string]int) {
	for _, a := range st.Agents {
		key := st.Session.Name + "/" + a.Record.Name
		if !a.State.Rests() || a.PID == 0 || a.CurrentTurn == 0 || told[key] == a.CurrentTurn {
			continue
		}
		follow(h, st.Session.Name, a.Record.Name, 0)
		if told != nil {
			told[key] = a.CurrentTurn
		}
	}
}

// ShowStates updates the states on the borders of a session's panes, which also change without a
// hook. tmux runs it while a terminal shows the session.
func ShowStates(ctx context.Context, h *app.App, sessionName string) error {
	s, h, err := h.LoadConfigured(sessionName)
	if err != nil {
		return app.UnlessGone(err)
	}
	for i := range s.Agents {
		if w := &s.Agents[i]; endedUnseen(h.Agent(s, w)) {
			follow(h, s.Name, w.Name, 0) // closing the turn may take longer than a border can wait
		}
	}
	showStates(ctx, h, s)
	return nil
}

// CloseUnseen writes the ends of turns into the logs that no hook has reported and that the CLIs'
// own records contain, such as an Esc in claude: the snapshot of such an end is taken when it is
// first noticed. Without names it looks at all agents. An error is logged, and the turn is then
// shown as the CLI's record has it.
func CloseUnseen(ctx context.Context, h *app.App, s *session.Session, agents ...string) {
	for i := range s.Agents {
		w := &s.Agents[i]
		if len(agents) > 0 && !slices.Contains(agents, w.Name) || !awaitUnseen(ctx, h.Agent(s, w)) {
			continue
		}
		if err := takeMissed(ctx, h.Agent(s, w)); err != nil {
			h.HookLog().Add(w.CLI, "unseen", err)
		}
	}
}

// awaitUnseen waits until it is certain whether the open turn has ended, and returns endedUnseen:
// paw status shows an end at once, and later changes must not be counted to the turn.
func awaitUnseen(ctx context.Context, a app.Agent) bool {
	poll.Until(ctx, 10*poll.Tick, turns.ListGrace, func() bool {
		seen, open := openTurn(a)
		return !open || !seen.EndedUnseen(0) || seen.EndedUnseen(turns.ListGrace)
	})
	return endedUnseen(a)
}

// endedUnseen reports whether the CLI's own record has the end of the open turn of a running agent,
// and has had it for so long that no hook will report it.
func endedUnseen(a app.Agent) bool {
	seen, open := openTurn(a)
	return open && seen.EndedUnseen(turns.ListGrace)
}

// openTurn observes an agent that runs and whose last turn is open in its log.
func openTurn(a app.Agent) (seen live.Observation, open bool) {
	last, err := a.TurnDir().Last()
	if err != nil || last == nil || last.State != turn.InProgress {
		return seen, false
	}
	lock, err := a.ProbeLock()
	if err != nil || lock.State != session.LockHeld {
		return seen, false
	}
	return observe.InPane(a, lock), true
}

// takeMissed writes what the CLI's own record has of an agent's turns into their logs, and after an
// end notifies the user, the parent and the queue.
func takeMissed(ctx context.Context, a app.Agent) error {
	ended, err := turns.TakeMissed(ctx, a)
	if ended {
		notifyOf(a.App, a.Session.Name, a.Record.Name, time.Time{}) // no hook has reported the end
		children.ClaimAfter(a.App, a.Session.Name, a.Record.Name, 0, true)
		queue.Wake(a.App, a.Session.Name, 0, limited(a.App, a.Session.Name, a.Record.Name, true))
	}
	return err
}

// limits reports whether the configuration wants something done about usage limits.
func limits(h *app.App) bool { return h.Config.Limits.Then != config.ThenTell }

// limited reports whether a limit has ended the last turn of an agent, and the configuration wants
// something done about that.
func limited(h *app.App, sessionName, agentName string, ended bool) bool {
	if !ended || !limits(h) {
		return false
	}
	last, err := h.TurnDir(sessionName, agentName).Last()
	return err == nil && last != nil && last.Limit != nil
}
