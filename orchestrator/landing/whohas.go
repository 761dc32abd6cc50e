package landing

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/session"
)

// noteWhoHas notes who still has work that was undone: agents, with whether their own part of it
// lands again, other branches, and remotes. If its agent was removed, the note says how to get the
// work back.
func (v mover) noteWhoHas(ctx context.Context, s *session.Session, l *session.Landing) {
	refs, err := v.m.Refs().Containing(ctx, l.After)
	if err != nil {
		v.home.Notef("who else has landing %d is not known: %v", l.ID, err)
		return
	}
	sessions, err := work{Agent: app.Agent{App: v.home, Session: s, Repo: v.m}}.siblings(ctx)
	if err != nil {
		sessions = []*session.Session{s}
	}
	records := newLedger(v.m, sessions, target{branch: l.Target})
	agents := map[string]work{} // by ref
	for _, one := range sessions {
		for i := range one.Agents {
			w, ref := work{Agent: v.home.Agent(one, &one.Agents[i]).In(v.m)}, "refs/heads/"+one.Agents[i].Branch
			if agents[ref] = w; !slices.Contains(refs, ref) {
				v.noteWhoBegan(ctx, records, w, l)
			}
		}
	}
	for _, ref := range refs {
		w, isAgent := agents[ref]
		if remote, ok := strings.CutPrefix(ref, "refs/remotes/"); ok {
			v.home.Notef("%s has landing %d already: the next pull brings it back to %s", remote, l.ID, l.Target)
		} else if branch, ok := strings.CutPrefix(ref, "refs/heads/"); ok && isAgent && branch != l.Target {
			v.noteWhoHasIt(ctx, w, l)
		} else if ok && branch != l.Target {
			v.home.Notef("branch %s has landing %d: a merge of it brings that back to %s", branch, l.ID, l.Target)
		}
	}
	if s.Agent(l.Agent) == nil {
		at := ""
		if l.Checkout != "" {
			at = "-C " + errs.Quote(l.Checkout) + " "
		}
		v.home.Notef("%s was removed, and what it did is in no branch: git %smerge --ff-only %.12s brings it back, git branch NAME %.12s keeps it apart",
			l.Agent, at, l.After, l.After)
	}
}

// nameOf returns an agent as the user calls it who works in the session of the landing.
func (v mover) nameOf(w work) string {
	if w.Session.Name == v.session {
		return w.Record.Name
	}
	return w.name()
}

// noteWhoHasIt notes that the branch of an agent has work that was undone, and what follows from
// that: the agent lands again what is its own work.
func (v mover) noteWhoHasIt(ctx context.Context, w work, l *session.Landing) {
	own := false
	a, now, err := w.askBefore(ctx, l)
	if err == nil {
		var h *history
		if h, err = a.lookAtHistory(ctx, now); err == nil {
			own = slices.ContainsFunc(h.lacking(h.tip, []string{l.After}, a.lineOf(now)), func(own string) bool { return !h.inTip[h.commitOf(own)] })
		}
	}
	switch {
	case err != nil:
		v.home.Notef("%s has landing %d in its worktree; whether it lands that again is not known: %v", v.nameOf(w), l.ID, err)
	case own:
		v.home.Notef("%s has landing %d in its worktree, and lands again what it did of it itself", v.nameOf(w), l.ID)
	default:
		v.home.Notef("%s has landing %d in its worktree, and does not land it; paw update %s --session %s takes it out", v.nameOf(w), l.ID, w.Record.Name, w.Session.Name)
	}
}

// noteWhoBegan notes an agent that began with work that was undone, and whose branch does not have
// it, if a landing of the agent would bring it along.
func (v mover) noteWhoBegan(ctx context.Context, records *ledger, w work, l *session.Landing) {
	met, shared := records.meeting(records.lives.line(records.lives[w.Record.TurnSession].now), &Stand{Landing: *l})
	if !shared || met.turnSession == w.Record.TurnSession {
		return
	}
	var both *sides
	a, now, err := w.askBefore(ctx, l)
	if err == nil {
		both, err = a.sides(ctx, now)
	}
	if err != nil {
		v.home.Notef("%s began with work of landing %d; whether it lands that is not known: %v", v.nameOf(w), l.ID, err)
	} else if !both.had()[met] {
		v.home.Notef("%s began with work of landing %d, and brings that along when it lands", v.nameOf(w), l.ID)
	}
}

// askBefore returns an asker for the target as it was before a landing, and the state that the
// agent's branch is at now.
func (w work) askBefore(ctx context.Context, l *session.Landing) (*asker, state, error) {
	a, err := w.askerFor(ctx, target{branch: l.Target, tip: l.Before}, false)
	if err != nil {
		return nil, state{}, err
	}
	tip, err := tipOf(ctx, w.Repo, w.Record.Branch)
	return a, a.at(tip, 0), err
}

// along names work that lands although it is another agent's: this agent began in the midst of it.
// It returns "" for none.
func (l *landing) along(ctx context.Context, tree string) (string, error) {
	from := l.Record.From
	switch {
	case from == nil:
		return "", nil
	case from.Agent == "":
		return l.alongHanded(ctx, tree)
	}
	base, err := l.asker.base(ctx, l.sides)
	if err != nil {
		return "", err
	}
	start := cmp.Or(from.Snapshot, l.Record.BaseCommit)
	if has, err := l.Repo.Objects().Contains(ctx, base, start); has || err != nil {
		return "", err
	}
	files, err := l.changed(ctx, base, start)
	if files == 0 || err != nil {
		return "", err
	}
	name := from.Agent
	if !strings.Contains(name, ":") { // an agent of this session
		name = l.Session.Name + "/" + name
	}
	return fmt.Sprintf("work of %s that %s began with: %s", name, l.Record.Name, errs.Counted(files, "file")), nil
}

// alongHanded names the files of the user's uncommitted changes that land with the agent's work, ""
// for none.
func (l *landing) alongHanded(ctx context.Context, tree string) (string, error) {
	snapshot := l.Record.Handed()
	head, err := l.Repo.Objects().SnapshotHead(ctx, snapshot)
	if err != nil {
		return "", err
	}
	handed, err := l.Repo.Objects().ChangedPaths(ctx, head, snapshot)
	if err != nil {
		return "", err
	}
	base, err := l.asker.base(ctx, l.sides)
	if err != nil {
		return "", err
	}
	for _, pair := range [][2]string{{l.tip, tree}, {base, snapshot}} { // what lands, and what the branch lacks
		changed, err := l.Repo.Objects().ChangedPaths(ctx, pair[0], pair[1])
		if err != nil {
			return "", err
		}
		handed = slices.DeleteFunc(handed, func(path string) bool { return !slices.Contains(changed, path) })
	}
	if len(handed) == 0 {
		return "", nil
	}
	return fmt.Sprintf("what you had not committed when %s began: %s (%s)", l.Record.Name, errs.Counted(len(handed), "file"), few(handed, namedPaths)), nil
}
