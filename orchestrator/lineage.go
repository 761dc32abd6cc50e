package orchestrator

import (
	"cmp"
	"context"
	"strings"
	"time"

	"paw/orchestrator/app"
	"paw/orchestrator/landing"
	"paw/session"
	"paw/session/turn"
	"paw/worktree"
	"paw/worktree/objects"
)

// By is the kind of origin of a line.
type By string

// The kinds of origins of a line.
const (
	ByTurn        By = "turn"
	ByYou         By = "you" // the line was changed in an agent's worktree between the agent's turns
	ByCommit      By = "commit"
	ByUncommitted By = "uncommitted" // not committed, in a checkout of the user
)

// LineOrigin is a turn of an agent, or the time before or after a turn.
type LineOrigin struct {
	Session, Agent, CLI string
	Turn                int // 0 for no turn
	First               int // first of several turns whose changes cannot be told apart, else equal to Turn
	Before              int // next turn, for changes between turns; 0 for none
	Prompt, Message     string
	By                  By
	Gone                bool // the agent was removed
	from, to            time.Time
}

// lineage collects the states of agents in order, with the origins that they stand for.
type lineage struct {
	h       *app.App
	m       *worktree.Manager // writes nothing into the repository
	steps   []objects.LineStep
	origins []*LineOrigin
	ends    map[string]map[int]int // for each turn session, the index of the step at the end of each turn
	refs    map[string]string
}

// add appends a state with its parent steps, unless it equals its first parent, and returns its
// step.
func (l *lineage) add(state string, origin *LineOrigin, after ...int) int {
	if len(after) > 0 && l.steps[after[0]].State == state {
		return after[0]
	}
	l.steps, l.origins = append(l.steps, objects.LineStep{State: state, After: after}), append(l.origins, origin)
	return len(l.steps) - 1
}

// agent adds the states of an agent from its base to the end of its last turn, and returns the last
// step.
func (l *lineage) agent(s *session.Session, w session.Agent) (last int) {
	if ends := l.ends[w.TurnSession]; ends != nil {
		return ends[-1]
	}
	ends := map[int]int{}
	l.ends[w.TurnSession] = ends
	records := l.records(s, w)
	at := l.begin(s, w, records)
	if ends[0], ends[-1] = at, at; at < 0 {
		return at
	}
	first := 0 // first turn without a known end before this one
	for i, r := range records {
		before, after := l.refs[turn.BeforeRef(w.TurnSession, r.Number)], l.refs[turn.TurnRef(w.TurnSession, r.Number)]
		if first == 0 {
			first = r.Number
		}
		from := []int{at}
		if i > 0 {
			from = l.rewound(&w, records[i-1].Number, at)
		}
		if before != "" && first == r.Number {
			between := &LineOrigin{Session: s.Name, Agent: w.Name, CLI: w.CLI, Before: r.Number, By: ByYou}
			at = l.add(before, between, from...)
			from = []int{at}
		}
		if after == "" {
			continue
		}
		at = l.add(after, l.ofTurn(s, w, r, first), from...)
		ends[r.Number], ends[-1], first = at, at, 0
	}
	ends[-1] = at
	return at
}

// records returns the turns of an agent. Of an agent on a host, only the numbers of the fetched
// turns are known.
func (l *lineage) records(s *session.Session, w session.Agent) (records []turn.Record) {
	if s.Host == "" {
		records, _ = l.h.TurnDir(s.Name, w.Name).Records()
		return records
	}
	for number := 1; number <= w.TurnHighWater; number++ {
		if l.refs[turn.TurnRef(w.TurnSession, number)] != "" {
			records = append(records, turn.Record{Number: number})
		}
	}
	return records
}

// begin returns the step with which an agent began: its base, or the state of the agent that it was
// made from.
func (l *lineage) begin(s *session.Session, w session.Agent, records []turn.Record) int {
	base := w.BaseCommit
	if base == "" && len(records) > 0 { // the agent was removed
		base = records[0].StartCommit
	}
	if base == "" {
		return -1
	}
	at := l.add(base, nil)
	if w.From == nil {
		return at
	}
	parents := []int{at}
	handed, came := cmp.Or(w.From.Snapshot, base), &LineOrigin{Session: s.Name, Agent: w.Name, CLI: w.CLI, Before: 1, By: ByYou}
	if w.From.Agent != "" {
		owner, source := l.source(s, w)
		l.agent(owner, source)
		if end, there := l.ends[source.TurnSession][w.From.Turn]; there && end >= 0 {
			parents = []int{end, at}
		}
		number := w.From.Turn + 1 // the turn was still open
		if owner.Host != "" {
			number = w.From.Turn
		}
		came = &LineOrigin{Session: owner.Name, Agent: source.Name, CLI: source.CLI, Turn: number, First: number, By: ByTurn}
	}
	if w.From.Snapshot == "" && len(parents) == 1 {
		return at
	}
	return l.add(handed, came, parents...)
}

// source returns the agent from which w was made, with its session. The session of an agent on a
// host has a record once something of it has landed.
func (l *lineage) source(s *session.Session, w session.Agent) (*session.Session, session.Agent) {
	name, agent, _ := strings.Cut(w.From.Agent, "/")
	host, _, far := strings.Cut(name, ":")
	if !far {
		return s, blamedAgent(s, w.From.Agent, "")
	}
	turnSession := s.TurnSessionOf(w.From.Agent)
	if there, err := l.h.Store.LoadAny(name); err == nil && there != nil {
		return there, blamedAgent(there, agent, turnSession)
	}
	return &session.Session{Name: name, Host: host}, session.Agent{Name: agent, TurnSession: turnSession, BaseCommit: w.BaseCommit, TurnHighWater: w.From.Turn}
}

// rewound returns the parent steps of the state after a turn, including the step to which the
// worktree was rewound.
func (l *lineage) rewound(w *session.Agent, last, at int) []int {
	to := -1
	for _, shift := range w.Shifts {
		switch {
		case shift.Last != last:
		case shift.Kind == session.ShiftRewind:
			to = shift.To
		case shift.Kind == session.ShiftUndo:
			to = -1
		}
	}
	if step, there := l.ends[w.TurnSession][to]; there && to >= 0 && step != at {
		return []int{step, at}
	}
	return []int{at}
}

func (l *lineage) ofTurn(s *session.Session, w session.Agent, r turn.Record, first int) *LineOrigin {
	origin := &LineOrigin{
		Session: s.Name, Agent: w.Name, CLI: w.CLI, Turn: r.Number, First: first,
		Prompt: r.Prompt.Words(), Message: r.Message, By: ByTurn, Gone: s.Agent(w.Name) == nil, from: r.StartedAt, to: time.Now(),
	}
	if r.EndedAt != nil {
		origin.to = *r.EndedAt
	}
	return origin
}

// since returns the origin of changes after the agent's last turn, or in its open turn.
func (l *lineage) since(s *session.Session, w session.Agent) *LineOrigin {
	if last, err := l.h.TurnDir(s.Name, w.Name).Last(); err == nil && last != nil && last.State == turn.InProgress {
		return l.ofTurn(s, w, *last, last.Number)
	}
	return &LineOrigin{Session: s.Name, Agent: w.Name, CLI: w.CLI, By: ByYou}
}

func (l *lineage) lastTurn(s *session.Session, agent string) int {
	last, err := l.h.TurnDir(s.Name, agent).Last()
	if err != nil || last == nil {
		return 0
	}
	return last.Number
}

// landings adds the states of all landings in a repository that still have their refs, by the
// commits of the landings.
func (l *lineage) landings(ctx context.Context, gitCommonDir string) map[string]objects.LineLanding {
	found := map[string]objects.LineLanding{}
	sessions, _, err := l.h.Store.ListAll()
	if err != nil {
		return found
	}
	for _, s := range sessions {
		if s.GitCommonDir != gitCommonDir {
			continue
		}
		rewritten := l.rewritten(ctx, s)
		for _, landed := range s.Landings {
			side := func(side string) string { return l.refs[turn.LandedRef(landed.TurnSession, landed.ID, side)] }
			before, after, state := side("before"), side("after"), side("state")
			if before == "" || after == "" || state == "" {
				continue
			}
			w := blamedAgent(s, landed.Agent, landed.TurnSession)
			if l.agent(s, w) < 0 {
				continue
			}
			at, there := l.ends[w.TurnSession][landed.LastTurn]
			if !there {
				at = l.ends[w.TurnSession][0]
			}
			since := &LineOrigin{Session: s.Name, Agent: w.Name, CLI: w.CLI, Before: landed.LastTurn + 1, By: ByYou}
			step := l.add(state, since, at)
			found[after] = objects.LineLanding{Before: before, State: step}
			if by, is := rewritten[landed.ID]; is {
				found[by.ID] = objects.LineLanding{Before: by.Parents[0], State: step}
			}
		}
	}
	return found
}

// rewritten returns the commits that landings of a session were rewritten to since, as by git
// commit --amend, by the number of the landing.
func (l *lineage) rewritten(ctx context.Context, s *session.Session) map[int]objects.CommitInfo {
	found := map[int]objects.CommitInfo{}
	if len(s.Landings) == 0 {
		return found
	}
	all, err := landing.Standings(ctx, l.h, s)
	if err != nil {
		return found
	}
	for _, one := range all {
		if one.Standing != landing.Rewritten || one.Commit == "" {
			continue
		}
		since, err := l.m.Objects().HistorySince(ctx, one.Commit, one.Before)
		if n := len(since); err == nil && n > 0 && len(since[n-1].Parents) > 0 {
			found[one.ID] = since[n-1]
		}
	}
	return found
}

// blamedAgent returns an agent of a session or, for a removed agent, what its last landing recorded. An
// empty turnSession means that of the name.
func blamedAgent(s *session.Session, name, turnSession string) session.Agent {
	there := s.Agent(name)
	if there != nil && (turnSession == "" || there.TurnSession == turnSession) {
		return *there
	}
	gone := session.Agent{Name: name, TurnSession: cmp.Or(turnSession, s.TurnSessionOf(name))}
	for _, landed := range s.Landings {
		if landed.TurnSession != gone.TurnSession {
			continue
		}
		gone.Shifts = landed.Shifts
		if gone.From = landed.From; landed.Began != "" {
			gone.From = &session.Origin{Snapshot: landed.Began}
		}
	}
	return gone
}
