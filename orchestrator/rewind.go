package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"paw/session"
	"paw/session/turn"
	"paw/worktree"
)

// Rewound is what rewind did.
type Rewound struct {
	Session   string
	Agent     string
	To        string // what the worktree is like now, in words
	RescueRef string // the state before, see --undo
	Remembers string // what the CLI's conversation still has, "" when nothing
}

// Rewind puts an agent's worktree back to the end of turn n, 0 being its base.
// The state of now is rescued first, so it can always be undone. force takes the
// commit of a turn that has no snapshot for its end.
func (p *Paw) Rewind(ctx context.Context, s *session.Session, agentName string, n int, force bool) (*Rewound, error) {
	return p.rewind(ctx, s, agentName, fmt.Sprintf("the end of turn %d", n), func(t *turns) (string, error) {
		if n == 0 {
			return t.w.BaseCommit, nil
		}
		list, _, err := p.listTurns(ctx, t.m, s, *t.w)
		if err != nil {
			return "", err
		}
		one, err := turnNumbered(s, list, fmt.Sprint(n))
		if err != nil {
			return "", err
		}
		return p.turnEnd(ctx, t.m, s, t.w, one, forced{yes: force, command: fmt.Sprintf("paw rewind %s %d --force", agentName, n)})
	}, func(last *turn.Record) string {
		if last == nil || last.Number <= n {
			return ""
		}
		return fmt.Sprintf("the conversation of %s still remembers turns %d to %d", agentName, n+1, last.Number)
	})
}

// UndoRewind brings back what the last rewind put aside.
func (p *Paw) UndoRewind(ctx context.Context, s *session.Session, agentName string) (*Rewound, error) {
	return p.rewind(ctx, s, agentName, "before the last rewind", func(t *turns) (string, error) {
		_, commit, err := t.lastRewind(ctx)
		if err == nil && commit == "" {
			err = failf(KindNotFound, "%s: nothing was rewound", agentName).hint("paw turns %s %s", s.Name, agentName)
		}
		return commit, err
	}, func(*turn.Record) string { return "" })
}

// lastRewind is what the last rewind put aside: ref and commit, "" when there was none.
func (t *turns) lastRewind(ctx context.Context) (ref, commit string, err error) {
	refs, err := t.m.Refs(ctx, turn.RefPrefix(t.w.TurnSession)+"rescue/")
	if err != nil {
		return "", "", err
	}
	for name := range refs {
		if turn.IsRewindRef(name) && name > ref {
			ref = name
		}
	}
	return ref, refs[ref], nil
}

func (p *Paw) rewind(ctx context.Context, s *session.Session, agentName, to string, target func(*turns) (string, error), remembers func(*turn.Record) string) (*Rewound, error) {
	w, err := agentNamed(s, agentName)
	if err != nil {
		return nil, err
	}
	if err := p.requireGit(ctx); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	rewound := &Rewound{Session: s.Name, Agent: agentName, To: to}
	err = p.withTurns(ctx, s, w, func(t *turns) error {
		if err := p.refuseNotAtRest(ctx, s, agentName); err != nil {
			return err
		}
		last, err := t.dir.Last()
		if err != nil {
			return err
		}
		commit, err := target(t)
		if err != nil {
			return err
		}
		newest, _, err := t.lastRewind(ctx)
		if err != nil {
			return err
		}
		rewound.RescueRef = turn.RewindRef(w.TurnSession, p.Now(), newest)
		rewound.Remembers = remembers(last)
		_, err = t.m.Rewind(ctx, w.WorktreePath, commit, rewound.RescueRef)
		var half *worktree.HalfRewoundError
		if errors.As(err, &half) {
			return failf(KindError, "%s: %w", agentName, err).hint("paw rewind %s --undo --session %s", agentName, s.Name)
		}
		if err != nil {
			return failf(KindRefused, "%s: not rewound: %w", agentName, err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return rewound, nil
}

// String says what happened and how to take it back.
func (r *Rewound) String() string {
	lines := []string{fmt.Sprintf("%s is as at %s; paw rewind %s --undo --session %s takes it back", r.Agent, r.To, r.Agent, r.Session)}
	if r.Remembers != "" {
		lines = append(lines, r.Remembers)
	}
	return strings.Join(lines, "\n")
}
