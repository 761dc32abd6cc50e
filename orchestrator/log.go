package orchestrator

import (
	"cmp"
	"context"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"paw/orchestrator/app"
	"paw/orchestrator/cli"
	"paw/orchestrator/observe"
	"paw/orchestrator/transcript"
	"paw/orchestrator/turns"
	"paw/session"
	"paw/session/history"
	"paw/session/turn"
	"paw/worktree"
	"paw/worktree/gitdir"
)

// Logged is a conversation of an agent, or the part of one turn.
type Logged struct {
	Agent string
	cli.Transcript
	Turn      *turn.Record // nil for the whole conversation
	Elsewhere []int        // turns of the agent in other conversations, for a whole conversation
	Asked     bool         // a turn of the agent was in this conversation, for a whole conversation
}

// Log reads the newest conversation of an agent or, with number, the messages of that turn, from
// the turn's conversation. For an agent without a conversation it is empty, without an id. Log
// writes nothing.
func Log(ctx context.Context, h *app.App, s *session.Session, agentName string, number *int) (*Logged, error) {
	w, err := app.AgentNamed(s, agentName)
	if err != nil {
		return nil, err
	}
	if h, err = h.ConfiguredFor(s); err != nil {
		return nil, err
	}
	records, _ := h.TurnDir(s.Name, w.Name).Records()
	if number == nil {
		return logAll(ctx, h.Agent(s, w), records)
	}
	list := turns.AgentTurns{Agent: w.Name}
	for _, r := range records {
		list.Turns = append(list.Turns, turns.Turn{Record: r})
	}
	one, err := turns.Numbered(s, list, strconv.Itoa(*number))
	if err != nil {
		return nil, err
	}
	logged := &Logged{Agent: w.Name, Turn: &one.Record}
	logged.Transcript, err = transcript.Conversation(ctx, h.Agent(s, w), one.Conversation, records)
	if err != nil {
		return nil, err
	}
	said, n := transcript.TurnsIn(records, logged.ID, *number)
	at := transcript.Spans(logged.Messages, said)[n]
	logged.Messages = logged.Messages[at.From:at.To]
	return logged, nil
}

// logAll reads the newest conversation.
func logAll(ctx context.Context, a app.Agent, records []turn.Record) (*Logged, error) {
	said, found, err := transcript.History(ctx, a, records)
	if err != nil {
		return nil, err
	}
	found.Messages = said.Messages()
	return &Logged{
		Agent: a.Record.Name, Elsewhere: transcript.TurnsElsewhere(records, found.ID), Transcript: found,
		Asked: slices.ContainsFunc(records, func(r turn.Record) bool { return found.ID != "" && r.Conversation == found.ID }),
	}, nil
}

// StartPager starts the user's pager as git would in the current directory, nil for none.
func StartPager(ctx context.Context, h *app.App, env []string, terminal, errw io.Writer) *worktree.Pager {
	command := worktree.PagerCommand(ctx, h.Dir)
	if command == "" {
		return nil
	}
	pager, err := worktree.StartPager(context.WithoutCancel(ctx), command, env, terminal, errw)
	if err != nil {
		return nil
	}
	return pager
}

// Branches returns the local branches of the user's repository, none outside of one.
func Branches(ctx context.Context, h *app.App) []string {
	repository, err := gitdir.Discover(h.Dir)
	if err != nil {
		return nil
	}
	refs, err := h.Manager(repository).Refs().List(ctx, "refs/heads/")
	if err != nil {
		return nil
	}
	names := slices.Sorted(maps.Keys(refs))
	for i := range names {
		names[i] = strings.TrimPrefix(names[i], "refs/heads/")
	}
	return names
}

// GrepOptions selects messages.
type GrepOptions struct {
	Text       string
	IgnoreCase bool
	Role       string // "" for all
	Most       int    // maximal number of matches, of which the newest are kept
}

// Match is a message that contains the text.
type Match struct {
	Session, Agent string
	Turn           int // 0 for no turn
	history.Message
}

// Grep searches the conversations of agents for a text, and returns the newest messages first, with
// the number of further matches. Conversations that cannot be read are noted.
func Grep(ctx context.Context, h *app.App, sessions []*session.Session, agents []string, o GrepOptions) (found []Match, more int, err error) {
	for _, s := range sessions {
		own, err := h.ConfiguredFor(s)
		if err != nil {
			return nil, 0, err
		}
		for i := range s.Agents {
			w := &s.Agents[i]
			if len(agents) > 0 && !slices.Contains(agents, w.Name) {
				continue
			}
			matches, err := grepAgent(ctx, own.Agent(s, w), o)
			if ctx.Err() != nil {
				return nil, 0, ctx.Err()
			}
			if err != nil {
				h.Notef("%s/%s: not all of it could be read: %v", s.Name, w.Name, err)
			}
			found = append(found, matches...)
		}
	}
	slices.SortStableFunc(found, func(a, b Match) int { return b.Timestamp.Compare(a.Timestamp) })
	if len(found) > o.Most {
		found, more = found[:o.Most], len(found)-o.Most
	}
	return found, more, nil
}

func grepAgent(ctx context.Context, a app.Agent, o GrepOptions) (found []Match, err error) {
	records, _ := a.TurnDir().Records()
	has := o.finder()
	for _, id := range a.Record.ConversationIDs {
		said, readErr := transcript.Conversation(ctx, a, id, records)
		if readErr != nil {
			err = cmp.Or(err, readErr)
			continue
		}
		turns, _ := transcript.TurnsIn(records, said.ID, 0)
		spans := transcript.Spans(said.Messages, turns)
		for i, message := range said.Messages {
			if o.Role != "" && string(message.Role) != o.Role || !has(message.Content) {
				continue
			}
			one := Match{Session: a.Session.Name, Agent: a.Record.Name, Message: message}
			for t, span := range spans {
				if i >= span.From && i < span.To {
					one.Turn = turns[t].Number
				}
			}
			found = append(found, one)
		}
	}
	return found, err
}

func (o GrepOptions) finder() func(text string) bool {
	if !o.IgnoreCase {
		return func(text string) bool { return strings.Contains(text, o.Text) }
	}
	wanted := strings.ToLower(o.Text)
	return func(text string) bool { return strings.Contains(strings.ToLower(text), wanted) }
}

// Turns lists the turns of the named agents, or of all if none is named, in the order of the
// record. Logs that cannot be read come back as problems.
func Turns(ctx context.Context, h *app.App, s *session.Session, agents ...string) (list []turns.AgentTurns, problems []error, err error) {
	if err := app.RequireAgents(s, agents...); err != nil {
		return nil, nil, err
	}
	m, err := h.ManagerOf(ctx, s)
	if err != nil {
		return nil, nil, err
	}
	for _, w := range s.Agents {
		if len(agents) > 0 && !slices.Contains(agents, w.Name) {
			continue
		}
		one, bad, err := turns.List(ctx, h.Agent(s, &w).In(m))
		if err == nil {
			err = one.CountFiles(ctx, m)
		}
		if err != nil {
			return nil, nil, err
		}
		if err := one.AddRewind(ctx, h.Agent(s, &w).In(m)); err != nil {
			bad = append(bad, err)
		}
		list, problems = append(list, one), append(problems, bad...)
	}
	return list, problems, showCut(ctx, h, s, list)
}

// showCut shows the open turn of an agent whose CLI does not run as recover will close it. It asks
// tmux only if the lock of an agent with an open turn is free.
func showCut(ctx context.Context, h *app.App, s *session.Session, list []turns.AgentTurns) error {
	open := func(one turns.AgentTurns) bool {
		n := len(one.Turns)
		if n == 0 || one.Turns[n-1].State != turn.InProgress {
			return false
		}
		lock, err := h.Locks.ProbeAgent(s.Name, one.Agent)
		return err == nil && lock.State == session.LockFree
	}
	if !slices.ContainsFunc(list, open) {
		return nil
	}
	f, err := observe.Observe(ctx, h, s)
	if err != nil {
		return err
	}
	for _, one := range list {
		if a := f.Agent(one.Agent); a != nil && open(one) {
			last := &one.Turns[len(one.Turns)-1]
			if cut := turns.CutOf(ctx, h, f, *a); cut != nil && cut.Number == last.Number {
				last.Record, last.Cut = *cut, true
			}
		}
	}
	return nil
}
