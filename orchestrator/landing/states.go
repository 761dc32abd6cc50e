package landing

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"paw/orchestrator/errs"
	"paw/session"
	"paw/session/turn"
	"paw/worktree"
)

// known is the newest state of an agent that is known without a look at its worktree.
type known struct {
	commit string
	turn   int    // turn whose end it is, 0 for another state
	whole  bool   // the state has what was not committed
	left   string // last whole state, if the branch has moved since; its uncommitted files may still exist
	leftAt int    // turn before that state
}

// newestStates returns the newest known states of agents: the last snapshot of a turn, an update or
// a landing or, if the branch has moved since, the branch.
func newestStates(ctx context.Context, m worktree.Manager, agents []work) ([]known, error) {
	if len(agents) > 0 && agents[0].session.Host != "" {
		return handedStates(agents)
	}
	var prefixes, branches []string
	for _, w := range agents {
		prefixes = append(prefixes, turn.RefPrefix(w.agent.TurnSession)+"turn/", turn.UpdatedPrefix(w.agent.TurnSession))
		branches = append(branches, w.agent.Branch)
	}
	refs, err := m.Refs().List(ctx, prefixes...)
	if err != nil {
		return nil, err
	}
	tips, err := m.Refs().Branches(ctx, branches)
	if err != nil {
		return nil, err
	}
	var last []lastSnapshots
	var snapshots []string
	for i := range agents {
		one := lastSnapshots{ended: lastOf(refs, prefixes[2*i]), updated: lastOf(refs, prefixes[2*i+1]), landed: agents[i].lastLanded()}
		last = append(last, one)
		for _, s := range one.newestFirst() {
			snapshots = append(snapshots, s.commit)
		}
	}
	heads, err := m.Objects().SnapshotHeads(ctx, snapshots)
	if err != nil {
		return nil, err
	}
	var all []known
	for i, w := range agents {
		one := last[i].known(tips[w.agent.Branch], heads)
		if one.commit == "" {
			return nil, errs.New(errs.Failed, "%s: its branch %s is gone", w.agent.Name, w.agent.Branch).Hint("git branch %s %s", errs.Quote(w.agent.Branch), w.agent.BaseCommit)
		}
		all = append(all, one)
	}
	return all, nil
}

// handedStates returns the states that another machine has sent.
func handedStates(agents []work) (all []known, err error) {
	for _, w := range agents {
		one := w.handed[w.agent.Name]
		if one.Err != nil {
			return nil, one.Err
		}
		all = append(all, known{commit: one.State, turn: one.Turn, whole: one.Whole})
	}
	return all, nil
}

// numbered is a snapshot with the number of a turn.
type numbered struct {
	turn   int
	commit string // "" for none
}

// lastOf returns the snapshot with the highest number among refs with a prefix.
func lastOf(refs map[string]string, prefix string) numbered {
	last := numbered{turn: -1}
	for ref, commit := range refs {
		number, ok := strings.CutPrefix(ref, prefix)
		if n, err := strconv.Atoi(number); ok && err == nil && n > last.turn {
			last = numbered{n, commit}
		}
	}
	return last
}

// lastLanded returns the present state that an agent landed last, unless its worktree was moved
// since.
func (w work) lastLanded() numbered {
	moved := 0
	for _, shift := range w.agent.Shifts {
		if shift.Kind != session.ShiftStay {
			moved = shift.Landings
		}
	}
	for _, l := range slices.Backward(w.session.Landings) {
		if l.TurnSession == w.agent.TurnSession && l.Turn == 0 && l.Phase != session.LandingBegun && l.ID > moved {
			return numbered{l.LastTurn, l.State}
		}
	}
	return numbered{}
}

// lastSnapshots are the last snapshots of a turn's end, of an update, and of a landing.
type lastSnapshots struct{ ended, updated, landed numbered }

// newestFirst returns the existing snapshots. An update after turn n is newer than the end of turn
// n, and a landing after the update is newer still.
func (l lastSnapshots) newestFirst() (all []numbered) {
	both := []numbered{l.ended, l.updated}
	if l.updated.turn >= l.ended.turn {
		slices.Reverse(both)
		if l.landed.turn >= l.updated.turn {
			both = append([]numbered{l.landed}, both...)
		}
	}
	for _, one := range both {
		if one.commit != "" {
			all = append(all, one)
		}
	}
	return all
}

// known decides which state counts: the newest snapshot taken at the branch's tip, else the tip.
func (l lastSnapshots) known(tip string, heads map[string]string) known {
	all := l.newestFirst()
	for _, one := range all {
		if tip == "" && one == l.ended || tip != "" && heads[one.commit] == tip {
			k := known{commit: one.commit, whole: true}
			if one == l.ended {
				k.turn = one.turn
			}
			return k
		}
	}
	k := known{commit: tip}
	if len(all) > 0 && heads[all[0].commit] != all[0].commit {
		k.left, k.leftAt = all[0].commit, all[0].turn
	}
	return k
}
