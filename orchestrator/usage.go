package orchestrator

import (
	"context"
	"errors"
	"io"
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

// TurnUsage is the token use and cost of one turn.
type TurnUsage struct {
	Number int
	cli.Spent
}

// AgentUsage is the token use and cost of an agent, in all of its conversations.
type AgentUsage struct {
	Agent, CLI string
	Turns      []TurnUsage // turns that used any
	Outside    cli.Spent   // used between turns, such as for a compaction
	Total      cli.Spent
	Windows    []session.Window // usage windows of the agent's subscription
	Unknown    string           // why a record could not be read, "" if all were
}

// Usage reads the use of the named agents, or of all if none is named, from the CLIs' own records.
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
		all = append(all, UsageOf(ctx, h.Agent(s, w)))
	}
	return all, nil
}

// CountUsage adds the use of each agent. It reads the CLIs' own records in parallel, up to the
// number of processors; for those of opencode it starts opencode.
func CountUsage(ctx context.Context, h *app.App, statuses []observe.SessionStatus) {
	var group errgroup.Group
	group.SetLimit(runtime.NumCPU())
	for i := range statuses {
		s := statuses[i].Session
		for k := range statuses[i].Agents {
			a := &statuses[i].Agents[k]
			group.Go(func() error {
				used := UsageOf(ctx, h.Agent(s, &a.Record)).Total
				a.Used = &used
				return nil
			})
		}
	}
	_ = group.Wait()
}

// UsageOf returns the use of one agent of a session.
func UsageOf(ctx context.Context, a app.Agent) AgentUsage {
	if configured, err := a.App.ConfiguredFor(a.Session); err == nil {
		a.App = configured
	}
	none := AgentUsage{Agent: a.Record.Name, CLI: a.Record.CLI}
	c, known := a.App.CLIs.Get(a.Record.CLI)
	if !known || !c.Facts().Metered {
		none.Unknown = "the CLI's record says nothing of it"
		return none
	}
	_, executable, _ := a.App.ProgramOf(a.Record)
	spec := a.App.Specs().Read(a.Session, a.Record, executable)
	ids := a.Record.ConversationIDs
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
		if err != nil && !errors.As(err, &missing) { // a conversation that has not begun has used nothing
			unknown = transcript.Unreadable(a.Record, err)
		}
		uses = append(uses, found...)
	}
	records, _ := a.TurnDir().Records()
	all := usageOf(records, uses, a.Record.CreatedAt)
	all.Agent, all.CLI, all.Windows, all.Unknown = a.Record.Name, a.Record.CLI, c.Windows(spec, a.App.Now()), unknown
	return all
}

// usageGrace bounds the time after the end of a turn at which the CLI's record may date the turn's
// last answer.
const usageGrace = 2 * time.Second

// usageOf assigns each use to its turn. It skips uses before since, when the agent was made: they
// are in the conversation that the agent's own was copied from.
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
			// Records have milliseconds, or less. The start of a turn that a stop hook caused is
			// only logged at its end.
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

// statusLinePatience bounds the run of the user's own status line command.
const statusLinePatience = 10 * time.Second

// StatusLine keeps the data that a CLI passes to its status line command, and prints the status
// line: the output of the user's own command, else a short text from the data.
func StatusLine(ctx context.Context, h *app.App, cliName string, payload []byte, out io.Writer) {
	ctx, cancel := context.WithTimeout(ctx, statusLinePatience)
	defer cancel()
	launch := h.Getenv("PAW_LAUNCH")
	sessionName, agentName, _, ok := observe.ParseLaunch(launch)
	if !ok {
		return
	}
	s, err := h.Store.Load(sessionName)
	if err != nil {
		h.HookLog().Add(cliName, cli.StatusLine, err)
	}
	if s == nil {
		return
	}
	w := s.Agent(agentName)
	c, known := h.CLIs.Get(cliName)
	if w == nil || !known || w.CLI != cliName {
		return
	}
	told, err := c.Gauge(h.Specs().Read(s, w, ""), launch, payload)
	if err != nil {
		h.HookLog().Add(cliName, cli.StatusLine, err)
	}
	if told.Own == "" {
		_, _ = io.WriteString(out, told.Words)
		return
	}
	_ = cli.RunStatusLine(ctx, told.Own, payload, out) // a failed command still shows what it has printed, as in claude
}
