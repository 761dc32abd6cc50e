package startplan

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"time"

	"paw/config/display"
	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/session"
	"paw/session/history"
	"paw/session/turn"
)

// PackedOrigin is the end of a turn of an agent, as its machine hands it to another one. A ref on
// that machine keeps the state for a fetch; the messages are included.
type PackedOrigin struct {
	Version     int               `json:"version"`
	Session     string            `json:"session"`
	Agent       string            `json:"agent"`
	CLI         string            `json:"cli"`
	Branch      string            `json:"branch"`
	TurnSession string            `json:"turn_session"`
	Worktree    string            `json:"worktree_path"`
	Base        string            `json:"base_commit"`
	Turn        int               `json:"turn"`
	Commit      string            `json:"commit"`
	Snapshot    string            `json:"snapshot"`
	Turns       []packedTurn      `json:"turns"`
	Messages    []history.Message `json:"messages"`
	Unread      string            `json:"unread"` // why there are no messages
	Notes       []string          `json:"notes"`
}

type packedTurn struct {
	Number       int         `json:"number"`
	Type         string      `json:"type"`
	State        string      `json:"state"`
	Prompt       turn.Prompt `json:"prompt"`
	Outcome      string      `json:"outcome"`
	Message      string      `json:"message"`
	Reason       string      `json:"reason"`
	ErrorMessage string      `json:"error_message"`
	Elsewhere    bool        `json:"elsewhere"` // the turn is in another conversation
	StartedAt    time.Time   `json:"started_at"`
	EndedAt      *time.Time  `json:"ended_at"`
}

// originVersion is the version of PackedOrigin that this paw writes; higher ones are refused.
const originVersion = 1

// mostTold is how many bytes of a conversation are handed over; a brief uses far less.
const mostTold = 4 << 20

// PackOrigin resolves AGENT[@N] as --from does, and sets a ref on the state for a fetch.
func PackOrigin(ctx context.Context, h *app.App, s *session.Session, text string) (*PackedOrigin, error) {
	m, err := h.ManagerOf(ctx, s)
	if err != nil {
		return nil, err
	}
	from, err := originOf(ctx, h, m, s, Options{From: text})
	if err != nil {
		return nil, err
	}
	w := from.source
	p := &PackedOrigin{
		Version: originVersion, Session: s.Name, Agent: w.Name, CLI: w.CLI, Branch: w.Branch, TurnSession: w.TurnSession, Worktree: w.WorktreePath,
		Base: w.BaseCommit, Turn: from.Turn, Commit: from.commit, Snapshot: from.Snapshot, Notes: from.notes,
	}
	if from.Turn > 0 {
		if p.Messages, err = messagesUntil(ctx, h, s, from); err != nil {
			p.Unread = err.Error()
		}
		p.Messages = newest(p.Messages, mostTold)
	}
	for _, r := range from.turns {
		p.Turns = append(p.Turns, packedTurn{
			Number: r.Number, Type: string(r.Type), State: string(r.State), Prompt: r.Prompt, Outcome: r.Outcome, Message: r.Message, Reason: string(r.Reason),
			ErrorMessage: r.ErrorMessage, Elsewhere: r.Conversation != "" && r.Conversation != from.talk, StartedAt: r.StartedAt, EndedAt: r.EndedAt,
		})
	}
	return p, m.Refs().Set(ctx, turn.HandedRef(w.TurnSession), p.State())
}

// newest returns the first message and as many of the last messages as fit into most bytes.
func newest(messages []history.Message, most int) []history.Message {
	begin := len(messages)
	for begin > 0 {
		size := len(messages[begin-1].Content)
		for _, call := range messages[begin-1].ToolCalls {
			size += len(call.Arguments)
		}
		if most -= size; most < 0 {
			break
		}
		begin--
	}
	if begin == 0 || begin == len(messages) {
		return messages[begin:]
	}
	return append(messages[:1:1], messages[max(begin, 1):]...)
}

// State returns the commit with all files of the origin.
func (p *PackedOrigin) State() string { return cmp.Or(p.Snapshot, p.Commit) }

// ParseOrigin parses and checks the output of PackOrigin on another machine, whose programs agents
// may have written.
func ParseOrigin(text []byte) (*PackedOrigin, error) {
	var p PackedOrigin
	if err := json.Unmarshal(text, &p); err != nil || p.Version < 1 {
		return nil, errors.New("its answer is not understood")
	}
	if p.Version > originVersion {
		return nil, errors.New("runs a newer paw, whose work this one does not know how to take")
	}
	if session.ValidTurnSession(p.Session, p.Agent) != nil || session.ValidateName("turn session", p.TurnSession) != nil || p.Turn < 0 ||
		!isCommit(p.Commit) || p.Snapshot != "" && !isCommit(p.Snapshot) || p.Base != "" && !isCommit(p.Base) {
		return nil, errors.New("its answer is not understood: no state of an agent")
	}
	p.CLI, p.Branch, p.Worktree = display.Words(p.CLI), display.Words(p.Branch), display.OneLine(p.Worktree)
	if !filepath.IsAbs(p.Worktree) {
		p.Worktree = ""
	}
	return &p, nil
}

// isCommit reports whether a text has the form of an object id.
func isCommit(text string) bool {
	return (len(text) == 40 || len(text) == 64) && strings.Trim(text, "0123456789abcdef") == ""
}

// Refspec returns the refspec that fetches the origin's state from a host.
func (p *PackedOrigin) Refspec(host string) string {
	return "+" + turn.HandedRef(p.TurnSession) + ":" + turn.HandedRef(session.FarTurnSession(host, p.TurnSession))
}

// Origin returns the origin for new agents, after the state was fetched from a host.
func (p *PackedOrigin) Origin(host string) *Origin {
	name := session.FarName(host, p.Session) + "/" + p.Agent
	from := &Origin{
		Origin: session.Origin{Agent: name, Turn: p.Turn}, commit: p.Commit, last: true, messages: p.Messages,
		source: &session.Agent{Name: name, CLI: p.CLI, Branch: p.Branch, BaseCommit: p.Base, WorktreePath: p.Worktree},
	}
	if p.Snapshot != p.Commit {
		from.Snapshot = p.Snapshot
	}
	if p.Unread != "" {
		from.unread = errs.New(errs.Failed, "%s", display.Words(p.Unread))
	}
	if from.messages == nil && from.unread == nil {
		from.unread = errors.New("nothing was said in that of " + name)
	}
	for _, note := range p.Notes {
		from.notes = append(from.notes, display.Words(note))
	}
	for _, t := range p.Turns {
		r := turn.Record{
			Number: t.Number, Type: turn.Type(t.Type), State: turn.State(t.State), Prompt: t.Prompt, Outcome: t.Outcome, Message: t.Message, Reason: turn.Reason(t.Reason),
			ErrorMessage: t.ErrorMessage, StartedAt: t.StartedAt, EndedAt: t.EndedAt,
		}
		if t.Elsewhere {
			r.Conversation = "another"
		}
		from.turns = append(from.turns, r)
	}
	return from
}
