package typing

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"paw/config/disk"
	"paw/config/poll"
	"paw/orchestrator/app"
	"paw/orchestrator/cli"
	"paw/orchestrator/errs"
	"paw/orchestrator/observe"
	"paw/orchestrator/turns"
	"paw/session"
	"paw/session/turn"
)

// confirmPatience is how long send waits for the event of a prompt's arrival, before and after a
// second Enter.
const confirmPatience = 5 * time.Second

// lookStep is how often send looks whether an input box that had disappeared is back.
const lookStep = 500 * time.Millisecond

// readFactor is how many times the usual time for a long prompt are waited for a CLI that gets little CPU.
const readFactor = 4

// Sent tells how a prompt arrived.
type Sent struct {
	Agent  string
	Turn   int  // turn that the prompt started or joined, 0 when unknown
	Queued bool // queued behind, or joined to, a running turn
	Kept   bool // kept, to be typed once the agent's worktree is set up
	// Dropped is how many control characters were removed: a terminal would take them for keys.
	Dropped int
}

// Send types a prompt behind those that are kept for the agent and, if wait is set, waits until the CLI has taken it. While
// the agent's worktree is set up it keeps the prompt, too. It returns how the prompt arrived.
func Send(ctx context.Context, h *app.App, s *session.Session, agentName, prompt string, wait bool) (sent *Sent, err error) {
	if err = SendNext(ctx, h, s, agentName, nil); err == nil {
		sent, err = send(ctx, h, s, agentName, sending{prompt: prompt, wait: wait, keep: func(sent *Sent) error {
			if !sent.Queued {
				return nil
			}
			if err := h.Texts().KeepQueued(s.Name, agentName, prompt, sent.Turn); err != nil { // the CLI has the prompt all the same
				h.Notef("%s: the prompt is queued in its CLI alone, and lost if that ends before it begins: %v", agentName, err)
			}
			return nil
		}})
	}
	if !errors.Is(err, errSettingUp) {
		return sent, err
	}
	if err := h.Texts().KeepNext(s.Name, agentName, prompt); err != nil {
		return nil, errs.New(errs.Failed, "%s: its worktree is being set up, and the prompt could not be kept: %w", agentName, err)
	}
	SendLater(h, s.Name, agentName)
	return &Sent{Agent: agentName, Kept: true}, nil
}

// SendNext types the prompts that are kept until an agent's CLI takes them, the oldest first, each at most once. It calls each, which may be
// nil, for every one that was sent.
func SendNext(ctx context.Context, h *app.App, s *session.Session, agentName string, each func(*Sent)) error {
	for _, path := range h.Texts().Next(s.Name, agentName) {
		text, err := os.ReadFile(path)
		if errors.Is(err, os.ErrNotExist) {
			continue // another paw has typed it
		}
		if err != nil {
			return err
		}
		claimed := ""
		still := func() bool { return disk.Exists(path) }
		claim := func(behind int) (err error) {
			claimed, err = h.Texts().Claim(path, behind)
			return err
		}
		unclaim := func() error { return os.Rename(claimed, path) }
		sent, err := send(ctx, h, s, agentName, sending{prompt: string(text), wait: true, still: still, claim: claim, unclaim: unclaim, keep: func(sent *Sent) error {
			if sent.Queued {
				return nil
			}
			return os.Remove(claimed)
		}})
		if err != nil && !errors.Is(err, os.ErrNotExist) { // else recover has taken it meanwhile
			return err
		}
		if sent != nil && err == nil && each != nil {
			each(sent)
		}
	}
	return nil
}

// SendLater has a process in the background type the prompts that are kept for an agent, if there are any.
func SendLater(h *app.App, sessionName, agentName string) {
	if len(h.Texts().Next(sessionName, agentName)) > 0 {
		h.Detach("send", "__kept", sessionName, agentName)
	}
}

// lookAgain is how often a process that waits for a set-up looks itself, whatever the lock says.
const lookAgain = time.Hour

// SendAfterSetUp waits until the worktree of an agent is set up, and types the prompts that are kept for the agent. They
// stay kept where its CLI does not run then.
func SendAfterSetUp(ctx context.Context, h *app.App, sessionName, agentName string) error {
	s, configured, err := h.LoadConfigured(sessionName)
	if err != nil {
		return h.Logged("send", err)
	}
	for {
		err = SendNext(ctx, configured, s, agentName, nil)
		if errors.Is(err, errNotRunning) {
			return nil
		}
		if !errors.Is(err, errSettingUp) || ctx.Err() != nil {
			return h.Logged("send", err)
		}
		poll.Until(ctx, 20*poll.Tick, lookAgain, func() bool {
			lock, err := h.Locks.ProbeAgent(sessionName, agentName)
			return err != nil || !observe.SetsUp(lock)
		})
	}
}

// SendAgain is like Send for a prompt that the CLI has lost. It returns nil if another paw has sent
// that prompt meanwhile.
func SendAgain(ctx context.Context, h *app.App, s *session.Session, agentName string, one app.Queued, wait bool) (*Sent, error) {
	still := func() bool { return h.Texts().IsLost(s.Name, agentName, one) }
	return send(ctx, h, s, agentName, sending{prompt: one.Text, wait: wait, still: still, keep: func(sent *Sent) error {
		if sent.Queued {
			return h.Texts().QueuedAgain(one, sent.Turn)
		}
		if sent.Turn > 0 {
			return nil // that turn has asked it, and no other prompt with the same text
		}
		return os.Remove(one.Path)
	}})
}

type sending struct {
	prompt  string
	wait    bool
	still   func() bool       // whether to send the prompt at all, nil for yes; called under the prompt lock, like those below
	claim   func(int) error   // called right before Enter is pressed, with the number of the last turn; nil for nothing
	unclaim func() error      // takes claim back, where the CLI has certainly not got the prompt
	keep    func(*Sent) error // called after the prompt was sent
}

func send(ctx context.Context, h *app.App, s *session.Session, agentName string, o sending) (*Sent, error) {
	a, err := configured(h, s, agentName)
	if err != nil {
		return nil, err
	}
	t, err := senderFor(a, o.prompt)
	if err != nil {
		return nil, err
	}
	unlock, err := Lock(ctx, a)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if o.still != nil && !o.still() {
		return nil, nil
	}
	// Another sender, which held the lock before, may have begun the conversation in which this
	// prompt will be looked for.
	if t.Session, err = t.App.Load(s.Name); err != nil {
		return nil, err
	}
	if t.Record, err = app.AgentNamed(t.Session, agentName); err != nil {
		return nil, err
	}
	t.before = expect(ctx, t.Agent, t.cli, t.prompt)
	if err := t.await(ctx); err != nil {
		return nil, err
	}
	claimed := false
	last := func() error {
		if o.claim != nil {
			if _, err := t.recall(ctx); err != nil { // the CLI has ended since: the next one gets the prompt
				return err
			}
			if err := o.claim(t.before.number); err != nil {
				return err
			}
			claimed = true
		}
		return turns.BeginIfOwn(ctx, t.Agent, t.prompt)
	}
	if err := t.send(ctx, last); err != nil {
		if claimed && errors.Is(err, ErrNotTyped) {
			err = errors.Join(err, o.unclaim())
		}
		return nil, err
	}
	sent := &Sent{Agent: agentName, Dropped: t.dropped}
	if !t.cli.Facts().Unseen && o.wait {
		if err := t.confirm(ctx, sent); err != nil {
			return sent, err
		}
	}
	return sent, o.keep(sent)
}

// Lock waits until no other paw types a prompt into the pane of the agent.
func Lock(ctx context.Context, a app.Agent) (unlock func(), err error) {
	return a.App.Hold(ctx, a.App.Locks.Prompt, a.Session.Name, a.Record.Name)
}

// confirm waits for the event of the prompt's turn or, while a turn runs, for another sign that the
// CLI took the prompt. Without one it presses Enter once more, since the first Enter may have been
// lost: where the box still has text, or where nothing shows what became of it. A prompt that
// arrived altered is an error.
func (t *sender) confirm(ctx context.Context, sent *Sent) error {
	patience := confirmPatience + t.long
	var lost func() bool
	if t.handed { // the CLI may begin the prompt only after its open dialog is closed, or have ended with it
		patience, t.heard = handedPatience, true
		lost = func() bool {
			_, _, err := t.find(ctx)
			t.heard = !errors.Is(err, errNotRunning)
			return !t.heard
		}
	}
	if done, err := t.awaitArrival(ctx, sent, patience, lost); done {
		return err
	}
	again, took := true, t.filled && t.reports()
	switch _, err := t.see(ctx); {
	case err != nil:
	case t.screen.Box == cli.BoxEmpty && t.ready.Box:
		again = false
		if took {
			patience = handedPatience + t.long
		}
	case took && t.isGone(): // the CLI is between two pages, and its hook will report the prompt
		back := func() bool {
			_, err := t.see(ctx)
			return err != nil || !t.isGone()
		}
		if done, err := t.awaitArrival(ctx, sent, pagePatience+t.long, back); done {
			return err
		}
		again, patience = !t.isGone() && t.screen.Box != cli.BoxEmpty, handedPatience+t.long
	}
	if again && ctx.Err() == nil {
		if err := t.enter(ctx, unheard); err != nil {
			return err
		}
	}
	if done, err := t.awaitArrival(ctx, sent, patience, nil); done {
		return err
	}
	if one := t.otherTurn(); one != nil {
		return t.arrivedAs(one)
	}
	return t.stuck(ctx, t.unconfirmed(unheard), unheard)
}

// unheard says how far a prompt has come that Enter was pressed for.
const unheard = "the prompt was typed, but nothing says that it arrived"

// awaitArrival waits for the prompt, and ends early where enough, which may be nil, returns true;
// enough is asked twice a second. done means that the prompt has arrived, altered if err is set.
func (t *sender) awaitArrival(ctx context.Context, sent *Sent, patience time.Duration, enough func() bool) (done bool, err error) {
	looked := t.App.Now()
	for end := looked.Add(patience + readFactor*t.long); t.App.Now().Before(end) && ctx.Err() == nil; {
		t.countEarlier()
		if t.arrived(ctx, sent) {
			t.settled()
			return true, nil
		}
		if one := t.otherTurn(); one != nil && t.holds(string(one.Prompt)) {
			return true, t.arrivedAs(one)
		}
		if now := t.App.Now(); enough != nil && now.Sub(looked) >= lookStep {
			if looked = now; enough() {
				break
			}
		}
		poll.Sleep(ctx, 2*poll.Tick)
	}
	if t.heard {
		t.settled() // the prompt has arrived, in a turn with an unknown number
	}
	return t.heard, nil
}

// isGone reports whether the last seen screen has neither an input box nor a dialog, of a CLI that
// shows its box when it takes input.
func (t *sender) isGone() bool {
	return t.ready.Box && t.screen.Box == cli.BoxUnseen && t.screen.Dialog == ""
}

// arrived reports whether the prompt arrived as it was sent, and completes sent.
func (t *sender) arrived(ctx context.Context, sent *Sent) bool {
	// The CLI records a prompt after its hook has begun the turn: reading the turns last misses
	// none.
	kept, queued := t.before.open && (t.before.taken() || t.taken(ctx)), t.before.Queued()
	for _, one := range t.newTurns() {
		if t.before.is(string(one.Prompt)) {
			sent.Turn = one.Number
			return true
		}
	}
	if queued && !t.before.open { // a hook is about to report the prompt's turn
		t.heard = true
		return false
	}
	if queued || kept && stillRuns(ctx, t.Agent, t.before.number) {
		sent.Turn, sent.Queued = t.before.number, true
		return true
	}
	return false
}

// countEarlier treats a turn that an earlier prompt began late, or began again, as the turn before
// this prompt.
func (t *sender) countEarlier() {
	for _, one := range t.newTurns() {
		if one.State == turn.InProgress && t.isEarlier(one) {
			t.before.number, t.before.open = one.Number, true
			t.before.records = append(t.before.records, growing(one.LogFile))
		}
	}
}

// isEarlier reports whether a turn began with a prompt from before this one: with the prompt that
// was typed last and came late, with one that the CLI had queued, or with that of an interrupted turn, which the CLI
// began again. For two equal prompts either turn will do.
func (t *sender) isEarlier(one turn.Record) bool {
	prompt := t.cli.Canonical(string(one.Prompt))
	return prompt != "" && prompt != t.before.prompt && (prompt == t.lastTyped().Prompt || prompt == t.before.last ||
		t.App.Texts().WasQueued(t.Session.Name, t.Record.Name, func(text string) bool { return t.cli.Canonical(text) == prompt }))
}

// newTurns returns the turns that began after the prompt was typed.
func (t *sender) newTurns() []turn.Record {
	records, _ := t.TurnDir().After(t.before.number)
	return records
}

// otherTurn returns the newest turn that began with another prompt of the user, nil for none.
func (t *sender) otherTurn() *turn.Record {
	for _, one := range slices.Backward(t.newTurns()) {
		if one.Type == turn.TypePrompt && !t.before.is(string(one.Prompt)) && !t.isEarlier(one) {
			return &one
		}
	}
	return nil
}

// arrivedAs returns the error for a prompt that arrived altered.
func (t *sender) arrivedAs(one *turn.Record) error {
	return t.unconfirmed("the prompt did not arrive as it was sent: that of turn %d is another one%s", one.Number, quoted(string(one.Prompt)))
}

// String describes in one line how the prompt arrived.
func (s *Sent) String() string {
	text := fmt.Sprintf("%s: sent", s.Agent)
	switch {
	case s.Kept:
		text = fmt.Sprintf("%s: its worktree is being set up; the prompt is kept, and typed then", s.Agent)
	case s.Queued:
		text = fmt.Sprintf("%s: queued while turn %d runs", s.Agent, s.Turn)
	case s.Turn > 0:
		text = fmt.Sprintf("%s: turn %d started", s.Agent, s.Turn)
	}
	if s.Dropped > 0 {
		text += fmt.Sprintf(" (without %s)", errs.Counted(s.Dropped, "control character"))
	}
	return text
}
