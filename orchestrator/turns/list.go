package turns

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
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
	Agent    string
	Turns    []Turn
	Finished int // turns that ended well, by the record
	// RewoundTo is the turn to whose end the worktree was rewound after the last turn, 0 for the
	// start; nil where it was not, or the rewind was undone.
	RewoundTo *int
	Where     string // says that, and whether an update followed
	BackBy    string // argument of `paw rewind AGENT` that takes the rewind back: --undo, or a turn's number if something else followed

	LeftOut []string // notes about numbers that have a foreign tag and no turn
}

// Turn is one turn of the log with its tag, snapshots and changed files.
type Turn struct {
	turn.Record
	Tag     string // tag of the turn, "" when no tag is on the turn's commit
	Before  string // snapshot at the turn's begin, "" for none
	After   string // snapshot at the turn's end, "" for none
	Head    string // HEAD at the turn's end if there is no snapshot
	Files   *int   // number of files changed in the turn; nil when unknown, or before CountFiles
	LogGone bool   // the turn's log is gone: only its tag and refs are known
	Cut     bool   // open in the log while the agent's CLI does not run: shown as paw recover will close it
}

// Incomplete reports whether the state at the begin or end of a closed turn is unknown.
func (l Turn) Incomplete() bool {
	return l.State != turn.InProgress && !l.Cut && (l.Before == "" || l.After == "")
}

// List joins log, refs and tags of one agent.
func List(ctx context.Context, a app.Agent) (AgentTurns, []error, error) {
	list := AgentTurns{Agent: a.Record.Name, Turns: []Turn{}, Finished: a.Record.Turns}
	// Refs are read first: a tag is made after the turn's end is logged, so that no turn is listed
	// as tagged and not ended, whatever a hook writes meanwhile.
	refs, err := a.Repo.Refs().List(ctx, TagPrefix(a.Record.TurnSession), turn.RefPrefix(a.Record.TurnSession))
	if err != nil {
		return list, nil, err
	}
	tags := tagsIn(refs, a.Record.TurnSession)
	records, problems := a.TurnDir().Records()
	if n := len(records); n > 0 && records[n-1].State == turn.InProgress {
		records[n-1] = asStatusHasIt(a, records[n-1])
	}
	var gone map[int]bool
	if len(problems) == 0 { // else its log may be there, and cannot be read
		records, gone = list.withLogGone(records, tags, refs, a.Record.TurnSession)
	}
	for _, r := range records {
		one := Turn{
			LogGone: gone[r.Number],
			Record:  r, Before: refs[turn.BeforeRef(a.Record.TurnSession, r.Number)],
			After: cmp.Or(r.Snapshot, refs[turn.TurnRef(a.Record.TurnSession, r.Number)]), Head: refs[turn.HeadRef(a.Record.TurnSession, r.Number)],
		}
		if refs[turn.TurnRef(a.Record.TurnSession, r.Number)] == "" && one.After != "" && !a.Repo.Objects().Has(ctx, one.After) {
			one.After = "" // the turn's ref was deleted, and git has collected the commit
		}
		if at, there := tags[r.Number]; there {
			if err := tagElsewhere(a.Session, *a.Record, r.Number, at, r.CommitHash); err != nil {
				problems = append(problems, err)
			} else {
				one.Tag = turn.TagName(a.Record.TurnSession, r.Number)
			}
		}
		list.Turns = append(list.Turns, one)
	}
	return list, problems, nil
}

// CountFiles counts the files that changed in each turn, with two git processes for any number of
// turns.
func (list *AgentTurns) CountFiles(ctx context.Context, m *worktree.Manager) error {
	var pairs [][2]string
	for _, one := range list.Turns {
		if one.Before != "" && one.After != "" {
			pairs = append(pairs, [2]string{one.Before, one.After})
		}
	}
	counts, err := m.Objects().Changes(ctx, pairs)
	for i := range list.Turns {
		if c, counted := counts[[2]string{list.Turns[i].Before, list.Turns[i].After}]; counted {
			list.Turns[i].Files = &c.Files
		}
	}
	return err
}

// AddRewind adds where a rewind has put the agent's worktree, if the worktree is there still.
func (list *AgentTurns) AddRewind(ctx context.Context, a app.Agent) error {
	if len(list.Turns) == 0 {
		return nil
	}
	last := list.Turns[len(list.Turns)-1].Number
	op, at, err := Position(ctx, a, last)
	if at == last || err != nil {
		return err
	}
	list.RewoundTo, list.Where, list.BackBy = &at, op.Where(), fmt.Sprint(last)
	if op.Kind == turn.OpRewind && !op.Undone {
		list.BackBy = "--undo"
	}
	return nil
}

// withLogGone adds the turns that have a tag and no log any more, and to LeftOut the numbers that were claimed for no turn. A
// tag whose number was never claimed is not of a turn.
func (list *AgentTurns) withLogGone(records []turn.Record, tags map[int]string, refs map[string]string, turnSession string) (all []turn.Record, gone map[int]bool) {
	gone = map[int]bool{}
	for _, n := range slices.Sorted(maps.Keys(tags)) {
		logged := slices.ContainsFunc(records, func(r turn.Record) bool { return r.Number == n })
		switch claimed := refs[fmt.Sprint(turn.ClaimPrefix(turnSession), n)] != ""; {
		case n == 0 || logged || !claimed:
		case refs[turn.BeforeRef(turnSession, n)]+refs[turn.TurnRef(turnSession, n)]+refs[turn.HeadRef(turnSession, n)] == "":
			list.LeftOut = append(list.LeftOut, leftOut(n, turn.TagName(turnSession, n)))
		default:
			gone[n] = true
			all = append(all, turn.Record{Number: n, State: turn.Finished, CommitHash: tags[n]})
		}
	}
	all = append(all, records...)
	slices.SortStableFunc(all, func(a, b turn.Record) int { return a.Number - b.Number })
	return all, gone
}

// ListGrace is how long a hook may take to record an end before lists show the end from the CLI's
// own record.
const ListGrace = 2 * time.Second

// asStatusHasIt returns the open turn of a running agent as paw status shows it: according to the
// CLI's own record the turn may be over, or may not wait any more.
func asStatusHasIt(a app.Agent, last turn.Record) turn.Record {
	lock, err := a.ProbeLock()
	if err != nil || lock.State != session.LockHeld {
		return last
	}
	seen := observe.InPane(a, lock)
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

// BadEnd says how the last turn of an agent ended, as live.BadEnd does. It returns "" after a rewind,
// and once the user has marked the turn as seen.
func BadEnd(ctx context.Context, a app.Agent) string {
	last, err := a.TurnDir().Last()
	if err != nil || last == nil || last.Number <= a.Record.SeenCut {
		return ""
	}
	one := *last
	if one.State == turn.InProgress {
		one = asStatusHasIt(a, one)
	}
	if lock, err := a.ProbeLock(); one.State == turn.InProgress && err == nil && lock.State == session.LockFree {
		one.State, one.Reason = turn.Aborted, turn.ReasonCrash // as paw recover will close it
	}
	end := live.BadEnd(one)
	if end != "" {
		if _, at, err := Position(ctx, a, last.Number); err == nil && at != last.Number {
			return ""
		}
	}
	return end
}

// State is an agent's work at one moment: a commit, and the number of turns by then.
type State struct {
	Commit   string
	Twin     string           // the state in the agent's chain
	Finished session.Finished // turns that had finished by then
	Last     int              // number of the last turn that had ended by then, finished or aborted
}

// CurrentState returns the state of an agent now. It counts the turns first: one that ends
// meanwhile stays to be reviewed.
func CurrentState(ctx context.Context, a app.Agent) (State, error) {
	s, err := a.App.Load(a.Session.Name)
	if err != nil {
		return State{}, err
	}
	w, err := app.AgentNamed(s, a.Record.Name)
	if err != nil {
		return State{}, err
	}
	ended := 0
	if last, err := a.TurnDir().Last(); err == nil && last != nil {
		if ended = last.Number; last.State == turn.InProgress {
			ended--
		}
	}
	a = a.App.Agent(s, w).In(a.Repo)
	shot, err := Now(ctx, a)
	if err != nil {
		return State{}, err
	}
	look := State{Commit: shot.Commit, Finished: w.Finished, Last: ended}
	look.Twin, err = twinOf(ctx, a, shot.Commit, HeadOf(shot))
	return look, err
}

// StateShown returns a state of an agent that was shown before, by its commit.
func StateShown(ctx context.Context, a app.Agent, commit string) (State, error) {
	head, err := a.Repo.Objects().SnapshotHead(ctx, commit)
	if err != nil {
		return State{}, err
	}
	twin, err := twinOf(ctx, a, commit, head)
	return State{Commit: commit, Twin: twin}, err
}

func twinOf(ctx context.Context, a app.Agent, commit, head string) (string, error) {
	chain, err := ChainOf(ctx, a)
	if err != nil {
		return "", err
	}
	now, err := chain.Then(ctx, commit, head, Present(a))
	return now.Twin, err
}

// FinishedUpTo counts the finished turns of a list up to a number.
func FinishedUpTo(list []Turn, number int) session.Finished {
	var counted session.Finished
	for _, one := range list {
		if one.State == turn.Finished && one.Number <= number {
			counted.Add(one.Number)
		}
	}
	return counted
}

// LastSeen returns the commit that the user looked at last, or the base.
func LastSeen(ctx context.Context, a app.Agent) (string, error) {
	ref := turn.SeenRef(a.Record.TurnSession)
	if a.Record.SeenLanded > 0 {
		ref = turn.LandedRef(a.Record.TurnSession, a.Record.SeenLanded, "twin")
	}
	seen, err := a.Repo.Refs().Read(ctx, ref)
	if seen != "" || err != nil {
		return seen, err
	}
	err = BeginThere(ctx, a)
	return a.Record.Base(), err
}

// MarkSeen records what the user has looked at. If paw is killed in between, seen turns are still
// shown as to be reviewed, never the opposite.
func MarkSeen(ctx context.Context, a app.Agent, look State) error {
	if err := a.Repo.Refs().Set(ctx, turn.SeenRef(a.Record.TurnSession), look.Twin); err != nil {
		return err
	}
	a.App.Step("seen.ref")
	return a.App.UpdateAgent(ctx, a.Session.Name, a.Record.Name, func(w *session.Agent) {
		w.Seen, w.SeenLanded, w.SeenCut = look.Finished, 0, max(look.Last, w.SeenCut)
	})
}
