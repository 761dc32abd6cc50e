package orchestrator

import (
	"context"
	"errors"
	"time"

	"paw/orchestrator/agent"
	"paw/orchestrator/home"
	"paw/orchestrator/talk"
	"paw/session"
	"paw/session/turn"
)

// Spent is what models took: tokens as the CLI's own record counts them, and dollars where it says them.
type Spent struct {
	Input      int64   `json:"input_tokens"`
	CacheRead  int64   `json:"cache_read_tokens"`
	CacheWrite int64   `json:"cache_write_tokens"`
	Output     int64   `json:"output_tokens"`
	Answers    int     `json:"answers"`
	Cost       float64 `json:"-"`
	Priced     bool    `json:"-"` // Cost is known of at least one answer
}

func (s *Spent) add(u agent.Use) {
	s.Input, s.CacheRead, s.CacheWrite, s.Output = s.Input+u.Input, s.CacheRead+u.CacheRead, s.CacheWrite+u.CacheWrite, s.Output+u.Output
	s.Cost, s.Priced, s.Answers = s.Cost+u.Cost, s.Priced || u.Priced, s.Answers+1
}

// TurnUsage is what one turn took.
type TurnUsage struct {
	Number int
	Spent
}

// AgentUsage is what an agent took, in all of its conversations.
type AgentUsage struct {
	Agent, CLI string
	Turns      []TurnUsage // those that took anything
	Outside    Spent       // between turns, such as for a compaction
	Total      Spent
	Unknown    string // why nothing is known, "" where all of the record was read
}

// Usage reads what agents took from the CLIs' own records, of all agents where none is named.
func Usage(ctx context.Context, h *home.Home, s *session.Session, agents []string) ([]AgentUsage, error) {
	if len(agents) == 0 {
		agents = home.AgentNames(s)
	}
	var all []AgentUsage
	for _, name := range agents {
		w, err := home.AgentNamed(s, name)
		if err != nil {
			return nil, err
		}
		all = append(all, usageOfAgent(ctx, h, s, w))
	}
	return all, nil
}

func usageOfAgent(ctx context.Context, h *home.Home, s *session.Session, w *session.Worktree) AgentUsage {
	none := AgentUsage{Agent: w.Agent, CLI: w.CLI}
	cli, known := h.CLIs.Get(w.CLI)
	if !known || !cli.Metered() {
		none.Unknown = "its CLI's record says nothing of it"
		return none
	}
	executable, _ := h.Program(cli)
	spec := h.SpecFor(s, w, executable)
	ids := w.ConversationIDs
	if len(ids) == 0 {
		if learnt, err := cli.Learn(ctx, spec); err == nil {
			ids = learnt
		}
	}
	var uses []agent.Use
	var unknown string
	for _, id := range ids {
		spec.ConversationID = id
		found, err := cli.Uses(ctx, spec)
		var missing *agent.ConversationError
		if err != nil && !errors.As(err, &missing) { // one that has not begun took nothing
			unknown = talk.Unreadable(w, err)
		}
		uses = append(uses, found...)
	}
	records, _ := h.TurnDir(s.Name, w.Agent).Records()
	all := usageOf(records, uses, w.CreatedAt)
	all.Agent, all.CLI, all.Unknown = w.Agent, w.CLI, unknown
	return all
}

// usageGrace is how long after the end of a turn the record may date the last answer of it.
const usageGrace = 2 * time.Second

// usageOf gives each use to the turn in which it was. What was before the agent is of a conversation that its own is a copy
// of.
func usageOf(turns []turn.Record, uses []agent.Use, since time.Time) AgentUsage {
	var all AgentUsage
	spent := make([]Spent, len(turns))
	for _, u := range uses {
		if u.At.Before(since.Truncate(time.Second)) {
			continue
		}
		all.Total.add(u)
		at := -1
		for i, t := range turns {
			// Records have milliseconds, or less.
			if !u.At.Before(t.StartedAt.Truncate(time.Millisecond)) && (t.EndedAt == nil || !u.At.After(t.EndedAt.Add(usageGrace))) {
				at = i
			}
		}
		if at < 0 {
			all.Outside.add(u)
		} else {
			spent[at].add(u)
		}
	}
	for i, t := range turns {
		if spent[i].Answers > 0 {
			all.Turns = append(all.Turns, TurnUsage{Number: t.Number, Spent: spent[i]})
		}
	}
	return all
}
