package orchestrator

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"paw/orchestrator/agent"
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
func (p *Paw) follow(sessionName, agentName string) {
	if p.follower != nil {
		p.follower(sessionName, agentName)
		return
	}
	if err := p.startDetached([]string{"__follow", sessionName, agentName, fmt.Sprint(os.Getpid())}); err != nil {
		p.logHook("paw", "follow", err)
	}
}

// Follow applies what the CLI's own record tells of an agent's turns after an end, until the agent rests or has begun
// another turn. hook is the process that has to end first.
func (p *Paw) Follow(ctx context.Context, sessionName, agentName string, hook int) error {
	ctx, cancel := context.WithTimeout(ctx, followPatience)
	defer cancel()
	awaitHook(ctx, hook)
	for pause := followFirst; ctx.Err() == nil; pause = min(2*pause, followMost) {
		done, err := p.followOnce(ctx, sessionName, agentName)
		if err = withoutGone(err); err != nil {
			p.logHook("paw", "follow", err)
		}
		if done || err != nil {
			return err
		}
		settle(ctx, pause)
	}
	return nil
}

// followOnce looks once; done tells that there is nothing more to see.
func (p *Paw) followOnce(ctx context.Context, sessionName, agentName string) (done bool, err error) {
	s, err := p.load(sessionName)
	if err != nil {
		return true, err
	}
	w := s.Worktree(agentName)
	lock, err := p.Locks.ProbeAgent(sessionName, agentName)
	if w == nil || err != nil || lock.State != session.LockHeld {
		return true, err // what ended it, or who recovers it, closes its turns
	}
	last, err := p.turnDir(s.Name, w.Agent).Last()
	if err != nil || last == nil {
		return true, err
	}
	seen := p.observed(ctx, s, w, last)
	behind := len(seen.Later) > 0 || last.Held != nil && last.State == turn.InProgress && seen.Ended != nil
	if !behind {
		rests := seen.Known && !seen.Busy && !seen.Waiting
		open := last.State == turn.InProgress
		if rests && !open {
			p.nothingQueued(s.Name, w.Agent)
			p.showStates(ctx, s)
		}
		return rests && !open || open && last.Held == nil, nil
	}
	ended := false
	err = p.withTurns(ctx, s, w, func(t *turns) error {
		defer func() { ended = t.ended }()
		return t.takeMissed(ctx)
	})
	if ended {
		p.claimAfter(sessionName, agentName, Claim{})
	}
	p.showStates(ctx, s)
	return false, err
}

// takeMissed applies what the CLI's own record tells of the last turn and of those behind it, where no report of its
// own does.
func (t *turns) takeMissed(ctx context.Context) error {
	last, err := t.dir.Last()
	if err != nil || last == nil {
		return err
	}
	seen := t.p.observed(ctx, t.s, t.w, last)
	missed := seen.Later
	if last.State == turn.InProgress && seen.Ended != nil {
		missed = append([]turn.Event{*seen.Ended}, missed...)
	}
	for _, one := range missed {
		if err := t.apply(ctx, last, one); err != nil {
			return err
		}
		if last, err = t.dir.Last(); err != nil {
			return err
		}
	}
	return nil
}

// somethingQueued marks that a prompt waits behind a turn, for CLIs that do not report when they begin with it: then
// their hooks report tools, too.
func (p *Paw) somethingQueued(sessionName, agentName string) {
	_ = os.WriteFile(p.queuedMark(sessionName, agentName), nil, 0o600)
}

func (p *Paw) nothingQueued(sessionName, agentName string) {
	_ = os.Remove(p.queuedMark(sessionName, agentName))
}

func (p *Paw) queuedMark(sessionName, agentName string) string {
	return filepath.Join(p.stateDir(sessionName, agentName), agent.QueuedMark)
}
