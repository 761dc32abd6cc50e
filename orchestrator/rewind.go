package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"paw/orchestrator/fault"
	"paw/orchestrator/fleet"
	"paw/orchestrator/home"
	"paw/orchestrator/turns"
	"paw/session"
	"paw/session/turn"
	"paw/worktree"
)

// Rewound is what rewind did.
type Rewound struct {
	Session   string
	Agent     string
	To        string // what the worktree is like now, in words
	Head      string // commit that it is on
	Changed   int    // files that were written or removed
	RescueRef string // the state before, see --undo
	Remembers string // what the CLI's conversation still has, "" when nothing
}

// Rewind puts an agent's worktree back to the end of turn n, 0 being its base.
// The state of now is rescued first, so it can always be undone. force takes the
// commit of a turn that has no snapshot for its end.
func Rewind(ctx context.Context, h *home.Home, s *session.Session, agentName string, n int, force bool) (*Rewound, error) {
	return rewind(ctx, h, s, agentName, endOfTurn(n), func(t *turns.Track) (string, error) {
		if n == 0 {
			return t.W.BaseCommit, nil
		}
		list, _, err := turns.List(ctx, h, t.M, s, *t.W)
		if err != nil {
			return "", err
		}
		one, err := turns.Numbered(s, list, fmt.Sprint(n))
		if err != nil {
			return "", err
		}
		return turns.End(ctx, h, t.M, s, t.W, one, turns.Forced{Yes: force, Command: fmt.Sprintf("paw rewind %s %d --force", agentName, n)})
	}, func(last *turn.Record) string {
		if last == nil || last.Number <= n {
			return ""
		}
		if last.Number == n+1 {
			return fmt.Sprintf("the conversation of %s still remembers turn %d", agentName, last.Number)
		}
		return fmt.Sprintf("the conversation of %s still remembers turns %d to %d", agentName, n+1, last.Number)
	})
}

// endOfTurn says where a worktree is that was put back to the end of turn n.
func endOfTurn(n int) string {
	if n == 0 {
		return "back before turn 1"
	}
	return fmt.Sprintf("back at the end of turn %d", n)
}

// UndoRewind brings back what the last rewind put aside.
func UndoRewind(ctx context.Context, h *home.Home, s *session.Session, agentName string) (*Rewound, error) {
	return rewind(ctx, h, s, agentName, "as before the last rewind", func(t *turns.Track) (string, error) {
		_, commit, err := t.LastRewind(ctx)
		if err == nil && commit == "" {
			err = fault.New(fault.NotFound, "%s: nothing was rewound", agentName).Hint("paw turns %s %s", s.Name, agentName)
		}
		return commit, err
	}, func(*turn.Record) string { return "" })
}

func rewind(ctx context.Context, h *home.Home, s *session.Session, agentName, to string, target func(*turns.Track) (string, error), remembers func(*turn.Record) string) (*Rewound, error) {
	w, err := home.AgentNamed(s, agentName)
	if err != nil {
		return nil, err
	}
	if err := h.RequireGit(ctx); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	rewound := &Rewound{Session: s.Name, Agent: agentName, To: to}
	err = turns.Change(ctx, h, s, w, func(t *turns.Track) error {
		if _, err := fleet.RefuseNotAtRest(ctx, h, s, agentName); err != nil {
			return err
		}
		last, err := t.Dir.Last()
		if err != nil {
			return err
		}
		commit, err := target(t)
		if err != nil {
			return err
		}
		newest, _, err := t.LastRewind(ctx)
		if err != nil {
			return err
		}
		rewound.RescueRef = turn.RewindRef(w.TurnSession, h.Now(), newest)
		rewound.Remembers = remembers(last)
		done, err := t.M.Rewind(ctx, w.WorktreePath, commit, rewound.RescueRef)
		var half *worktree.HalfRewoundError
		if errors.As(err, &half) {
			return fault.New(fault.Failed, "%s: %w", agentName, err).Hint("paw rewind %s/%s --undo", s.Name, agentName)
		}
		if err != nil {
			return fault.New(fault.Refused, "%s: not rewound: %w", agentName, err)
		}
		rewound.Head, rewound.Changed = done.Head, done.Changed
		return nil
	})
	if err != nil {
		return nil, err
	}
	return rewound, nil
}

// String says what happened and how to take it back.
func (r *Rewound) String() string {
	lines := []string{fmt.Sprintf("%s: %s (%.10s, %s changed); paw rewind %s/%s --undo takes it back",
		r.Agent, r.To, r.Head, fault.Counted(r.Changed, "file"), r.Session, r.Agent)}
	if r.Remembers != "" {
		lines = append(lines, r.Remembers)
	}
	return strings.Join(lines, "\n")
}
