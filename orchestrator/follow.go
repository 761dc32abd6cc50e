package orchestrator

import (
	"context"
	"fmt"
	"os"
	"time"

	"paw/config/poll"
	"paw/orchestrator/app"
	"paw/orchestrator/observe"
	"paw/orchestrator/turns"
	"paw/session"
	"paw/session/turn"
)

// How a turn is followed that may not be over, or that another prompt waits behind: often at first, and for a minute at
// most. What happens later is found by the next report or command.
const (
	followPatience = time.Minute
	followFirst    = 20 * time.Millisecond
	followMost     = 500 * time.Millisecond
)

// follow lets a process of its own look how the CLI goes on after an end that it may not keep to, since the CLI waits
// for its hook. Should it never start, the next report or command finds out.
func follow(h *app.App, sessionName, agentName string) {
	if h.Follower != nil {
		h.Follower(sessionName, agentName)
		return
	}
	if err := h.StartDetached([]string{"__follow", sessionName, agentName, fmt.Sprint(os.Getpid())}); err != nil {
		h.LogHook("paw", "follow", err)
	}
}

// Follow applies what the CLI's own record tells of an agent's turns after an end, until the agent rests or has begun
// another turn. hook is the process that has to end first.
func Follow(ctx context.Context, h *app.App, sessionName, agentName string, hook int) error {
	ctx, cancel := context.WithTimeout(ctx, followPatience)
	defer cancel()
	app.AwaitHook(ctx, hook)
	for pause := followFirst; ctx.Err() == nil; pause = min(2*pause, followMost) {
		done, err := followOnce(ctx, h, sessionName, agentName)
		if err = app.UnlessGone(err); err != nil {
			h.LogHook("paw", "follow", err)
		}
		if done || err != nil {
			return err
		}
		poll.Sleep(ctx, pause)
	}
	return nil
}

// followOnce looks once; done tells that there is nothing more to see.
func followOnce(ctx context.Context, h *app.App, sessionName, agentName string) (done bool, err error) {
	s, err := h.Load(sessionName)
	if err != nil {
		return true, err
	}
	w := s.Agent(agentName)
	lock, err := h.Locks.ProbeAgent(sessionName, agentName)
	if w == nil || err != nil || lock.State != session.LockHeld {
		return true, err // what ended it, or who recovers it, closes its turns
	}
	last, err := h.TurnDir(s.Name, w.Name).Last()
	if err != nil || last == nil {
		return true, err
	}
	seen := observe.AskRecord(ctx, h, s, w, last)
	ended := last.State == turn.InProgress && seen.Ended != nil
	behind := len(seen.Later) > 0 || ended && (last.Held != nil || endedUnseen(h, s, w))
	if !behind {
		rests := seen.Known && !seen.Busy && !seen.Waiting
		open := last.State == turn.InProgress
		if rests && !open {
			turns.NothingQueued(h, s.Name, w.Name)
			showStates(ctx, h, s)
		}
		held := last.Held != nil && last.Held.Subagents == 0 // subagents take their time, and are reported
		return rests && !open || open && !held && !ended, nil
	}
	_, err = takeMissed(ctx, h, s, w)
	showStates(ctx, h, s)
	return false, err
}
