package orchestrator

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"paw/config/poll"
	"paw/orchestrator/app"
	"paw/orchestrator/children"
	"paw/orchestrator/cli"
	"paw/orchestrator/live"
	"paw/orchestrator/observe"
	"paw/orchestrator/queue"
	"paw/orchestrator/turns"
	"paw/session/turn"
)

// hookPatience bounds a hook, without the time for its snapshots: the CLI waits for the hook.
const hookPatience = 8 * time.Second

// Report is one call of a CLI's hook.
type Report struct {
	CLI, Event string
	Payload    []byte
	Caller     int    // process that called the hook
	Taken      func() // called once no other report of the agent can be taken before this one
}

// AwaitsEnd reports whether a CLI makes its user wait for a hook whose answer it does not need.
// Another process may then do the work of the hook, once it holds the agent's turn lock.
func AwaitsEnd(h *app.App, cliName, event string) bool {
	cli, known := h.CLIs.Get(cliName)
	return known && cli.AwaitsEnd(event)
}

// Hook processes one report of a CLI's hook. The CLI never sees a failure: errors are logged for
// doctor.
func Hook(ctx context.Context, h *app.App, r Report) {
	ctx, cancel := context.WithTimeout(ctx, hookPatience+2*time.Duration(h.Config.Turns.SnapshotSeconds)*time.Second)
	defer cancel()
	if err := hook(ctx, h, r); err != nil {
		h.HookLog().Add(r.CLI, r.Event, err)
	}
}

func hook(ctx context.Context, h *app.App, r Report) error {
	sessionName, agentName, generation, ok := observe.ParseLaunch(h.Getenv("PAW_LAUNCH"))
	if !ok {
		return nil // not an agent of paw
	}
	s, err := h.Store.Load(sessionName)
	if err != nil || s == nil {
		return err
	}
	w := s.Agent(agentName)
	c, known := h.CLIs.Get(r.CLI)
	if w == nil || !known || w.CLI != r.CLI {
		return nil // for example another CLI that the agent started with paw's environment
	}
	lock, err := h.Locks.ProbeAgent(sessionName, agentName)
	if err != nil {
		return err
	}
	if lock.Holder.PID == 0 { // the lock file is gone
		f, err := observe.Revived(ctx, h, s)
		if err != nil {
			return err
		}
		lock = f.Agent(agentName).Lock
	}
	e, err := c.Event(r.Event, r.Payload)
	if err != nil {
		return err
	}
	// The agent may run its own CLI once more, with paw's environment: such a nested CLI is
	// ignored. A conversation that the CLI has moved out of the pane looks the same, but is the
	// agent's. Its new id counts from its first prompt on, before which it cannot be resumed. Its
	// process may have the environment of an earlier launch.
	nested := !c.Facts().OwnHooks && lock.Holder.Nested(filepath.Base(c.Program()), r.Caller)
	over := lock.Holder.Generation != generation
	away := (nested || over || e.Conversation != w.Conversation()) && slices.ContainsFunc(c.Away(h.Specs().Read(s, w, "")), func(a cli.Away) bool {
		return a.Conversation == e.Conversation
	})
	if (nested || over) && !away || away && e.Kind == turn.KindSessionStart {
		return nil
	}
	if h.Mistake != nil { // doctor tells the user why a turn was not notified
		h.HookLog().Add(r.CLI, r.Event, fmt.Errorf("taken with a mistake in the configuration: %w", h.Mistake))
	}
	generation = lock.Holder.Generation
	if e.Kind == turn.KindIdle {
		if e, err = rested(ctx, h.Agent(s, w), c, e); err != nil {
			return err
		}
	}
	launch := observe.LaunchID(sessionName, agentName, generation)
	observe.MarkHooks(h.Agent(s, w), generation)
	var prompt error // of recording a prompt
	defer func() { observe.NoteUnrecorded(h, sessionName, agentName, launch, prompt) }()
	reported := h.Now()
	ended, unsure, leaving := false, false, ""
	began, showing := false, sync.WaitGroup{}
	defer func() {
		showing.Wait()
		if !began || ended {
			showOnBorder(ctx, h, w, sessionName)()
		}
	}()
	err = turns.Change(ctx, h.Agent(s, w), func(t *turns.Recorder) error {
		if r.Taken != nil {
			r.Taken()
		}
		t.Launch = launch
		t.Started = func() { // while the snapshot is made, for which the CLI waits
			began = true
			showing.Go(showOnBorder(ctx, h, w, sessionName))
		}
		defer func() {
			ended, unsure = t.Ended, t.Held
			if t.Joined {
				turns.SomethingQueued(h, sessionName, agentName)
			}
		}()
		if e.Kind == "" || e.Child || !away && turns.ForeignConversation(c.Facts(), t.Record.Conversation(), e) {
			return nil
		}
		if turns.Exits(e) {
			leaving = agentName
		}
		return t.Take(ctx, e)
	})
	if err != nil && e.Kind == turn.KindPrompt {
		if last, _ := h.TurnDir(sessionName, agentName).Last(); last == nil || last.State != turn.InProgress {
			prompt = err // no open turn shows that the agent works
		}
	}
	if _, err := os.Lstat(turns.QueuedMark(h, sessionName, agentName)); unsure || ended && err == nil {
		follow(h, sessionName, agentName)
	}
	notifyOf(h, sessionName, agentName, reported)
	if ended || leaving != "" {
		children.ClaimAfter(h, sessionName, agentName, live.Claim{Leaving: leaving, Hook: os.Getpid()})
	}
	if ended || leaving != "" || began && (c.Facts().SilentErrors || queue.AwaitsTurn(h, sessionName, agentName)) {
		queue.Wake(h, sessionName, os.Getpid(), limited(h, sessionName, agentName, ended) || began && !ended && limits(h))
	}
	return err
}

// idlePatience bounds the wait for the record of a turn's end.
const idlePatience = 5 * time.Second

// rested takes the report that a CLI waits for a prompt, which does not say how the open turn ended:
// it waits until the CLI's record tells. It returns an event without a kind where the turn has ended
// otherwise.
func rested(ctx context.Context, a app.Agent, c cli.CLI, e turn.Event) (ended turn.Event, err error) {
	if err := c.Rests(a.App.Specs().Read(a.Session, a.Record, ""), e); err != nil {
		return turn.Event{}, err
	}
	poll.Until(ctx, poll.Tick, idlePatience, func() bool {
		last, err := a.TurnDir().Last()
		if err != nil || last == nil || last.State != turn.InProgress || !e.At.After(last.StartedAt) {
			return true
		}
		seen := observe.AskRecord(ctx, a, last)
		if seen.Ended != nil {
			ended = *seen.Ended
		}
		return seen.Ended != nil
	})
	return ended, nil
}
