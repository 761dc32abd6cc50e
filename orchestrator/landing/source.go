package landing

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"paw/orchestrator/fault"
	"paw/orchestrator/fleet"
	"paw/orchestrator/home"
	"paw/orchestrator/turns"
	"paw/session"
	"paw/session/turn"
	"paw/worktree"
)

// source is what an agent has to land, looked at once.
type source struct {
	state string // commit of all its files
	head  string // commit that its branch was at
	turn  int    // the state is that of the end of this turn, 0 for the moment
	turns []turns.Listed

	finished session.Finished // turns that had ended well when it was looked at
	command  string           // of paw, for which it is looked at; "" for one that takes no turns
}

// lookAtSource takes the state of an agent: that of now, for which it must be at rest, or that of the end of a turn,
// whatever the agent does meanwhile. What cannot be taken exactly is refused, with a hint at a turn that command could take.
func lookAtSource(ctx context.Context, h *home.Home, m worktree.Manager, s *session.Session, w *session.Worktree, number, command string) (*source, error) {
	if err := fleet.RefuseUnfinished(s, w); err != nil {
		return nil, err
	}
	list, _, err := turns.List(ctx, h, m, s, *w)
	if err != nil {
		return nil, err
	}
	src := &source{turns: list.Turns, finished: w.Finished, command: command}
	if number == "" {
		err = src.takeNow(ctx, h, m, s, w)
	} else {
		err = src.takeTurn(ctx, h, m, s, w, list, number)
	}
	if err != nil {
		return nil, err
	}
	src.head, err = m.SnapshotHead(ctx, src.state)
	return src, err
}

// takeNow takes the state of the moment.
func (src *source) takeNow(ctx context.Context, h *home.Home, m worktree.Manager, s *session.Session, w *session.Worktree) error {
	refuse := fleet.RefuseBusy
	if src.command == "" { // it writes into the worktree
		refuse = fleet.RefuseNotAtRest
	}
	if _, err := refuse(ctx, h, s, w.Agent); err != nil {
		return src.withTurnHint(err, s, w, src.turns)
	}
	var other *worktree.MismatchError
	err := worktree.Verify(w.WorktreePath, s.GitCommonDir, w.Branch)
	if errors.As(err, &other) && other.What == "branch" {
		return fault.New(fault.Refused, "%s: its worktree is on %s, and not on its branch %s", w.Agent, orDetached(other.Got), w.Branch).
			Hint("git -C %s switch %s", fault.Quote(w.WorktreePath), fault.Quote(w.Branch))
	}
	if err != nil {
		return fault.New(fault.Refused, "%s: %w", w.Agent, err).Hint("paw recover %s", s.Name)
	}
	name, err := m.Unfinished(w.WorktreePath)
	if err != nil {
		return err
	}
	look := "git -C " + fault.Quote(w.WorktreePath) + " status"
	if name != "" {
		return fault.New(fault.Refused, "%s: a %s is not finished in its worktree", w.Agent, name).Hint("%s", look)
	}
	scratch := filepath.Join(h.StateDir(s.Name, w.Agent), "snapshot")
	shot, err := m.SnapshotWithin(ctx, w.WorktreePath, "", "paw: "+w.Agent+" now", scratch, worktree.Budget{})
	switch {
	case err != nil:
		return err
	case shot.Unmerged:
		return fault.New(fault.Refused, "%s: a conflict is not resolved in its worktree", w.Agent).Hint("%s", look)
	case len(shot.NotSaved) > 0:
		return fault.New(fault.Refused, "%s: cannot be taken as it is: %s", w.Agent, strings.Join(shot.NotSaved, ", ")).Hint("%s", look)
	}
	src.state = shot.Commit
	return nil
}

// takeTurn takes the state at the end of a turn.
func (src *source) takeTurn(ctx context.Context, h *home.Home, m worktree.Manager, s *session.Session, w *session.Worktree, list turns.Sequence, number string) error {
	one, err := turns.Numbered(s, list, number)
	if err != nil {
		return err
	}
	if one.State == turn.InProgress {
		err := fault.New(fault.Refused, "%s: turn %d is in progress", w.Agent, one.Number)
		return src.withTurnHint(err, s, w, list.Turns)
	}
	src.turn = one.Number
	for i, t := range list.Turns {
		if t.Number == one.Number {
			src.turns = list.Turns[:i+1]
		}
	}
	src.state, err = turns.End(ctx, h, m, s, w, one, turns.Forced{Command: fmt.Sprintf("paw %s %s/%s", src.command, s.Name, w.Agent)})
	return err
}

// withTurnHint replaces the hints of a refusal by the last turn that can land, where there is one.
func (src *source) withTurnHint(err error, s *session.Session, w *session.Worktree, list []turns.Listed) error {
	var e *fault.Error
	if !errors.As(err, &e) || e.Kind != fault.Refused || src.command == "" {
		return err
	}
	for i := len(list) - 1; i >= 0; i-- {
		if t := list[i]; t.State != turn.InProgress && t.After != "" {
			return fault.New(fault.Refused, "%w", err).Hint("paw %s %s/%s@%d", src.command, s.Name, w.Agent, t.Number)
		}
	}
	return err
}

func orDetached(branch string) string {
	if branch == "" {
		return "no branch"
	}
	return branch
}

// lastTurn is the number of the last turn that has begun, 0 for none.
func (src *source) lastTurn() int {
	if len(src.turns) == 0 {
		return 0
	}
	return src.turns[len(src.turns)-1].Number
}

// since are the turns after one.
func (src *source) since(number int) []turns.Listed {
	for i, t := range src.turns {
		if t.Number > number {
			return src.turns[i:]
		}
	}
	return nil
}

// ranges are the numbers of turns in few words: "1-4", "2", "1-2,5".
func ranges(list []turns.Listed) string {
	var parts []string
	for i := 0; i < len(list); {
		k := i
		for k+1 < len(list) && list[k+1].Number == list[k].Number+1 {
			k++
		}
		part := strconv.Itoa(list[i].Number)
		if k > i {
			part += "-" + strconv.Itoa(list[k].Number)
		}
		parts, i = append(parts, part), k+1
	}
	return strings.Join(parts, ",")
}
