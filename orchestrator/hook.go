package orchestrator

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"paw/config/poll"
	"paw/orchestrator/app"
	"paw/orchestrator/children"
	"paw/orchestrator/cli"
	"paw/orchestrator/observe"
	"paw/orchestrator/queue"
	"paw/orchestrator/turns"
	"paw/session"
	"paw/session/turn"
)

// hookPatience bounds a hook, without the time for its snapshots: the CLI waits for the hook.
const hookPatience = 8 * time.Second

// Report is one call of a CLI's hook.
type Report struct {
	CLI, Event string
	Payload    []byte
	Caller     int       // process that called the hook
	Taken      func()    // called once no other report of the agent can be taken before this one
	Answer     io.Writer // gets what the CLI reads of the hook
}

// AwaitsEnd reports whether a CLI makes its user wait for a hook whose answer it does not need.
// Another process may then do the work of the hook, once it holds the agent's turn lock.
func AwaitsEnd(h *app.App, cliName, event string) bool {
	cli, known := h.CLIs.Get(cliName)
	return known && slices.Contains(cli.Facts().AwaitsEnd, event)
}

// Hook processes one report of a CLI's hook. The CLI never sees a failure: errors are logged for
// doctor.
func Hook(ctx context.Context, h *app.App, r Report) {
	ctx, cancel := context.WithTimeout(ctx, hookPatience+time.Duration(2*h.Config.Turns.SnapshotSeconds)*time.Second)
	defer cancel()
	if err := hook(ctx, h, r); err != nil {
		h.HookLog().Add(r.CLI, r.Event, err)
	}
}

func hook(ctx context.Context, h *app.App, r Report) error {
	c, err := callOf(ctx, h, r)
	if c == nil || err != nil {
		return err
	}
	c.event, err = c.cli.Event(r.Event, r.Payload)
	if err != nil || c.ofAnother() {
		return err
	}
	c.logMistake()
	if err := c.awaitRest(ctx); err != nil {
		return err
	}
	observe.MarkHooks(c.Agent, c.lock.Holder.Generation)
	came := h.Now()
	err = c.record(ctx)
	c.noteUnrecorded(err)
	c.tellUser(came)
	c.tellAgents()
	c.showState(ctx)
	if err == nil && r.Answer != nil {
		// Without the time limit of ctx: the user may take as long as he likes.
		_, err = io.WriteString(r.Answer, c.cli.Decide(context.WithoutCancel(ctx), h.Specs().Read(c.Session, c.Record, ""), r.Event, r.Payload))
	}
	return err
}

// call is one call of a hook by an agent's CLI, and what became of the agent's turns by it.
type call struct {
	app.Agent
	cli    cli.CLI
	report Report
	lock   session.AgentLock
	event  turn.Event
	away   bool // the event is of a conversation that the CLI has moved out of the pane

	began   bool           // a turn has begun
	ended   bool           // a turn has ended
	unsure  bool           // a turn may have ended
	leaving bool           // the CLI is about to end
	showing sync.WaitGroup // writes the state at the beginning of a turn
}

// callOf returns the call with its agent. It returns nil for a program that is no agent of paw, such
// as another CLI that an agent started with paw's environment.
func callOf(ctx context.Context, h *app.App, r Report) (*call, error) {
	sessionName, agentName, _, ok := observe.ParseLaunch(h.Getenv("PAW_LAUNCH"))
	if !ok {
		return nil, nil
	}
	s, err := h.Store.Load(sessionName)
	if err != nil || s == nil {
		return nil, err
	}
	w := s.Agent(agentName)
	c, known := h.CLIs.Get(r.CLI)
	if w == nil || !known || w.CLI != r.CLI {
		return nil, nil
	}
	one := &call{Agent: h.Agent(s, w), cli: c, report: r}
	if one.lock, err = one.ProbeLock(); err != nil || one.lock.Holder.PID != 0 {
		return one, err
	}
	f, err := observe.Revived(ctx, h, s) // the lock file is gone
	if err != nil {
		return nil, err
	}
	one.lock = f.Agent(agentName).Lock
	return one, nil
}

// ofAnother reports whether the event is not the agent's. The agent may run its own CLI once more,
// with paw's environment: such a nested CLI is ignored. A conversation that the CLI has moved out of
// the pane looks the same, but is the agent's. Its new id counts from its first prompt on, before
// which it cannot be resumed. Its process may have the environment of an earlier launch.
func (c *call) ofAnother() bool {
	holder := c.lock.Holder
	_, _, generation, _ := observe.ParseLaunch(c.App.Getenv("PAW_LAUNCH"))
	nested := !c.cli.Facts().OwnHooks && holder.Nested(filepath.Base(c.cli.Program()), c.report.Caller)
	over := holder.Generation != generation
	if nested || over || c.event.Conversation != c.Record.Conversation() {
		c.away = slices.ContainsFunc(c.cli.Away(c.App.Specs().Read(c.Session, c.Record, "")), func(a cli.Away) bool {
			return a.Conversation == c.event.Conversation
		})
	}
	return (nested || over) && !c.away || c.away && c.event.Kind == turn.KindSessionStart
}

// logMistake logs a mistake in the configuration, so that doctor tells why a turn was not notified.
func (c *call) logMistake() {
	if mistake := c.App.Mistake; mistake != nil {
		c.App.HookLog().Add(c.report.CLI, c.report.Event, fmt.Errorf("taken with a mistake in the configuration: %w", mistake))
	}
}

// awaitRest waits for the end of the open turn where the CLI only reports that it is at rest, and
// takes that end for the event.
func (c *call) awaitRest(ctx context.Context) (err error) {
	if c.event.Kind == turn.KindIdle {
		c.event, err = rested(ctx, c.Agent, c.cli, c.event)
	}
	return err
}

// record changes the agent's turns by the event.
func (c *call) record(ctx context.Context) error {
	return turns.Change(ctx, c.Agent, func(t *turns.Recorder) error {
		if c.report.Taken != nil {
			c.report.Taken()
		}
		t.Launch = c.launch()
		t.Started = func() { // while the snapshot is made, for which the CLI waits
			c.began = true
			c.showing.Go(showOnBorder(ctx, c.Agent))
		}
		if c.event.Kind == "" || c.event.Child || !c.away && turns.ForeignConversation(c.cli.Facts(), t.Record.Conversation(), c.event) {
			return nil
		}
		c.leaving = turns.Exits(c.event)
		err := t.Take(ctx, c.event)
		c.ended, c.unsure = t.Ended, t.Held
		if t.Joined {
			turns.SomethingQueued(c.App, c.Session.Name, c.Record.Name)
		}
		return err
	})
}

// launch returns the launch that the agent's lock names.
func (c *call) launch() string {
	return observe.LaunchID(c.Session.Name, c.Record.Name, c.lock.Holder.Generation)
}

// noteUnrecorded notes that a prompt could not be recorded where no open turn shows that the agent
// works.
func (c *call) noteUnrecorded(err error) {
	var unrecorded error
	if err != nil && c.event.Kind == turn.KindPrompt {
		if last, _ := c.TurnDir().Last(); last == nil || last.State != turn.InProgress {
			unrecorded = err
		}
	}
	observe.NoteUnrecorded(c.App, c.Session.Name, c.Record.Name, c.launch(), unrecorded)
}

// tellUser has the user notified of what came since a time, and has a turn followed whose end no
// further hook may report.
func (c *call) tellUser(since time.Time) {
	if _, err := os.Lstat(turns.QueuedMark(c.App, c.Session.Name, c.Record.Name)); c.unsure || c.ended && err == nil {
		follow(c.App, c.Session.Name, c.Record.Name, os.Getpid())
	}
	notifyOf(c.App, c.Session.Name, c.Record.Name, since)
}

// tellAgents has results brought to the agent's parent, and the session's queue looked at.
func (c *call) tellAgents() {
	sessionName, agentName := c.Session.Name, c.Record.Name
	if c.ended || c.leaving {
		children.ClaimAfter(c.App, sessionName, agentName, os.Getpid(), !c.leaving) // a CLI that is about to end takes no results
	}
	limit := limited(c.App, sessionName, agentName, c.ended) || c.began && !c.ended && limits(c.App) // one may have been met, or lifted
	if c.ended || c.leaving || c.began && (c.cli.Facts().SilentErrors || queue.AwaitsTurn(c.App, sessionName, agentName)) {
		queue.Wake(c.App, sessionName, os.Getpid(), limit)
	}
}

// showState writes the agent's state on the border of its pane, unless the state at the beginning of
// the turn is the last one.
func (c *call) showState(ctx context.Context) {
	c.showing.Wait()
	if !c.began || c.ended {
		showOnBorder(ctx, c.Agent)()
	}
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
