package orchestrator

import (
	"context"
	"time"

	"paw/orchestrator/agent"
	"paw/session"
	"paw/tmux"
)

// pastePatience is how long a CLI that is busy may take to show a paste, and
// bytesASecond how much of one it takes at least.
const (
	pastePatience = 10 * time.Second
	bytesASecond  = 10_000
)

// emptyPatience is how long a CLI that is busy may take to draw its input box. It
// is not empty when the user has begun to type there.
const emptyPatience = 2 * time.Second

// inputBox is where a CLI takes prompts, in its pane.
type inputBox struct {
	p      *Paw
	s      *session.Session
	w      *session.Worktree
	client *tmux.Client
	pane   string
	ready  agent.Ready
	filled bool          // its screen showed it empty before the paste, and not after
	long   time.Duration // what the CLI may need more than usual, for a long text
}

func (p *Paw) boxOf(s *session.Session, w *session.Worktree, cli agent.CLI, pane string) *inputBox {
	return &inputBox{p: p, s: s, w: w, client: p.tmuxFor(s), pane: pane, ready: cli.Ready()}
}

// paste puts text into the box and waits until an Enter submits it: an Enter
// that a CLI reads together with the paste, as it does when it is slow, is lost.
func (b *inputBox) paste(ctx context.Context, text string) error {
	empty := b.isEmpty(ctx)
	for end := b.p.Now().Add(emptyPatience); b.ready.Empty && !empty && b.p.Now().Before(end) && ctx.Err() == nil; {
		settle(ctx, 20*time.Millisecond) // a busy CLI draws it late
		empty = b.isEmpty(ctx)
	}
	if err := b.client.Paste(ctx, b.pane, text); err != nil {
		return tmuxError(err)
	}
	b.long = time.Duration(len(text)/bytesASecond) * time.Second
	for end := b.p.Now().Add(pastePatience + b.long); empty && b.p.Now().Before(end) && ctx.Err() == nil; {
		settle(ctx, 20*time.Millisecond)
		empty = b.isEmpty(ctx)
		b.filled = !empty
	}
	settle(ctx, b.ready.Settle)
	return nil
}

// enter presses Enter, unless the CLI has begun to ask something: that would be
// the answer.
func (b *inputBox) enter(ctx context.Context) error {
	f, err := b.p.observe(ctx, b.s)
	if err != nil {
		return err
	}
	a := f.agent(b.w.Agent)
	if withTurnState(session.Observe(f.evidence(*a)), a.turns).State == session.StateWaitingInput {
		return failf(KindUnconfirmed, "%s: asks you something since the prompt was typed, which was not sent", b.w.Agent).
			hint("paw attach %s %s", b.s.Name, b.w.Agent)
	}
	if err := b.client.Press(ctx, b.pane, "Enter"); err != nil {
		return tmuxError(err)
	}
	return nil
}

// taken tells whether the CLI took what was in the box.
func (b *inputBox) taken(ctx context.Context) bool { return b.filled && b.isEmpty(ctx) }

// isEmpty tells whether the screen shows an empty box. Of most CLIs no screen does.
func (b *inputBox) isEmpty(ctx context.Context) bool {
	if !b.ready.Empty || b.ready.Screen == nil {
		return false
	}
	screen, err := b.client.Capture(ctx, b.pane)
	return err == nil && b.ready.Screen.MatchString(screen)
}
