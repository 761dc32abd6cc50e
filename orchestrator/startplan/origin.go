package startplan

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"strconv"
	"strings"

	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/launch"
	"paw/orchestrator/turns"
	"paw/session"
	"paw/session/turn"
	"paw/worktree"
)

// originOf resolves "AGENT[@N]": the end of the agent's turn N, or its base for 0. Without N it is
// the last turn if that was cut, else the last finished one.
func originOf(ctx context.Context, h *app.App, m worktree.Manager, s *session.Session, o Options) (*Origin, error) {
	text := o.From
	name, number, numbered := strings.Cut(text, "@")
	w, err := app.AgentNamed(s, name)
	if err != nil {
		return nil, err
	}
	list, _, err := turns.List(ctx, h, m, s, *w)
	if err != nil {
		return nil, err
	}
	from := &Origin{Origin: session.Origin{Agent: name}, source: w}
	if numbered {
		if from.Turn, err = strconv.Atoi(number); err != nil || from.Turn < 0 {
			return nil, errs.New(errs.Usage, "--from %s: %q is not the number of a turn", text, number).Hint("paw turns %s %s", s.Name, name)
		}
	} else if last := len(list.Turns) - 1; last >= 0 && cutWithState(list.Turns[last]) {
		from.Turn = list.Turns[last].Number
	} else if from.Turn = turns.FinishedUpTo(list.Turns, math.MaxInt).Last; from.Turn == 0 {
		from.notes = append(from.notes, name+" has finished no turn yet: it begins where "+name+" began")
	}
	if from.Turn == 0 {
		if from.commit = w.BaseCommit; w.From != nil {
			from.Snapshot = w.From.Snapshot
		}
		return from, nil
	}
	command := fmt.Sprintf("paw add --cli %s --from %s --force", strings.Join(o.CLIs, ","), text)
	return from, fillOrigin(ctx, h, m, s, from, list, turns.Force{Yes: o.Force, Command: command})
}

// cutWithState reports whether a turn was cut and has a snapshot of its end.
func cutWithState(one turns.Turn) bool { return one.Record.Cut() && one.After != "" }

// fillOrigin finds commit, uncommitted work and conversation of a turn from 1 on. The turn's tag is
// enough: logs and snapshots may be gone.
func fillOrigin(ctx context.Context, h *app.App, m worktree.Manager, s *session.Session, from *Origin, list turns.AgentTurns, byForce turns.Force) error {
	turnSession := from.source.TurnSession
	one, err := turns.Numbered(s, list, strconv.Itoa(from.Turn))
	tagged, tagErr := m.Refs().Head(ctx, turn.TagRef(turnSession, from.Turn))
	switch {
	case err != nil && tagErr == nil:
		from.commit = tagged
	case err != nil:
		return err
	case one.State == turn.InProgress:
		return errs.New(errs.Failed, "turn %d of %s: is not finished yet", from.Turn, from.Agent).Hint("paw turns %s %s", s.Name, from.Agent)
	case cutWithState(*one):
		if from.commit, err = m.Objects().SnapshotHead(ctx, one.After); err != nil {
			return err
		}
		from.notes = append(from.notes, fmt.Sprintf("it begins where turn %d of %s was cut", from.Turn, from.Agent))
	case one.State != turn.Finished:
		return errs.New(errs.Failed, "turn %d of %s: was aborted (%s) and has no tag", from.Turn, from.Agent, one.Reason).Hint("paw turns %s %s", s.Name, from.Agent)
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
		if _, err := turns.CommitAlone(h, from.Agent, from.Turn, "end", from.commit, byForce); err != nil {
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
	makes := "--from"
	if from.current {
		makes = "paw spawn"
	}
	for i := range a.Draft.Agents {
		w := &a.Draft.Agents[i]
		if !w.BranchCreated {
			return errs.New(errs.Usage, "branch %s: exists already, and %s makes a new one", w.Branch, makes)
		}
		own := from.Origin
		a.Notes[w.Name] = append(a.Notes[w.Name], from.notes...)
		switch {
		case from.current || from.Turn == 0:
		case o.Silent:
			own.Conversation = ""
		case from.Conversation == "" || !canFork(ctx, h, s, w, from, o.Prompt):
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
		w.From = &own
	}
	return nil
}

// canFork reports whether the CLI of a new agent can continue a copy of the origin's conversation.
func canFork(ctx context.Context, h *app.App, s *session.Session, w *session.Agent, from *Origin, prompt string) bool {
	cli, executable, err := h.ProgramOf(from.source)
	if err != nil || w.CLI != from.source.CLI {
		return false
	}
	spec := h.Specs().Launch(s, from.source, executable)
	spec.ConversationID = from.Conversation
	found, err := cli.Conversation(ctx, spec)
	if err != nil || !found.Resumable {
		return false
	}
	_, err = cli.Fork(h.Specs().Draft(cli, executable, prompt), from.Conversation)
	return err == nil || launch.CanOnlyBeSent(err)
}

// OriginNow returns the present state of an agent's worktree as the origin of a child. The snapshot
// has no ref yet: a refused spawn leaves nothing.
func OriginNow(ctx context.Context, h *app.App, s *session.Session, w *session.Agent) (*Origin, error) {
	m, err := h.ManagerOf(ctx, s)
	if err != nil {
		return nil, err
	}
	from := &Origin{Origin: session.Origin{Agent: w.Name}, source: w, current: true}
	if last, err := h.TurnDir(s.Name, w.Name).Last(); err == nil && last != nil {
		from.Turn, from.Within = last.Number, last.State == turn.InProgress
	}
	for try := 0; ; try++ {
		if from.commit, err = m.Refs().WorktreeHead(ctx, w.WorktreePath); err != nil {
			return nil, err
		}
		shot, err := m.Snapshots().Take(ctx, w.WorktreePath, "", "paw: "+w.Name+" when it started another agent")
		if err != nil {
			return nil, err
		}
		head, err := m.Refs().WorktreeHead(ctx, w.WorktreePath)
		if err != nil {
			return nil, err
		}
		if head != from.commit && try < 3 {
			continue // a commit was made meanwhile
		}
		if shot.Commit != head {
			from.Snapshot = shot.Commit
		}
		for _, path := range shot.NotSaved {
			from.notes = append(from.notes, path+" is not in its worktree: git cannot save it")
		}
		return from, nil
	}
}
