package orchestrator

import (
	"context"
	"slices"
	"strings"
	"time"

	"paw/orchestrator/app"
	"paw/orchestrator/turns"
	"paw/session"
	"paw/session/turn"
	"paw/worktree"
	"paw/worktree/objects"
	"paw/worktree/states"
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
	ended               time.Time
}

// origins finds the origins of lines by the commits that paw made.
type origins struct {
	h        *app.App
	m        *worktree.Manager // writes nothing into the repository
	refs     map[string]string
	sessions []*session.Session     // of the repository
	shown    string                 // turn session of the agent whose file is shown
	known    map[string]*LineOrigin // by commit, nil if the session has no record
}

func originsIn(ctx context.Context, h *app.App, m *worktree.Manager) (*origins, error) {
	l := &origins{h: h, m: m, known: map[string]*LineOrigin{}}
	all, _, err := h.Store.ListAll()
	if err != nil {
		return nil, err
	}
	l.sessions = slices.DeleteFunc(all, func(s *session.Session) bool { return s.GitCommonDir != m.Repository.CommonDir })
	l.refs, err = m.Refs().List(ctx, turn.HiddenPrefix)
	return l, err
}

// of returns the origin of a line of one of paw's commits: a twin, or the state that another one began
// with. It is nil if no record has the agent.
func (l *origins) of(ctx context.Context, line objects.BlamedLine) (origin *LineOrigin, err error) {
	origin, known := l.known[line.Commit]
	if known {
		return origin, nil
	}
	if moment, twin := turns.MomentOf(line.Own); twin {
		s, w, err := l.owner(ctx, moment.TurnSession, line.Commit)
		if s == nil || err != nil {
			return nil, err
		}
		origin = l.at(s, w, moment)
	} else {
		origin = l.begun(line.Commit)
	}
	l.known[line.Commit] = origin
	return origin, nil
}

// owner returns the agent whose turn session a twin names. Machines may use the same name: then it is that
// of the refs that have the twin.
func (l *origins) owner(ctx context.Context, turnSession, twin string) (*session.Session, session.Agent, error) {
	var owners []*session.Session
	for _, s := range l.sessions {
		if _, is := agentOf(s, turnSession); is {
			owners = append(owners, s)
		}
	}
	for _, s := range owners {
		w, _ := agentOf(s, turnSession)
		if len(owners) > 1 {
			has, err := states.Containing(ctx, l.m.Objects(), twin, turn.RefPrefix(w.TurnSession))
			if err != nil {
				return nil, w, err
			}
			if len(has) == 0 {
				continue
			}
		}
		return s, w, nil
	}
	return nil, session.Agent{}, nil
}

// agentOf returns the agent of a session whose turn session has this name on its own machine. Of a
// removed agent only the name is known.
func agentOf(s *session.Session, turnSession string) (w session.Agent, is bool) {
	name, is := strings.CutPrefix(turnSession, strings.TrimPrefix(s.Name, s.Host+":")+"_")
	if w := s.Agent(name); w != nil {
		return *w, true
	}
	return session.Agent{Name: name, TurnSession: s.TurnSessionOf(name)}, is
}

// at returns the origin of what a state has beyond the one before it.
func (l *origins) at(s *session.Session, w session.Agent, m turns.Moment) *LineOrigin {
	records := l.records(s, w)
	ended := func(number int) bool {
		return l.refs[turn.TurnRef(w.TurnSession, number)] != "" || l.refs[turn.StateRef(w.TurnSession, number)] != ""
	}
	origin := &LineOrigin{Session: s.Name, Agent: w.Name, CLI: w.CLI, Turn: m.Turn, First: m.First, By: ByTurn}
	before := slices.DeleteFunc(slices.Clone(records), func(r turn.Record) bool { return r.Number >= m.First })
	if last := len(before) - 1; m.Between && (last < 0 || ended(before[last].Number)) {
		origin.Turn, origin.First, origin.By, origin.Before = 0, 0, ByYou, m.Turn
		if l.shown == w.TurnSession && (len(records) == 0 || records[len(records)-1].Number < m.Turn) {
			origin.Before = 0
		}
		return origin
	} else if m.Between {
		origin.Turn = before[last].Number
	}
	for _, r := range slices.Backward(before) {
		if ended(r.Number) {
			break
		}
		origin.First = r.Number
	}
	if i := slices.IndexFunc(records, func(r turn.Record) bool { return r.Number == origin.Turn }); i >= 0 {
		r := records[i]
		origin.Prompt, origin.Message, origin.Gone = r.Prompt.Words(), r.Message, s.Agent(w.Name) == nil
		if r.EndedAt != nil {
			origin.ended = *r.EndedAt
		}
	}
	return origin
}

// records returns the turns of an agent. Of an agent on a host, only the numbers of the fetched
// turns are known.
func (l *origins) records(s *session.Session, w session.Agent) (records []turn.Record) {
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

// begun returns the origin of the state that an agent began with: files that the user had not committed,
// or the end of a turn of another machine. It is nil for other commits.
func (l *origins) begun(commit string) *LineOrigin {
	for _, s := range l.sessions {
		for _, w := range s.Agents {
			switch {
			case w.From == nil || w.From.Snapshot != commit:
			case w.From.Agent == "":
				return &LineOrigin{Session: s.Name, Agent: w.Name, CLI: w.CLI, Before: 1, By: ByYou}
			default:
				name, agent, far := strings.Cut(w.From.Agent, "/")
				if !far {
					name, agent = s.Name, w.From.Agent
				}
				origin := &LineOrigin{Session: name, Agent: agent, Turn: w.From.Turn, First: w.From.Turn, By: ByTurn}
				for _, s := range l.sessions {
					if w := s.Agent(agent); s.Name == name && w != nil {
						origin.CLI = w.CLI
					}
				}
				return origin
			}
		}
	}
	return nil
}
