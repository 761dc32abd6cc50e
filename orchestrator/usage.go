package orchestrator

import (
	"context"
	"errors"
	"runtime"
	"time"

	"golang.org/x/sync/errgroup"

	"paw/orchestrator/app"
	"paw/orchestrator/cli"
	"paw/orchestrator/observe"
	"paw/orchestrator/transcript"
	"paw/session"
	"paw/session/turn"
)

// TurnUsage is what one turn took.
type TurnUsage struct {
	Number int
	cli.Spent
}

// AgentUsage is what an agent took, in all of its conversations.
type AgentUsage struct {
	Agent, CLI string
	Turns      []TurnUsage // those that took anything
	Outside    cli.Spent   // between turns, such as for a compaction
	Total      cli.Spent
	Windows    []session.Window // of its subscription
	Unknown    string           // why nothing is known, "" where all of the record was read
}

// Usage reads what agents took from the CLIs' own records, of all agents where none is named.
func Usage(ctx context.Context, h *app.App, s *session.Session, agents []string) ([]AgentUsage, error) {
	if len(agents) == 0 {
		agents = app.AgentNames(s)
	}
	var all []AgentUsage
	for _, name := range agents {
		w, err := app.AgentNamed(s, name)
		if err != nil {
			return nil, err
		}
		all = append(all, UsageOf(ctx, h, s, w))
	}
	return all, nil
}

// CountUsage counts what each agent took. It reads the records of their CLIs, as many at once as there are processors; opencode
// is started for its own.
func CountUsage(ctx context.Context, h *app.App, statuses []observe.SessionStatus) {
	var group errgroup.Group
	group.SetLimit(runtime.NumCPU())
	for i := range statuses {
		s := statuses[i].Session
		for k := range statuses[i].Agents {
			a := &statuses[i].Agents[k]
			group.Go(func() error {
				used := UsageOf(ctx, h, s, &a.Record).Total
				a.Used = &used
				return nil
			})
		}
	}
	_ = group.Wait()
}

// UsageOf is what one agent of a session took.
func UsageOf(ctx context.Context, h *app.App, s *session.Session, w *session.Agent) AgentUsage {
	if configured, err := h.ConfiguredFor(s); err == nil {
		h = configured
	}
	none := AgentUsage{Agent: w.Name, CLI: w.CLI}
	c, known := h.CLIs.Get(w.CLI)
	if !known || !c.Facts().Metered {
		none.Unknown = "the CLI's record says nothing of it"
		return none
	}
	_, executable, _ := h.ProgramOf(w)
	spec := h.SpecFor(s, w, executable)
	ids := w.ConversationIDs
	if len(ids) == 0 {
		if learnt, err := c.Learn(ctx, spec); err == nil {
			ids = learnt
		}
	}
	var uses []cli.Use
	var unknown string
	for _, id := range ids {
		spec.ConversationID = id
		found, err := c.Uses(ctx, spec)
		var missing *cli.ConversationError
		if err != nil && !errors.As(err, &missing) { // one that has not begun took nothing
			unknown = transcript.Unreadable(w, err)
		}
		uses = append(uses, found...)
	}
	records, _ := h.TurnDir(s.Name, w.Name).Records()
	all := usageOf(records, uses, w.CreatedAt)
	all.Agent, all.CLI, all.Windows, all.Unknown = w.Name, w.CLI, c.Windows(spec, h.Now()), unknown
	return all
}

// usageGrace is how long after the end of a turn the record may date the last answer of it.
const usageGrace = 2 * time.Second

// usageOf gives each use to the turn in which it was. What was before the agent is of a conversation that its own is a copy
// of.
func usageOf(turns []turn.Record, uses []cli.Use, since time.Time) AgentUsage {
	var all AgentUsage
	spent := make([]cli.Spent, len(turns))
	for _, u := range uses {
		if u.At.Before(since.Truncate(time.Second)) {
			continue
		}
		all.Total.Add(u)
		at := -1
		for i, t := range turns {
			// Records have milliseconds, or less. That a hook sent the CLI on is known at the end alone.
			start := t.StartedAt
			if t.Type == turn.TypeStopHook && i > 0 && turns[i-1].EndedAt != nil {
				start = *turns[i-1].EndedAt
			}
			if !u.At.Before(start.Truncate(time.Millisecond)) && (t.EndedAt == nil || !u.At.After(t.EndedAt.Add(usageGrace))) {
				at = i
			}
		}
		if at < 0 {
			all.Outside.Add(u)
		} else {
			spent[at].Add(u)
		}
	}
	for i, t := range turns {
		if spent[i].Answers > 0 {
			all.Turns = append(all.Turns, TurnUsage{Number: t.Number, Spent: spent[i]})
		}
	}
	return all
}
