package landing

import (
	"context"
	"math"
	"slices"
	"strings"
	"sync"

	"paw/config/display"
	"paw/orchestrator/turns"
	"paw/session"
	"paw/session/turn"
	"paw/worktree/gitdir"
	"paw/worktree/objects"
	"paw/worktree/states"
)

// brought finds the turns and commits of the agent that a landing brings.
type brought struct {
	turns   []turns.Turn
	commits []objects.CommitInfo // commits that the branch lacks and that the agent did not get from it, oldest first, without merges
	ends    map[string]string    // states at the ends of turns, by ref
}

// lookAtBrought finds what a landing of a source brings.
func (w work) lookAtBrought(ctx context.Context, t target, src *source, l *lands) (b brought, err error) {
	if b.ends, err = w.Repo.Refs().List(ctx, turn.StatePrefix(w.Record.TurnSession)); err != nil {
		return b, err
	}
	moves := sync.OnceValues(func() (map[int]int, error) { return turns.PutBack(ctx, w.Agent) })
	for _, t := range slices.Backward(src.Turns) {
		ahead, next := !l.None(), math.MaxInt
		for _, later := range src.Turns { // a turn whose state was not taken is in that of the next one
			if end := b.end(w, later.Number); later.Number >= t.Number && end != "" {
				ahead, next = l.Has(end), later.Number
				break
			}
		}
		if ahead && next != t.Number && src.Turn != t.Number { // unless a rewind has taken it off before that
			at, err := moves()
			if err != nil {
				return b, err
			}
			for last, left := range at {
				ahead = ahead && (last < t.Number || last >= next || left >= t.Number)
			}
		}
		merged, err := w.onlyMerged(ctx, l, b.end(w, t.Number))
		if err != nil {
			return b, err
		}
		if ahead && !merged && t.State != turn.InProgress || slices.Contains(l.again, b.end(w, t.Number)) {
			b.turns = append(b.turns, t)
		}
	}
	b.turns = append(b.turns, w.unchanged(t, src, l, b)...)
	slices.Reverse(b.turns)
	b.commits, err = w.ownCommits(ctx, t, src, l, b.ends)
	return b, err
}

// unchanged returns the turns right before those that land, newest first, that have changed nothing and have
// landed with no other: what lands may be what they asked for.
func (w work) unchanged(t target, src *source, l *lands, b brought) (some []turns.Turn) {
	if len(b.turns) == 0 || len(l.Steps) == 0 {
		return nil
	}
	first := b.turns[len(b.turns)-1].Number
	for _, one := range slices.Backward(src.Turns) {
		landed := slices.ContainsFunc(w.Session.Landings, func(landing session.Landing) bool {
			return landing.TurnSession == w.Record.TurnSession && landing.Phase == session.LandingDone && landing.LastTurn >= one.Number &&
				(landing.Target == t.branch || landing.Twin == l.Steps[0].From)
		})
		before := b.end(w, one.Number-1)
		if one.Number == 1 {
			before = w.begin()
		}
		switch from := l.Steps[0].From; {
		case one.Number >= first:
		case landed || b.end(w, one.Number) != from || before != from:
			return some
		default:
			some = append(some, one)
		}
	}
	return some
}

// onlyMerged reports whether nothing but a merge, in which nothing had to be resolved, was committed on the way to a state.
func (w work) onlyMerged(ctx context.Context, l *lands, end string) (bool, error) {
	o := w.Repo.States().Objects()
	at := slices.IndexFunc(l.Steps, func(step states.Step) bool { return step.To == end })
	if at < 1 || l.Steps[at-1].Got == "" || o.Known(end) == "" || o.Known(end) != o.Known(l.Steps[at].From) {
		return false, nil
	}
	merge := l.Steps[at-1]
	changed, err := o.PathsOf(ctx, [][2]string{{merge.From, merge.To}, {merge.Got, merge.To}})
	if err != nil {
		return false, err
	}
	for path := range changed[0] {
		if changed[1][path] {
			return false, nil
		}
	}
	return true, nil
}

func (b brought) end(w work, number int) string {
	return b.ends[turn.StateRef(w.Record.TurnSession, number)]
}

// ownCommits returns the new commits of the agent's branch: those that the other branch does not have,
// that the agent has not got, and that no landed state of the agent has.
func (w work) ownCommits(ctx context.Context, t target, src *source, l *lands, ends map[string]string) ([]objects.CommitInfo, error) {
	if src.Head == t.tip || src.Head == w.Record.BaseCommit { // no commit of its own
		return nil, nil
	}
	without := []string{t.tip}
	for _, step := range l.Steps {
		if step.Got != "" {
			without = append(without, step.Got)
		}
	}
	without = append(without, l.Gone...)
	switch {
	case len(l.Steps) > 0:
		landed, err := w.snapshotOf(ctx, l.Steps[0].From, ends)
		if err != nil {
			return nil, err
		}
		if landed != "" {
			without = append(without, landed)
		}
	case l.Onto == "":
		return nil, nil
	}
	own, err := w.Repo.Objects().CommitsSince(ctx, src.Head, without...)
	if err != nil {
		return nil, err
	}
	got, err := w.gotOf(ctx, t, own)
	return slices.DeleteFunc(own, func(one objects.CommitInfo) bool { return got[one.ID] }), err
}

// gotOf returns which of some commits the agent has got from a branch: the branch had them once, by its log, and they
// were not made in the agent's worktree.
func (w work) gotOf(ctx context.Context, t target, some []objects.CommitInfo) (map[string]bool, error) {
	made, err := w.made()
	if err != nil || !slices.ContainsFunc(some, func(one objects.CommitInfo) bool { return !made[one.ID] }) {
		return nil, err
	}
	past, err := turns.PastTips(ctx, w.Repo, t.branch)
	if err != nil || len(past) == 0 {
		return nil, err
	}
	var ids []string
	for _, one := range some {
		if !made[one.ID] {
			ids = append(ids, one.ID)
		}
	}
	return w.Repo.States().In(ctx, ids, past...)
}

// made returns the commits that were made in the agent's worktree.
func (w work) made() (map[string]bool, error) {
	admin, err := gitdir.Linked(w.Record.WorktreePath, w.Repo.Repository.CommonDir, "")
	if err != nil {
		admin = ""
	}
	return states.Made(admin)
}

// snapshotOf returns the snapshot of a state of the agent, "" if none is known.
func (w work) snapshotOf(ctx context.Context, twin string, ends map[string]string) (string, error) {
	own := turn.RefPrefix(w.Record.TurnSession)
	refs, err := w.Repo.Refs().List(ctx, own+"turn/", own+"landed/")
	if err != nil {
		return "", err
	}
	for ref, at := range ends {
		if number, is := strings.CutPrefix(ref, turn.StatePrefix(w.Record.TurnSession)); is && at == twin && refs[own+"turn/"+number] != "" {
			return refs[own+"turn/"+number], nil
		}
	}
	for ref, at := range refs {
		if landing, is := strings.CutSuffix(ref, "/twin"); is && at == twin && refs[landing+"/state"] != "" {
			return refs[landing+"/state"], nil
		}
	}
	return "", nil
}

// factsFor collects the facts about turns and commits that land.
func (w work) factsFor(b brought, state, message string, version func(made []turns.Turn) string) messageFacts {
	f := messageFacts{Session: w.Session.Name, Agent: w.Record.Name, CLI: w.Record.CLI, Turns: b.turns, Asked: message, State: state}
	if done := w.Record.Done; done != nil && len(b.turns) > 0 && done.Turn == b.turns[len(b.turns)-1].Number {
		f.Said = done.Message
	}
	for _, one := range b.commits { // the agent may have taken a prompt of paw as the message
		f.Commits = append(f.Commits, display.Title(turn.Prompt(one.Message).Task()))
	}
	if version != nil {
		f.CLI = strings.TrimSpace(f.CLI + " " + version(b.turns))
	}
	return f
}

// inRest returns the turns that have changed one of some paths, those that the agent has not committed. If no turn
// has, it returns all that land.
func (w work) inRest(ctx context.Context, b brought, l *lands, rest []string) (some []turns.Turn, err error) {
	twins, err := w.changing(ctx, l.Steps, rest)
	for _, t := range b.turns {
		if slices.Contains(twins, b.end(w, t.Number)) {
			some = append(some, t)
		}
	}
	if len(some) == 0 {
		return b.turns, err
	}
	return some, err
}
