package turns

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"paw/orchestrator/app"
	"paw/orchestrator/live"
	"paw/orchestrator/observe"
	"paw/session"
	"paw/session/turn"
	"paw/worktree"
)

// AgentTurns lists the turns of one agent, oldest first.
type AgentTurns struct {
	Agent string
	Turns []Turn
	// RewoundTo is the turn to whose end the worktree was put back since the last one, 0 for before the first; nil where it
	// was not, or that was taken back.
	RewoundTo *int
	BackBy    string // what `paw rewind AGENT` is given to take that back: --undo, or the turn where something else came after it
	Updated   bool   // an update came after it
}

// Turn is one turn of the log with its tag, snapshots and changed files.
type Turn struct {
	turn.Record
	Tag    string // "" when it has none on its commit
	Before string // snapshot at its begin, "" when there is none
	After  string // snapshot at its end
	Head   string // HEAD at its end where it has no snapshot
	Files  *int   // changed in the turn; nil when not known
	Cut    bool   // it is open in the log, and its CLI does not run: paw recover closes it as it is shown
}

// Incomplete reports whether the state at the begin or the end of a closed turn is not known.
func (l Turn) Incomplete() bool {
	return l.State != turn.InProgress && !l.Cut && (l.Before == "" || l.After == "")
}

// List joins log, refs and tags of one agent: two git processes, whatever
// the number of turns.
func List(ctx context.Context, h *app.App, m worktree.Manager, s *session.Session, w session.Agent) (AgentTurns, []error, error) {
	list := AgentTurns{Agent: w.Name, Turns: []Turn{}}
	// Refs first: a tag comes after the end of its turn in the log, so that no
	// turn is listed as tagged and not ended, whatever a hook writes meanwhile.
	refs, err := m.Refs().List(ctx, TagPrefix(w.TurnSession), turn.RefPrefix(w.TurnSession))
	if err != nil {
		return list, nil, err
	}
	tags := tagsIn(refs, w.TurnSession)
	records, problems := h.TurnDir(s.Name, w.Name).Records()
	if n := len(records); n > 0 && records[n-1].State == turn.InProgress {
		records[n-1] = asStatusHasIt(h, s, w, records[n-1])
	}
	var pairs [][2]string
	for _, r := range records {
		one := Turn{
			Record: r, Before: refs[turn.BeforeRef(w.TurnSession, r.Number)],
			After: cmp.Or(r.Snapshot, refs[turn.TurnRef(w.TurnSession, r.Number)]), Head: refs[turn.HeadRef(w.TurnSession, r.Number)],
		}
		if refs[turn.TurnRef(w.TurnSession, r.Number)] == "" && one.After != "" && !m.Objects().Has(ctx, one.After) {
			one.After = "" // somebody has deleted its ref, and git has collected it
		}
		if at, there := tags[r.Number]; there {
			if err := tagElsewhere(s, w, r.Number, at, r.CommitHash); err != nil {
				problems = append(problems, err)
			} else {
				one.Tag = turn.TagName(w.TurnSession, r.Number)
			}
		}
		if one.Before != "" && one.After != "" {
			pairs = append(pairs, [2]string{one.Before, one.After})
		}
		list.Turns = append(list.Turns, one)
	}
	if n := len(records); n > 0 {
		if at := w.Rewound.At(records[n-1].Number); at != records[n-1].Number && whereRewound(ctx, m, &w) {
			list.RewoundTo, list.BackBy = &at, fmt.Sprint(w.Rewound.From)
			last, undone := w.LastShift()
			updated := last != nil && last.Kind == session.ShiftUpdate
			if list.Updated = updated && !undone; !updated && !undone {
				list.BackBy = "--undo"
			}
		}
	}
	counts, err := m.Objects().CountChanges(ctx, pairs)
	if err != nil {
		return list, problems, err
	}
	for i := range list.Turns {
		if n, ok := counts[[2]string{list.Turns[i].Before, list.Turns[i].After}]; ok {
			list.Turns[i].Files = &n
		}
	}
	return list, problems, nil
}

// whereRewound reports whether the worktree of an agent is still at the commit that a rewind has put it on.
func whereRewound(ctx context.Context, m worktree.Manager, w *session.Agent) bool {
	head, err := m.Refs().WorktreeHead(ctx, w.WorktreePath)
	return err == nil && w.Rewound.Stands(head)
}

// ListGrace is how long a hook may still be at work on an end before a list shows that end without it.
const ListGrace = 2 * time.Second

// asStatusHasIt is the open turn of an agent that runs, as paw status shows it: the CLI's own record may know that it is
// over, or that nobody is waited for any more.
func asStatusHasIt(h *app.App, s *session.Session, w session.Agent, last turn.Record) turn.Record {
	lock, err := h.Locks.ProbeAgent(s.Name, w.Name)
	if err != nil || lock.State != session.LockHeld {
		return last
	}
	seen := observe.InPane(h, s, &w, lock)
	if seen.Last == nil || seen.Last.Number != last.Number || !seen.Visible || seen.Headless {
		return last
	}
	status := live.State(seen)
	shown := *seen.LastTurn(ListGrace)
	if shown.State == turn.InProgress && (status.State == session.StateRunning || status.State == session.StateWaitingInput) {
		shown.Waiting, shown.Question = status.State == session.StateWaitingInput, status.Reason
	}
	return shown
}

// State is an agent's work at one moment: a commit, and how far the turns had come.
type State struct {
	Commit   string
	Finished session.Finished // the turns that had ended well by then
	Last     int              // number of the last turn that had ended by then, well or not
}

// CurrentState returns the state of an agent at this moment. The turns are counted first: one that ends meanwhile stays to be reviewed.
func CurrentState(ctx context.Context, h *app.App, m worktree.Manager, s *session.Session, agentName string) (State, error) {
	s, err := h.Load(s.Name)
	if err != nil {
		return State{}, err
	}
	w, err := app.AgentNamed(s, agentName)
	if err != nil {
		return State{}, err
	}
	ended := 0
	if last, err := h.TurnDir(s.Name, agentName).Last(); err == nil && last != nil {
		if ended = last.Number; last.State == turn.InProgress {
			ended--
		}
	}
	commit, err := StateNow(ctx, h, m, s, w)
	return State{Commit: commit, Finished: w.Finished, Last: ended}, err
}

// FinishedUpTo counts the turns of a list that ended well, up to that of a number.
func FinishedUpTo(list []Turn, number int) session.Finished {
	var counted session.Finished
	for _, one := range list {
		if one.State == turn.Finished && one.Number <= number {
			counted.Add(one.Number)
		}
	}
	return counted
}

// LastSeen is the state that the user looked at last: the base, where there was no look yet.
func LastSeen(ctx context.Context, m worktree.Manager, w *session.Agent) (string, error) {
	ref := turn.SeenRef(w.TurnSession)
	refs, err := m.Refs().List(ctx, ref)
	if err != nil || refs[ref] == "" {
		return w.Base(), err
	}
	return refs[ref], nil
}

// MarkSeen keeps what the user has looked at. Killed after the ref, it leaves turns to be reviewed that are seen, not the
// other way round.
func MarkSeen(ctx context.Context, h *app.App, m worktree.Manager, sessionName string, w *session.Agent, look State) error {
	saw, err := KeepSeen(ctx, h, m, w, look)
	if err != nil {
		return err
	}
	return h.UpdateAgent(ctx, sessionName, w.Name, saw)
}

// KeepSeen is MarkSeen for who saves the record anyway: saw is what the record of the agent gets.
func KeepSeen(ctx context.Context, h *app.App, m worktree.Manager, w *session.Agent, look State) (saw func(*session.Agent), err error) {
	if err := m.Refs().Set(ctx, turn.SeenRef(w.TurnSession), look.Commit); err != nil {
		return nil, err
	}
	h.Step("seen.ref")
	return func(w *session.Agent) { w.Seen, w.SeenCut = look.Finished, max(look.Last, w.SeenCut) }, nil
}
