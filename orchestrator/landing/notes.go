package landing

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/session"
	"paw/worktree/states"
)

// noteLost notes what the branch has lost of the agent's earlier work: it does not land with the rest. Right behind a landing
// there is nothing to look for.
func (l *landing) noteLost(ctx context.Context) error {
	if l.options.Again || l.lands.known() == l.begin() {
		return nil
	}
	all, err := l.landingsIn(l.branch)
	if err != nil || len(all) > 0 && all[len(all)-1].After == l.tip && all[len(all)-1].Without == 0 {
		return err
	}
	gone, err := l.lostOf(ctx, l.target, l.lands.known(), l.lands.State)
	if lacks := l.lacks(gone.paths); lacks != "" {
		l.App.Notef("%s: %s; %s brings it again", l.name(), lacks, l.line(app.With("again")))
	}
	return err
}

// noteRewound notes that the branch keeps work that the agent was rewound from: a rewind takes nothing
// off a branch. It says so until the agent lands something else.
func (l *landing) noteRewound(ctx context.Context) error {
	if l.source.Turn > 0 {
		return nil
	}
	for _, last := range slices.Backward(l.Session.Landings) {
		if last.TurnSession != l.Record.TurnSession || last.Phase != session.LandingDone || last.Target != l.branch || last.Without > 0 {
			continue
		}
		if slices.ContainsFunc(l.lands.Steps, func(one states.Step) bool { return one.From == last.Twin }) {
			return nil
		}
		for _, one := range []string{last.Twin, last.After} { // the chain may have got its own landing
			if has, err := l.Repo.States().Objects().Contains(ctx, l.source.Twin, one); has || err != nil {
				return err
			}
		}
		stand := &Stand{Landing: last, Session: l.Session.Name, Standing: InForce, Commit: last.After, tip: l.tip}
		if kept, err := stand.keptBy(ctx, l.Repo.Objects(), l.tip, l.source.Twin); err != nil {
			return err
		} else if !kept {
			continue
		}
		if has, err := l.Repo.Objects().Contains(ctx, l.tip, last.After); !has || err != nil {
			return err
		}
		if !l.lands.Nothing && len(l.lands.Conflicts) == 0 { // what lands now comes after it
			stand.tip = ""
		}
		l.App.Notef("%s: was rewound from what landing %d brought; %s keeps that until %s", l.name(), last.ID, l.branch, undoLine(l.App, stand, l.checkout))
		return nil
	}
	return nil
}

// along names work that lands although it is another agent's, or the user's: the agent began with it, or
// has merged it. It returns "" for none.
func (l *landing) along(ctx context.Context) (string, error) {
	var parts []string
	if from := l.Record.From; from != nil {
		words, err := l.alongFrom(ctx, from)
		if err != nil {
			return "", err
		}
		parts = append(parts, words)
	}
	merged, err := l.alongMerged()
	for _, name := range merged {
		parts = append(parts, fmt.Sprintf("work of %s that %s has merged", name, l.Record.Name))
	}
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), "; "), err
}

// alongFrom names what lands of the work that the agent began with.
func (l *landing) alongFrom(ctx context.Context, from *session.Origin) (string, error) {
	begin := slices.IndexFunc(l.lands.Steps, func(step states.Step) bool { return step.To == l.begin() })
	if begin < 0 {
		return "", nil
	}
	before := l.lands.Ahead
	before.Steps = before.Steps[:begin+1]
	own, err := l.Repo.States().Paths(ctx, before)
	if err != nil {
		return "", err
	}
	changed, err := l.Repo.Objects().ChangedPaths(ctx, l.tip, l.lands.Tree)
	changed = slices.DeleteFunc(changed, func(path string) bool { return !own[path] })
	if len(changed) == 0 || err != nil {
		return "", err
	}
	if from.Agent == "" {
		return fmt.Sprintf("what you had not committed when %s began: %s (%s)", l.Record.Name, errs.Counted(len(changed), "file"), few(changed, namedPaths)), nil
	}
	name := from.Agent
	if !strings.Contains(name, ":") { // an agent of this session
		name = l.Session.Name + "/" + name
	}
	return fmt.Sprintf("work of %s that %s began with: %s", name, l.Record.Name, errs.Counted(len(changed), "file")), nil
}

// alongMerged returns the agents that the agent has got work of, which lands with its own.
func (l *landing) alongMerged() (names []string, err error) {
	if len(l.lands.Along) == 0 {
		return nil, nil
	}
	sessions, err := l.siblings()
	for _, s := range sessions {
		for _, w := range s.Agents {
			began := l.Record.From != nil && l.Record.From.Agent == w.Name
			if s.Host == "" && !began && w.TurnSession != l.Record.TurnSession &&
				slices.ContainsFunc(l.lands.Along, func(step states.Step) bool { return step.Of == w.TurnSession }) {
				names = append(names, s.Name+"/"+w.Name)
			}
		}
	}
	return names, err
}
