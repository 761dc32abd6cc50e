package startplan

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"paw/config/display"
	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/launch"
	"paw/orchestrator/turns"
	"paw/session"
	"paw/session/history"
	"paw/session/turn"
	"paw/worktree"
)

// originOf resolves "AGENT[@N]": the end of the agent's turn N, or its base for 0. Without N it is
// the last turn if that was cut, else the last finished one.
func originOf(ctx context.Context, h *app.App, m *worktree.Manager, s *session.Session, o Options) (*Origin, error) {
	text := o.From
	name, number, numbered := strings.Cut(text, "@")
	w, err := app.AgentNamed(s, name)
	if err != nil {
		return nil, err
	}
	list, _, err := turns.List(ctx, h.Agent(s, w).In(m))
	if err != nil {
		return nil, err
	}
	from := &Origin{Origin: session.Origin{Agent: name}, source: w, makes: "--from"}
	if numbered {
		if from.Turn, err = strconv.Atoi(number); err != nil || from.Turn < 0 {
			return nil, errs.New(errs.Usage, "--from %s: %q is not the number of a turn", text, number).Hint("paw turns %s/%s", s.Name, name)
		}
	} else if last := len(list.Turns) - 1; last >= 0 && cutWithState(list.Turns[last]) {
		from.Turn = list.Turns[last].Number
	} else if from.Turn = turns.FinishedUpTo(list.Turns, math.MaxInt).Last; from.Turn == 0 {
		from.notes = append(from.notes, name+" has finished no turn yet: it begins where "+name+" began")
	}
	if from.Turn == 0 {
		err := turns.BeginThere(ctx, h.Agent(s, w).In(m))
		if from.commit = w.BaseCommit; w.From != nil {
			from.Snapshot, from.State = w.From.Snapshot, w.From.State
		}
		return from, err
	}
	command := app.Agent{App: h}.Line("add", "", app.With("cli", strings.Join(o.CLIs, ",")), app.With("from", text), app.With("force"))
	if err := fillOrigin(ctx, h, m, s, from, list, turns.Force{Yes: o.Force, Command: command}); err != nil {
		return nil, err
	}
	chain, err := turns.ChainOf(ctx, h.Agent(s, w).In(m))
	if err == nil {
		from.State, err = chain.At(ctx, from.Turn, cmp.Or(from.Snapshot, from.commit))
	}
	return from, err
}

// cutWithState reports whether a turn was cut and has a snapshot of its end.
func cutWithState(one turns.Turn) bool { return one.Record.Cut() && one.After != "" }

// fillOrigin finds commit, uncommitted work and conversation of a turn from 1 on. The turn's tag is
// enough: logs and snapshots may be gone.
func fillOrigin(ctx context.Context, h *app.App, m *worktree.Manager, s *session.Session, from *Origin, list turns.AgentTurns, byForce turns.Force) error {
	turnSession := from.source.TurnSession
	one, err := turns.Numbered(s, list, strconv.Itoa(from.Turn))
	tagged, tagErr := m.Refs().Head(ctx, turn.TagRef(turnSession, from.Turn))
	switch {
	case err != nil && tagErr == nil:
		from.commit = tagged
	case err != nil:
		return err
	case one.State == turn.InProgress:
		return errs.New(errs.Failed, "turn %d of %s: is not finished yet", from.Turn, from.Agent).Hint("paw turns %s/%s", s.Name, from.Agent)
	case cutWithState(*one):
		if from.commit, err = m.Objects().SnapshotHead(ctx, one.After); err != nil {
			return err
		}
		from.notes = append(from.notes, fmt.Sprintf("it begins where turn %d of %s was cut", from.Turn, from.Agent))
	case one.State != turn.Finished:
		return errs.New(errs.Failed, "turn %d of %s: was aborted (%s) and has no tag", from.Turn, from.Agent, one.Reason).Hint("paw turns %s/%s", s.Name, from.Agent)
	default:
		from.commit = one.CommitHash
	}
	ref, head := turn.TurnRef(turnSession, from.Turn), turn.HeadRef(turnSession, from.Turn)
	refs, err := m.Refs().List(ctx, ref, head)
	if err != nil {
		return err
	}
	snapshot := refs[ref]
	if snapshot == "" && refs[head] != "" {
		if _, err := turns.CommitAlone(ctx, h.Agent(s, from.source).In(m), from.Turn, "end", from.commit, byForce); err != nil {
			return err
		}
	}
	from.Conversation = from.source.Conversation()
	from.last = true
	for _, one := range list.Turns {
		if one.Number <= from.Turn {
			from.turns = append(from.turns, one.Record)
		}
	}
	if one != nil {
		snapshot = cmp.Or(one.Snapshot, snapshot)
		from.Conversation = cmp.Or(one.Conversation, from.Conversation)
		from.last = list.Turns[len(list.Turns)-1].Number == from.Turn
	}
	if snapshot == "" || snapshot == from.commit {
		return nil
	}
	if found, _ := m.Refs().Head(ctx, snapshot); found == snapshot {
		from.Snapshot = snapshot
	} else {
		from.notes = append(from.notes, fmt.Sprintf("the snapshot of turn %d is gone: only what was committed is there", from.Turn))
	}
	return nil
}

// startFrom sets the origin in the drafts of new agents.
func startFrom(ctx context.Context, h *app.App, s *session.Session, a *Addition, from *Origin, o Options) error {
	for i := range a.Draft.Agents {
		w := &a.Draft.Agents[i]
		if !w.BranchCreated {
			return errs.New(errs.Usage, "branch %s: exists already, and %s makes a new one", w.Branch, from.makes)
		}
		own := from.Origin
		if from.place == "" {
			a.Notes[w.Name] = append(a.Notes[w.Name], from.notes...)
		}
		switch {
		case from.current || from.Turn == 0:
		case o.Silent:
			own.Conversation = ""
		case from.Conversation == "" || !canFork(ctx, h.Agent(s, w), from, o.Prompt):
			own.Conversation = ""
			handOver(ctx, h, s, a, w, from, o.Prompt)
		default:
			a.Steps = append(a.Steps, fmt.Sprintf("begin %s with a copy of the conversation of %s", w.Name, from.Agent))
			// These variables decide where the CLI keeps the conversation.
			w.Environment = maps.Clone(from.source.Environment)
			if !from.last {
				a.Notes[w.Name] = append(a.Notes[w.Name], fmt.Sprintf("its conversation is a copy of all that %s said until now, turns after %d included", from.Agent, from.Turn))
			}
		}
		if own.Agent != "" || own.Snapshot != "" {
			w.From = &own
		}
	}
	return nil
}

// canFork reports whether the CLI of a new agent can continue a copy of the origin's conversation.
func canFork(ctx context.Context, a app.Agent, from *Origin, prompt string) bool {
	cli, executable, err := a.App.ProgramOf(from.source)
	if err != nil || a.Record.CLI != from.source.CLI {
		return false
	}
	spec := a.App.Specs().Launch(a.Session, from.source, executable)
	spec.ConversationID = from.Conversation
	found, err := cli.Conversation(ctx, spec)
	if err != nil || !found.Resumable {
		return false
	}
	_, err = cli.Fork(a.App.Specs().Draft(cli, executable, prompt), from.Conversation)
	return err == nil || launch.CanOnlyBeSent(err)
}

// OriginNow returns the present state of an agent's worktree as the origin of a child. The snapshot
// has no ref yet: a refused spawn leaves nothing.
func OriginNow(ctx context.Context, a app.Agent) (*Origin, error) {
	m, err := a.App.ManagerOf(ctx, a.Session)
	if err != nil {
		return nil, err
	}
	from := &Origin{Origin: session.Origin{Agent: a.Record.Name}, source: a.Record, makes: "paw spawn", current: true}
	if last, err := a.TurnDir().Last(); err == nil && last != nil {
		from.Turn, from.Within = last.Number, last.State == turn.InProgress
	}
	for try := 0; ; try++ {
		if from.commit, err = m.Refs().WorktreeHead(ctx, a.Record.WorktreePath); err != nil {
			return nil, err
		}
		shot, err := m.Snapshots().Take(ctx, a.Record.WorktreePath, "", "paw: "+a.Record.Name+" when it started another agent")
		if err != nil {
			return nil, err
		}
		head, err := m.Refs().WorktreeHead(ctx, a.Record.WorktreePath)
		if err != nil {
			return nil, err
		}
		if head != from.commit && try < 3 {
			continue // a commit was made meanwhile
		}
		if shot.Commit != head {
			from.Snapshot = shot.Commit
		}
		now, err := turns.Continue(ctx, a.In(m), shot.Commit, head, turns.Present(a))
		if err != nil {
			return nil, err
		}
		from.State = now.Twin
		for _, path := range shot.NotSaved {
			from.notes = append(from.notes, path+" is not in its worktree: git cannot save it")
		}
		return from, nil
	}
}

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
		Origin: session.Origin{Agent: name, Turn: p.Turn}, commit: p.Commit, makes: "--from", last: true, messages: p.Messages,
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
