package landing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"paw/config/display"
	"paw/orchestrator/app"
	"paw/orchestrator/checks"
	"paw/orchestrator/errs"
	"paw/orchestrator/observe"
	"paw/session"
	"paw/session/turn"
)

// Several are the options for landing several agents.
type Several struct {
	Options
	Numbers   map[string]string // turn to land by agent, "" for the present state
	States    map[string]string // state that the user was shown, by agent; an agent may have none
	Skip      bool              // skip, with a note, agents whose state cannot be taken now or whose last turn did not end well
	KeepGoing bool              // go on with the others after a conflict, failed check or refusal
}

// LandSeveral lands the work of several agents in the order of the forecast, and calls landed after
// each, also with an error. It stops at the first one; what has landed stays. With KeepGoing it goes on, and the returned error
// counts them.
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
	if len(names) > 1 || skip {
		f, err := Look(ctx, h, s, slices.DeleteFunc(slices.Clone(names), func(name string) bool { return o.Handed[name].Err != nil }), o.Into, o.Handed)
		if err != nil {
			return err
		}
		if inOrder = f.Order; skip {
			names = all.leaveOut(h, s, f, names)
		}
	}
	for _, name := range names { // agents that the order lacks may have files that no turn has ended with
		if !slices.Contains(inOrder, name) {
			inOrder = append(inOrder, name)
		}
	}
	var failed []error
	for i, name := range inOrder {
		if from := s.Agent(name).From; o.DryRun && from != nil && slices.Contains(inOrder, from.Agent) {
			h.Notef("%s began with work of %s: what is said of each is as if it landed alone", name, from.Agent)
		}
		o.Turn, o.State = numbers[name], cmp.Or(all.States[name], all.State)
		one, err := Land(ctx, h, s, name, o)
		switch {
		case skip && skipped(err):
			h.Notef("skipped: %v", err)
			continue
		case err != nil && (!all.KeepGoing || !ofOne(err)):
			if left := inOrder[i+1:]; len(left) > 0 && ofOne(err) {
				h.Notef("not tried: %s; --keep-going goes on with the others", strings.Join(left, ", "))
			}
			return cmp.Or(landed(name, nil, err), err)
		case err != nil:
			failed = append(failed, err)
		}
		if err := landed(name, one, err); err != nil {
			return err
		}
	}
	if len(failed) > 0 {
		return notLanded(s, failed, len(inOrder))
	}
	return nil
}

// leaveOut notes the agents with something to land whose last turn did not end well, and returns the
// others.
func (all Several) leaveOut(h *app.App, s *session.Session, f *Forecast, names []string) []string {
	for _, o := range f.Agents {
		if o.LeftOut != "" && o.Lands() {
			h.Notef("left out: %s (%s); %s lands it all the same", o.Agent, o.LeftOut, (asked{Agent: h.Agent(s, s.Agent(o.Agent)), command: "land", into: all.Into}).line())
			names = slices.DeleteFunc(names, func(name string) bool { return name == o.Agent })
		}
	}
	return names
}

// ofOne reports whether an error is about one agent's work, so that others may land.
func ofOne(err error) bool {
	refused, ok := errors.AsType[*errs.Error](err)
	return ok && slices.Contains([]errs.Kind{errs.Conflict, errs.CheckFailed, errs.Refused}, refused.Kind) || skipped(err)
}

// skipped reports whether an error is the refusal of one agent that --all leaves out.
func skipped(err error) bool {
	_, ofOne := errors.AsType[*skippedError](err)
	refused, ok := errors.AsType[*errs.Error](err)
	return ofOne && ok && (refused.Kind == errs.Refused || refused.Kind == errs.Locked)
}

// notLanded returns the error for a landing of several agents, of which some failed. A conflict
// outweighs a failed check, and a failed check a refusal.
func notLanded(s *session.Session, failed []error, agents int) error {
	kind := errs.Refused
	var hints []string
	for _, err := range failed {
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
	all := errs.New(kind, "%s: %d of %s not landed", s.Name, len(failed), errs.Counted(agents, "agent"))
	all.Hints = hints
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

// ConflictPrompt returns the prompt for an agent whose work conflicts with a branch, "" for the
// session's target: it asks the agent to merge the branch and to resolve each file.
func ConflictPrompt(ctx context.Context, h *app.App, s *session.Session, agentName, into string) (string, error) {
	landed, err := Land(ctx, h, s, agentName, Options{Into: into, DryRun: true})
	collided, ok := errors.AsType[*CollisionError](err)
	switch {
	case ok:
		return collided.prompt(cmp.Or(into, s.Target)), nil
	case err != nil:
		return "", err
	case landed.Nothing:
		return "", errs.New(errs.Failed, "%s/%s: does not conflict with %s, which has all of it", s.Name, agentName, landed.Target)
	}
	return "", errs.New(errs.Failed, "%s/%s: does not conflict with %s", s.Name, agentName, landed.Target).Hint("%s", (asked{Agent: h.Agent(s, s.Agent(agentName)), command: "land", into: into}).line())
}

// BackPrompt returns the prompt for an agent whose work did not land because of a conflict or a
// failed check; "" for other errors.
func BackPrompt(s *session.Session, into string, err error) string {
	var failed *checks.Error
	switch collided, ok := errors.AsType[*CollisionError](err); {
	case ok:
		return collided.prompt(cmp.Or(into, s.Target))
	case errors.As(err, &failed):
		return failed.Prompt()
	}
	return ""
}

// prompt asks the agent to merge the branch and to resolve each file.
func (e *CollisionError) prompt(branch string) string {
	var b strings.Builder
	b.WriteString(turn.ConflictLine(branch) + "\n\n1. ")
	if e.instead != "" {
		fmt.Fprintf(&b, "Run: git reset --soft %s (your commits take back what your files never had of %s)\n   ", e.instead, branch)
	}
	fmt.Fprintf(&b, "Commit what you have not committed yet.\n2. Run: git merge --no-edit %s\n", errs.Quote(branch))
	b.WriteString("3. Resolve each of these files so that what both sides meant still holds:\n")
	for _, f := range e.Files {
		beside := ""
		if f.Beside {
			beside = ": " + f.fileAndFolder() + "; rename or remove it"
		}
		fmt.Fprintf(&b, "   - %s\n", display.Title(f.String()+beside))
	}
	fmt.Fprintf(&b, "4. Run the checks of the project, then: git commit --no-edit\n\nChange your own branch only, not %s, and push nothing.\n", branch)
	return b.String()
}
