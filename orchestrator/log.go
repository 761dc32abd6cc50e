package orchestrator

import (
	"context"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"paw/orchestrator/app"
	"paw/orchestrator/children"
	"paw/orchestrator/cli"
	"paw/orchestrator/transcript"
	"paw/orchestrator/turns"
	"paw/session"
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
	one, err := children.Session(ctx, a)
	if err != nil {
		return nil, err
	}
	said, err := one.History(ctx)
	if err != nil {
		return nil, err
	}
	id := ""
	if said.Begun {
		id = said.ID()
	}
	return &Logged{
		Agent: a.Record.Name, Elsewhere: transcript.TurnsElsewhere(records, id),
		Asked:      slices.ContainsFunc(records, func(r turn.Record) bool { return id != "" && r.Conversation == id }),
		Transcript: cli.Transcript{ID: id, Messages: said.Messages(), Skipped: said.Skipped, Unknown: said.Unknown},
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
