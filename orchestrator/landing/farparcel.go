package landing

import (
	"context"
	"errors"
	"slices"
	"strings"

	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/turns"
	"paw/session"
	"paw/session/turn"
)

// Parcel is what a machine sends to another one: the states of agents of one session, kept by refs
// until they are fetched, and the facts about these agents that landing needs, also about the
// agents they started from.
type Parcel struct {
	Version int             `json:"version"`
	Session session.Session `json:"session"` // only agents, and of these only their lives
	States  []parcelState   `json:"states"`
}

type parcelState struct {
	Agent string       `json:"agent"`
	State string       `json:"state"`
	Twin  string       `json:"twin"` // that state in the agent's chain
	Head  string       `json:"head"`
	Turn  int          `json:"turn"`
	Turns []parcelTurn `json:"turns"`

	Error    string   `json:"error,omitempty"`
	ExitCode int      `json:"exit_code,omitempty"`
	Hints    []string `json:"hints,omitempty"`
}

type parcelTurn struct {
	Number  int         `json:"number"`
	Type    string      `json:"type"`
	State   string      `json:"state"`
	Prompt  turn.Prompt `json:"prompt"`
	Outcome string      `json:"outcome"`
	Reason  string      `json:"reason"`
	After   string      `json:"after"`
}

// parcelVersion is the version of Parcel that this paw writes. A parcel with a higher version is
// refused.
const parcelVersion = 1

// Wanted names an agent, and the turn whose end is wanted, "" for the present state.
type Wanted struct{ Agent, Turn string }

// Pack takes the states of agents for another machine. With newest it takes the states that a
// forecast uses, without a look at any worktree. If a state cannot be taken, the parcel has the
// reason.
func Pack(ctx context.Context, h *app.App, s *session.Session, wanted []Wanted, newest bool) (*Parcel, error) {
	p := &Parcel{Version: parcelVersion, Session: session.Session{
		Version: session.Version, Name: s.Name, CreatedAt: s.CreatedAt, Status: s.Status, BaseCommit: s.BaseCommit, LastNumber: s.LastNumber,
	}}
	var names []string
	for _, one := range wanted {
		w, err := workOf(ctx, h, s, one.Agent, "land")
		if err != nil {
			return nil, err
		}
		names = append(names, one.Agent)
		w.turn = one.Turn
		state, err := w.pack(ctx, newest)
		if err != nil {
			return nil, err
		}
		p.States = append(p.States, state)
	}
	if rec, err := h.Load(s.Name); err == nil { // with turns that were found to have ended
		s = rec
	}
	for i := 0; i < len(names); i++ {
		w := s.Agent(names[i])
		if w == nil {
			continue
		}
		p.Session.Agents = append(p.Session.Agents, lifeAlone(w))
		if w.From != nil && !slices.Contains(names, w.From.Agent) {
			names = append(names, w.From.Agent)
		}
	}
	return p, nil
}

// lifeAlone returns the part of an agent's record that landing needs.
func lifeAlone(w *session.Agent) session.Agent {
	one := session.Agent{
		Name: w.Name, CLI: w.CLI, TurnSession: w.TurnSession, TurnHighWater: w.TurnHighWater, BaseCommit: w.BaseCommit, CreatedAt: w.CreatedAt,
		Finished: w.Finished, Done: w.Done,
	}
	if w.From != nil && !strings.Contains(w.From.Agent, ":") { // agents of a third machine are not known here
		one.From = &session.Origin{Agent: w.From.Agent, Turn: w.From.Turn, Snapshot: w.From.Snapshot, State: w.From.State}
	}
	return one
}

func (w work) pack(ctx context.Context, newest bool) (parcelState, error) {
	one := parcelState{Agent: w.Record.Name}
	if newest {
		states, err := newestStates(ctx, w.Repo, target{}, []work{w})
		if err == nil && states[0].Err != nil {
			err = states[0].Err
		}
		if err != nil {
			return packedError(one, err)
		}
		one.State, one.Twin, one.Turn = states[0].Twin, states[0].Twin, states[0].Turn
		return one, w.Repo.Refs().Set(ctx, turn.HandedRef(w.Record.TurnSession), one.State)
	}
	turns.CloseDead(ctx, w.App, w.Session, w.Record.Name)
	src, err := w.lookAtSource(ctx)
	if err != nil {
		return packedError(one, err)
	}
	if w.turn == "" {
		if err := src.chain.Keep(ctx, src.now); err != nil {
			return one, err
		}
	}
	one.State, one.Twin, one.Head, one.Turn = src.State, src.Twin, src.Head, src.Turn
	for _, t := range src.Turns {
		one.Turns = append(one.Turns, parcelTurn{
			Number: t.Number, Type: string(t.Type), State: string(t.State), Prompt: t.Prompt, Outcome: t.Outcome, Reason: string(t.Reason), After: t.After,
		})
	}
	return one, w.Repo.Refs().Set(ctx, turn.HandedRef(w.Record.TurnSession), one.State)
}

// packedError packs an error about the agent, and returns other errors.
func packedError(one parcelState, err error) (parcelState, error) {
	var e *errs.Error
	if !errors.As(err, &e) {
		return one, err
	}
	one.Error, one.ExitCode, one.Hints = err.Error(), int(e.Kind), e.Hints
	return one, nil
}
