package landing

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/observe"
	"paw/session"
)

// Several are the options for landing several agents.
type Several struct {
	Options
	Numbers   map[string]string // turn to land by agent, "" for the present state
	States    map[string]string // state that the user was shown, by agent; an agent may have none
	Skip      bool              // skip agents whose state cannot be taken now, with a note
	KeepGoing bool              // go on with the others after a conflict, failed check or refusal
}

// LandSeveral lands the work of several agents in the order of the forecast, and calls landed after
// each. It stops at the first error; what has landed stays. With KeepGoing, landed also gets
// errors, and the returned error contains a *NotLandedError.
func LandSeveral(ctx context.Context, h *app.App, s *session.Session, all Several, landed func(agent string, one *Landed, err error) error) error {
	numbers, skip, o := all.Numbers, all.Skip, all.Options
	var names []string
	for _, w := range s.Agents {
		if _, asked := numbers[w.Name]; asked {
			names = append(names, w.Name)
		}
	}
	if err := app.RequireAgents(s, slices.Collect(maps.Keys(numbers))...); err != nil {
		return err
	}
	names, err := whole(ctx, h, s, names, skip)
	if err != nil {
		return err
	}
	var inOrder []string
	if len(names) > 1 {
		f, err := LookAtHanded(ctx, h, s, slices.DeleteFunc(slices.Clone(names), func(name string) bool { return o.Handed[name].Err != nil }), o.Into, o.Handed)
		if err != nil {
			return err
		}
		inOrder = f.Order
	}
	for _, name := range names { // agents that the forecast leaves out may have files that no turn has ended with
		if !slices.Contains(inOrder, name) {
			inOrder = append(inOrder, name)
		}
	}
	failed := &NotLandedError{}
	for i, name := range inOrder {
		o.Turn, o.State = numbers[name], cmp.Or(all.States[name], all.State)
		one, err := Land(ctx, h, s, name, o)
		var notTaken *notTakenError
		var refused *errs.Error
		switch {
		case skip && errors.As(err, &notTaken) && errors.As(err, &refused) && refused.Kind == errs.Refused:
			h.Notef("skipped: %v", err)
			continue
		case err != nil && (!all.KeepGoing || !ofOne(err)):
			if left := inOrder[i+1:]; len(left) > 0 && ofOne(err) {
				h.Notef("not tried: %s; --keep-going goes on with the others", strings.Join(left, ", "))
			}
			return err
		case err != nil:
			failed.Errs = append(failed.Errs, err)
		}
		if err := landed(name, one, err); err != nil {
			return err
		}
	}
	if len(failed.Errs) > 0 {
		return failed.fault(s, len(inOrder))
	}
	return nil
}

// ofOne reports whether an error is about one agent's work, so that others may land.
func ofOne(err error) bool {
	var refused *errs.Error
	return errors.As(err, &refused) && slices.Contains([]errs.Kind{errs.Conflict, errs.CheckFailed, errs.Refused}, refused.Kind)
}

// NotLandedError lists the errors of agents that did not land.
type NotLandedError struct{ Errs []error }

func (e *NotLandedError) Error() string {
	return errs.Counted(len(e.Errs), "agent") + " not landed"
}

// fault returns the error for a landing of several agents. A conflict outweighs a failed check, and
// a failed check a refusal.
func (e *NotLandedError) fault(s *session.Session, agents int) error {
	kind := errs.Refused
	var hints []string
	for _, err := range e.Errs {
		var one *errs.Error
		if !errors.As(err, &one) {
			continue
		}
		if one.Kind == errs.Conflict || one.Kind == errs.CheckFailed && kind != errs.Conflict {
			kind = one.Kind
		}
		if len(one.Hints) > 0 && !slices.Contains(hints, one.Hints[0]) {
			hints = append(hints, one.Hints[0])
		}
	}
	all := errs.New(kind, "%s: %d of %s not landed", s.Name, len(e.Errs), errs.Counted(agents, "agent"))
	all.Err, all.Hints = e, hints
	return all
}

// whole returns the agents whose worktrees are not in the midst of a move. With skip the others are
// left out with a note, otherwise they are an error.
func whole(ctx context.Context, h *app.App, s *session.Session, names []string, skip bool) (some []string, err error) {
	if s.Host != "" {
		return names, nil
	}
	for _, name := range names {
		err := observe.RefuseHalfMoved(ctx, h, s, name)
		if err != nil && !skip {
			return nil, err
		}
		if err != nil {
			h.Notef("skipped: %v", err)
			continue
		}
		some = append(some, name)
	}
	return some, nil
}
