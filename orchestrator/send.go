package orchestrator

import (
	"context"
	"fmt"
	"strings"
	"time"

	"paw/orchestrator/agent"
	"paw/session"
	"paw/session/turn"
)

// How long send waits: for the CLI to take input, for the event that says that
// the prompt arrived, and for a second Enter to help.
const (
	readyPatience   = 60 * time.Second
	confirmPatience = 5 * time.Second
)

// Sent is how a prompt arrived.
type Sent struct {
	Agent  string
	Turn   int  // number of the turn it started or joined, 0 when not known
	Queued bool // it joined a turn that was running
}

// Send types a prompt into an agent's pane and confirms, by the event that the
// CLI's hook sends, that it arrived. It never types into a dialog.
func (p *Paw) Send(ctx context.Context, s *session.Session, agentName, prompt string, wait bool) (*Sent, error) {
	w, err := agentNamed(s, agentName)
	if err != nil {
		return nil, err
	}
	if strings.TrimSpace(prompt) == "" {
		return nil, failf(KindUsage, "%s: the prompt is empty", agentName)
	}
	p, err = p.configuredFor(s)
	if err != nil {
		return nil, err
	}
	cli, _, err := p.cliOf(w)
	if err != nil {
		return nil, err
	}
	text, err := cli.Literal(prompt)
	if err != nil {
		return nil, failf(KindUsage, "%w", err)
	}
	unlock, err := p.lockPrompt(ctx, s, w)
	if err != nil {
		return nil, err
	}
	defer unlock()
	defer p.claimAll(s.Name)
	pane, err := p.awaitReady(ctx, s, w, cli)
	if err != nil {
		return nil, err
	}
	before := p.arrivalOf(ctx, s, w, cli, prompt)
	own := cli.Facts().Turns == turnsOfPaw
	if own {
		if err := p.beginOwnTurn(ctx, s, w, prompt); err != nil {
			return nil, err
		}
	}
	box := p.boxOf(s, w, cli, pane)
	if err := box.paste(ctx, text); err != nil {
		return nil, err
	}
	if err := box.enter(ctx); err != nil {
		return nil, err
	}
	sent := &Sent{Agent: agentName}
	if own || !wait {
		return sent, nil
	}
	return sent, p.confirm(ctx, box, before, sent)
}

// lockPrompt waits until no other paw types a prompt into the pane of the agent.
func (p *Paw) lockPrompt(ctx context.Context, s *session.Session, w *session.Worktree) (unlock func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	unlock, err = p.Locks.Prompt(ctx, s.Name, w.Agent)
	if err != nil {
		return nil, p.recordError(s.Name, err)
	}
	return unlock, nil
}

// awaitReady waits until the agent takes typed input and returns its pane.
func (p *Paw) awaitReady(ctx context.Context, s *session.Session, w *session.Worktree, cli agent.CLI) (string, error) {
	deadline := p.Now().Add(readyPatience)
	for {
		f, err := p.observeClosely(ctx, s)
		if err != nil {
			return "", err
		}
		a := f.agent(w.Agent)
		if a.lock.State != session.LockHeld || a.pane == nil || a.pane.Dead {
			return "", failf(KindError, "%s: does not run", w.Agent).hint("paw recover %s", s.Name)
		}
		state := withTurnState(session.Observe(f.evidence(*a)), a.turns)
		if state.State == session.StateWaitingInput {
			return "", failf(KindRefused, "%s: %s, a prompt would be taken for it", w.Agent, waitsFor(state)).hint("paw attach %s %s", s.Name, w.Agent)
		}
		if p.takesInput(ctx, s, a, cli) {
			return a.pane.ID, nil
		}
		if p.Now().After(deadline) || ctx.Err() != nil {
			return "", failf(KindUnconfirmed, "%s: did not get ready for input", w.Agent).hint("paw attach %s %s", s.Name, w.Agent)
		}
		settle(ctx, 50*time.Millisecond)
	}
}

// takesInput tells whether a CLI is past its start.
func (p *Paw) takesInput(ctx context.Context, s *session.Session, a *agentFacts, cli agent.CLI) bool {
	ready := cli.Ready()
	if ready.Event && a.turns.hooksSeen.IsZero() {
		return false
	}
	if ready.Screen == nil {
		return true
	}
	if last := a.turns.last; last != nil && last.Launch == a.turns.launch {
		return true // it has taken a prompt before
	}
	screen, err := p.tmuxFor(s).Capture(ctx, a.pane.ID)
	return err == nil && ready.Screen.MatchString(screen)
}

// confirm waits for the start event or, while a turn runs, for another sign that
// the CLI took the prompt; when nothing comes, Enter may have been lost and is
// pressed once more.
func (p *Paw) confirm(ctx context.Context, box *inputBox, before arrival, sent *Sent) error {
	dir := p.turnDir(box.s.Name, box.w.Agent)
	for try := range 2 {
		deadline := p.Now().Add(confirmPatience + box.long)
		for p.Now().Before(deadline) && ctx.Err() == nil {
			last, err := dir.Last()
			known := err == nil && last != nil
			if known && last.Number > before.number {
				sent.Turn = last.Number
				return nil
			}
			open := known && last.State == turn.InProgress
			if before.queued() || before.taken() && p.stillRuns(ctx, box.s, box.w, before.number) || open && box.taken(ctx) {
				sent.Turn, sent.Queued = before.number, true
				return nil
			}
			settle(ctx, 20*time.Millisecond)
		}
		if try == 0 && ctx.Err() == nil {
			if err := box.enter(ctx); err != nil {
				return err
			}
		}
	}
	return failf(KindUnconfirmed, "%s: the prompt was typed, but nothing says that it arrived", box.w.Agent).
		hint("paw attach %s %s", box.s.Name, box.w.Agent)
}

// beginOwnTurn starts a turn of a CLI without hooks: paw typed its prompt, so it
// knows the begin. The end of the one before was not seen.
func (p *Paw) beginOwnTurn(ctx context.Context, s *session.Session, w *session.Worktree, prompt string) error {
	return p.withTurns(ctx, s, w, func(t *turns) error {
		one, err := t.open()
		if err != nil {
			return err
		}
		if one != nil {
			if err := one.Note("its end was not seen; the next prompt closed it"); err != nil {
				return err
			}
			if _, err := t.finish(ctx, one, ""); err != nil {
				return err
			}
		}
		_, err = t.begin(ctx, turn.Start{Type: turn.TypePrompt, Prompt: prompt, Launch: p.launchOf(s, w)})
		return err
	})
}

// launchOf is the launch of an agent that runs.
func (p *Paw) launchOf(s *session.Session, w *session.Worktree) string {
	lock, err := p.Locks.ProbeAgent(s.Name, w.Agent)
	if err != nil {
		return ""
	}
	return launchID(s.Name, w.Agent, lock.Holder.Generation)
}

// settle waits for d, or until ctx is done.
func settle(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// String says in one line what happened.
func (s *Sent) String() string {
	switch {
	case s.Queued:
		return fmt.Sprintf("%s: queued while turn %d runs", s.Agent, s.Turn)
	case s.Turn > 0:
		return fmt.Sprintf("%s: turn %d started", s.Agent, s.Turn)
	}
	return fmt.Sprintf("%s: sent", s.Agent)
}
