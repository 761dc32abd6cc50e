package landing

import (
	"context"
	"errors"
	"maps"
	"slices"

	"paw/orchestrator/fault"
	"paw/orchestrator/fleet"
	"paw/orchestrator/home"
	"paw/session"
)

// notTakenError is a state of an agent that cannot be taken now.
type notTakenError struct{ error }

func (e *notTakenError) Unwrap() error { return e.error }

// LandSeveral lands the work of several agents in the order of the forecast, and calls landed after each. numbers are the
// turns to land by agent, "" for the state of the moment. It stops at the first error, such as a conflict or a check that
// failed: what has landed stays. With skip it leaves out agents whose state cannot be taken now, with a note.
func LandSeveral(ctx context.Context, h *home.Home, s *session.Session, numbers map[string]string, skip bool, o Options, landed func(*Landed) error) error {
	var names []string
	for _, w := range s.Worktrees {
		if _, asked := numbers[w.Agent]; asked {
			names = append(names, w.Agent)
		}
	}
	if err := home.RequireAgents(s, slices.Collect(maps.Keys(numbers))...); err != nil {
		return err
	}
	names, err := whole(ctx, h, s, names, skip)
	if err != nil {
		return err
	}
	var inOrder []string
	if len(names) > 1 {
		f, err := Look(ctx, h, s, names, o.Into)
		if err != nil {
			return err
		}
		inOrder = f.Order
	}
	for _, name := range names { // with what the forecast knows nothing of, such as files that no turn has ended with
		if !slices.Contains(inOrder, name) {
			inOrder = append(inOrder, name)
		}
	}
	for _, name := range inOrder {
		o.Turn = numbers[name]
		one, err := Land(ctx, h, s, name, o)
		var notTaken *notTakenError
		var refused *fault.Error
		if skip && errors.As(err, &notTaken) && errors.As(err, &refused) && refused.Kind == fault.Refused {
			h.Notef("left out: %v", err)
			continue
		}
		if err != nil {
			return err
		}
		if err := landed(one); err != nil {
			return err
		}
	}
	return nil
}

// whole are the agents whose files are not half moved. With skip the others are left out, with a note.
func whole(ctx context.Context, h *home.Home, s *session.Session, names []string, skip bool) (some []string, err error) {
	for _, name := range names {
		err := fleet.RefuseHalfMoved(ctx, h, s, name)
		if err != nil && !skip {
			return nil, err
		}
		if err != nil {
			h.Notef("left out: %v", err)
			continue
		}
		some = append(some, name)
	}
	return some, nil
}
