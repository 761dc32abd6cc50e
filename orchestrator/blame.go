package orchestrator

import (
	"context"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/turns"
	"paw/session"
	"paw/session/turn"
	"paw/worktree"
)

// BlameOptions are the options of paw blame.
type BlameOptions struct {
	Agent       string // "" for the file in the user's current checkout
	Turn        string // "" for the agent's present state
	State       string // commit of a state of the agent that was shown before, instead of the present state
	File        string // relative to the repository if Agent is set, else to the current directory
	Lines       string // N or N,M, "" for all
	IgnoreSpace bool
}

// By is the kind of origin of a line.
type By string

// The kinds of origins of a line.
const (
	ByTurn        By = "turn"
	ByYou         By = "you" // the line was changed in an agent's worktree between the agent's turns
	ByCommit      By = "commit"
	ByUncommitted By = "uncommitted" // not committed, in a checkout of the user
)

// Blamed is a line with its origin.
type Blamed struct {
	worktree.BlamedLine
	By     By
	Origin *LineOrigin // nil for a commit, and for uncommitted changes
}

// LineOrigin is a turn of an agent, or the time before or after a turn.
type LineOrigin struct {
	Session, Agent, CLI string
	Turn                int // 0 for no turn
	First               int // first of several turns whose changes cannot be told apart, else equal to Turn
	Before              int // next turn, for changes between turns; 0 for none
	Prompt, Message     string
	By                  By
	from, to            time.Time
}

// lineage collects the states of agents in order, with the origins that they stand for.
type lineage struct {
	h       *app.App
	m       worktree.Manager // writes nothing into the repository
	steps   []worktree.LineStep
	origins []*LineOrigin
	ends    map[string]map[int]int // for each turn session, the index of the step at the end of each turn
	refs    map[string]string
}

// Blame returns, for each line of a file, the agent's turn or the commit that introduced the line.
func Blame(ctx context.Context, h *app.App, s *session.Session, o BlameOptions) ([]Blamed, error) {
	m, err := h.ManagerOf(ctx, s)
	if err != nil {
		return nil, err
	}
	reader, drop, err := m.WithScratch()
	if err != nil {
		return nil, err
	}
	defer drop()
	l := &lineage{h: h, m: reader, ends: map[string]map[int]int{}}
	if l.refs, err = reader.Refs().List(ctx, turn.HiddenPrefix); err != nil {
		return nil, err
	}
	of := worktree.BlameOptions{Path: o.File, Lines: o.Lines, IgnoreSpace: o.IgnoreSpace}
	last := -1
	if o.Agent != "" {
		if last, err = l.agentAt(ctx, s, o); err != nil {
			return nil, err
		}
	} else {
		of.Dir = h.Dir
	}
	landed := l.landings(s.GitCommonDir)
	commits, heads, parents, err := reader.Objects().Line(ctx, l.steps, landed)
	if err != nil {
		return nil, err
	}
	of.Parents = parents
	if last >= 0 {
		of.Commit = commits[last]
	}
	lines, err := reader.Objects().Blame(ctx, of)
	if err != nil {
		return nil, errs.New(errs.Failed, "%s: %w", o.File, err)
	}
	return l.tell(ctx, lines, commits, heads)
}

// agentAt returns the step of the agent's state that was asked for: the present one, or the end of
// a turn.
func (l *lineage) agentAt(ctx context.Context, s *session.Session, o BlameOptions) (int, error) {
	w, err := app.AgentNamed(s, o.Agent)
	if err != nil {
		return -1, err
	}
	if o.Turn == "" {
		state := o.State
		if state == "" {
			now, err := turns.CurrentState(ctx, l.h, l.m, s, o.Agent)
			if err != nil {
				return -1, err
			}
			state = now.Commit
		}
		at := l.agent(s, *w)
		return l.add(state, l.since(s, *w), l.rewound(w, l.lastTurn(s, w.Name), at)...), nil
	}
	number, err := strconv.Atoi(o.Turn)
	l.agent(s, *w)
	step, there := l.ends[w.TurnSession][number]
	if err != nil || !there {
		return -1, errs.New(errs.Failed, "%s: turn %s has no snapshot", o.Agent, o.Turn).Hint("paw turns %s/%s", s.Name, o.Agent)
	}
	return step, nil
}

// add appends a state with its parent steps, unless it equals its first parent, and returns its
// step.
func (l *lineage) add(state string, origin *LineOrigin, after ...int) int {
	if len(after) > 0 && l.steps[after[0]].State == state {
		return after[0]
	}
	l.steps, l.origins = append(l.steps, worktree.LineStep{State: state, After: after}), append(l.origins, origin)
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
	records, _ := l.h.TurnDir(s.Name, w.Name).Records()
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
	if source := s.Agent(w.From.Agent); source != nil {
		l.agent(s, *source)
		if end, there := l.ends[source.TurnSession][w.From.Turn]; there && end >= 0 {
			parents = []int{end, at}
		}
	}
	if w.From.Snapshot == "" && len(parents) == 1 {
		return at
	}
	handed := base
	if w.From.Snapshot != "" {
		handed = w.From.Snapshot
	}
	if w.From.Agent == "" {
		return l.add(handed, &LineOrigin{Session: s.Name, Agent: w.Name, CLI: w.CLI, Before: 1, By: ByYou}, parents...)
	}
	return l.add(handed, &LineOrigin{Session: s.Name, Agent: w.From.Agent, Turn: w.From.Turn + 1, First: w.From.Turn + 1, By: ByTurn}, parents...)
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
		Prompt: r.Prompt.Words(), Message: r.Message, By: ByTurn, from: r.StartedAt, to: time.Now(),
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
func (l *lineage) landings(gitCommonDir string) map[string]worktree.LineLanding {
	found := map[string]worktree.LineLanding{}
	sessions, _, err := l.h.Store.List()
	if err != nil {
		return found
	}
	for _, s := range sessions {
		if s.GitCommonDir != gitCommonDir {
			continue
		}
		for _, landing := range s.Landings {
			side := func(side string) string { return l.refs[turn.LandedRef(landing.TurnSession, landing.ID, side)] }
			before, after, state := side("before"), side("after"), side("state")
			if before == "" || after == "" || state == "" {
				continue
			}
			w := session.Agent{Name: landing.Agent, TurnSession: landing.TurnSession}
			if there := s.Agent(landing.Agent); there != nil && there.TurnSession == landing.TurnSession {
				w = *there
			}
			if l.agent(s, w) < 0 {
				continue
			}
			at, there := l.ends[w.TurnSession][landing.LastTurn]
			if !there {
				at = l.ends[w.TurnSession][0]
			}
			since := &LineOrigin{Session: s.Name, Agent: w.Name, CLI: w.CLI, Before: landing.LastTurn + 1, By: ByYou}
			found[after] = worktree.LineLanding{Before: before, State: l.add(state, since, at)}
		}
	}
	return found
}

// tell finds the origin of each line.
func (l *lineage) tell(ctx context.Context, lines []worktree.BlamedLine, commits, heads []string) ([]Blamed, error) {
	byCommit := map[string]*LineOrigin{}
	for i, id := range commits {
		if l.origins[i] != nil && len(l.steps[i].After) > 0 {
			byCommit[id] = l.origins[i]
		}
	}
	asked := map[string]bool{}
	var told []Blamed
	for _, line := range lines {
		one := Blamed{BlamedLine: line, By: ByCommit}
		if strings.Trim(line.Commit, "0") == "" {
			one.By = ByUncommitted
			told = append(told, one)
			continue
		}
		if byCommit[line.Commit] == nil && !asked[line.Commit] {
			asked[line.Commit] = true
			if err := l.committed(ctx, line, heads, byCommit); err != nil {
				return nil, err
			}
		}
		if one.Origin = byCommit[line.Commit]; one.Origin != nil {
			one.By = one.Origin.By
			switch {
			case one.By != ByTurn:
			case line.Author != "paw": // a commit of the agent, no snapshot
				one.At = line.Committed
			case !one.Origin.to.IsZero():
				one.At = one.Origin.to
			}
		}
		told = append(told, one)
	}
	return told, nil
}

// committed finds the turn in which an agent made a commit: a turn that was open at the time of the
// commit and moved HEAD along first parents over it, so that the commit was not merged.
func (l *lineage) committed(ctx context.Context, line worktree.BlamedLine, heads []string, byCommit map[string]*LineOrigin) error {
	for i, origin := range l.origins {
		if origin == nil || origin.By != ByTurn || origin.from.IsZero() || len(l.steps[i].After) == 0 {
			continue
		}
		from := heads[l.steps[i].After[len(l.steps[i].After)-1]]
		if from == heads[i] || line.Committed.Before(origin.from.Add(-time.Second)) || line.Committed.After(origin.to.Add(time.Second)) {
			continue
		}
		made, err := l.m.Objects().FirstParents(ctx, from, heads[i])
		if err != nil {
			return err
		}
		if made[line.Commit] {
			byCommit[line.Commit] = origin
			return nil
		}
	}
	return nil
}

// AgentHere returns the agent in whose worktree the user is, "" for none, and path relative to that
// worktree.
func AgentHere(h *app.App, s *session.Session, path string) (agent, inRepository string) {
	place, err := worktree.Discover(h.Dir)
	if err != nil {
		return "", path
	}
	at := slices.IndexFunc(s.Agents, func(w session.Agent) bool { return w.WorktreePath == place.Worktree })
	if at < 0 {
		return "", path
	}
	if full := filepath.Join(h.Dir, path); !filepath.IsAbs(path) {
		path = full
	}
	if below, err := filepath.Rel(place.Worktree, path); err == nil {
		path = below
	}
	return s.Agents[at].Name, path
}
