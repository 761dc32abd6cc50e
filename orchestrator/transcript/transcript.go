// Package transcript reads the conversations of agents from the records of their CLIs, and finds
// the messages of each turn.
//
// It may import orchestrator/live, cli and app. Begin with Read, then Spans.
package transcript

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"paw/orchestrator/app"
	"paw/orchestrator/cli"
	"paw/orchestrator/errs"
	"paw/orchestrator/live"
	"paw/session"
	"paw/session/history"
	"paw/session/turn"
)

// Unreadable says why a conversation cannot be read.
func Unreadable(w *session.Agent, err error) string {
	var missing *cli.ConversationError
	switch {
	case errors.Is(err, cli.ErrNoTranscript):
		return w.CLI + " " + err.Error()
	case errors.As(err, &missing):
		return missing.Reason
	}
	return err.Error()
}

// History returns the newest conversation of an agent, from its CLI's own record.
func History(ctx context.Context, h *app.App, s *session.Session, w *session.Agent) (live.Conversation, error) {
	records, _ := h.TurnDir(s.Name, w.Name).Records()
	found, err := Conversation(ctx, h, s, w, "", records)
	if err != nil {
		return live.Conversation{}, err
	}
	said := live.Conversation{History: history.New(), Begun: found.ID != "", Skipped: found.Skipped, Unknown: found.Unknown}
	if said.Begun {
		said.History = history.Restored(found.ID)
	}
	for _, message := range found.Messages {
		said.AddMessage(message)
	}
	return said, nil
}

// TurnsIn returns the turns of a conversation, and those whose conversation is unknown, with the
// index of the turn number.
func TurnsIn(records []turn.Record, conversation string, number int) (turns []turn.Record, n int) {
	for _, r := range records {
		if r.Number == number {
			n = len(turns)
		} else if r.Conversation != "" && r.Conversation != conversation {
			continue
		}
		turns = append(turns, r)
	}
	return turns, n
}

// TurnsElsewhere returns the numbers of the turns in other conversations.
func TurnsElsewhere(records []turn.Record, conversation string) []int {
	var elsewhere []int
	for _, r := range records {
		if r.Conversation != "" && r.Conversation != conversation {
			elsewhere = append(elsewhere, r.Number)
		}
	}
	return elsewhere
}

// Conversation is like Read, with errors for the user. A conversation that has not begun is empty.
func Conversation(ctx context.Context, h *app.App, s *session.Session, w *session.Agent, id string, records []turn.Record) (cli.Transcript, error) {
	found, err := Read(ctx, h, s, w, id)
	var missing *cli.ConversationError
	switch {
	case err == nil:
		return found, nil
	case errors.Is(err, cli.ErrNoTranscript):
		return found, errs.New(errs.Failed, "%s: %s", w.Name, Unreadable(w, err)).Hint("paw attach %s %s", s.Name, w.Name)
	case errors.As(err, &missing) && !anyTurnIn(records, missing.ID):
		return cli.Transcript{ID: missing.ID}, nil
	case errors.As(err, &missing):
		return found, errs.New(errs.NotFound, "%s: its conversation cannot be read: %s", w.Name, missing.Reason).Hint("paw turns %s %s", s.Name, w.Name)
	case errors.Is(err, cli.ErrNotInstalled):
		return found, errs.New(errs.Missing, "%s: %w", w.Name, err).Hint("paw clis")
	}
	return found, errs.New(errs.Failed, "%s: its conversation cannot be read: %w", w.Name, err).Hint("paw turns %s %s", s.Name, w.Name)
}

// Read reads a conversation of an agent from its CLI's own record; the newest one if id is "".
func Read(ctx context.Context, h *app.App, s *session.Session, w *session.Agent, id string) (cli.Transcript, error) {
	c, ok := h.CLIs.Get(w.CLI)
	if !ok {
		return cli.Transcript{}, errs.New(errs.Usage, "unknown CLI %s", w.CLI)
	}
	_, executable, _ := h.ProgramOf(w) // only opencode needs its program, and reports that it is missing
	spec := h.Specs().Read(s, w, executable)
	spec.ConversationID = cmp.Or(id, spec.ConversationID)
	if spec.ConversationID == "" {
		if ids, err := c.Learn(ctx, spec); err == nil && len(ids) > 0 {
			spec.ConversationID = ids[len(ids)-1] // the CLI chose the id, and no hook has reported it yet
		}
	}
	return c.History(ctx, spec)
}

// anyTurnIn reports whether a turn was in a conversation, or may have been.
func anyTurnIn(records []turn.Record, conversation string) bool {
	return slices.ContainsFunc(records, func(r turn.Record) bool { return r.Conversation == conversation || r.Conversation == "" })
}
