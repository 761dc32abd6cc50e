package turns

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/live"
	"paw/session"
	"paw/session/turn"
	"paw/worktree/snapshot"
)

// snapshotAfter takes the snapshot of the end of turn n, unless a paw that was killed before it had
// written down the end has taken one. Without a snapshot another ref keeps HEAD's commit.
func (t *Recorder) snapshotAfter(ctx context.Context, n int, how string) (_, _ string) {
	ref := turn.TurnRef(t.Record.TurnSession, n)
	commit, head, note := t.snapshot(ctx, ref, fmt.Sprintf("paw: %s after turn %d%s", t.Record.Name, n, how))
	if commit != "" {
		return commit, cmp.Or(t.chain(ctx, commit, head, fmt.Sprintf("after turn %d", n), turn.StateRef(t.Record.TurnSession, n)), note)
	}
	if taken, err := t.Repo.Refs().Read(ctx, ref); err == nil && taken != "" {
		return taken, ""
	}
	head, err := t.head(ctx)
	if err == nil {
		_, err = t.Repo.Refs().Create(ctx, turn.HeadRef(t.Record.TurnSession, n), head)
	}
	if err != nil {
		note += fmt.Sprintf(" (%v)", err)
	}
	return "", note
}

// NotInSnapshot begins a note about files that git could not save, as a required filter failed.
const NotInSnapshot = "not in the snapshot: "

// snapshot takes a snapshot within the budget. When it is exceeded, or git fails, it returns none,
// with a note: HEAD in its place would look like the complete state.
func (t *Recorder) snapshot(ctx context.Context, ref, message string) (commit, head, note string) {
	s, err := t.Repo.Snapshots().TakeWithin(ctx, t.Record.WorktreePath, ref, message, Scratch(t.Agent), t.budget)
	if err == nil {
		if len(s.NotSaved) > 0 {
			note = NotInSnapshot + strings.Join(s.NotSaved, ", ")
		} else if s.MovedFrom != "" {
			note = session.ReasonBranchMoved
		}
		return s.Commit, HeadOf(s), note
	}
	return "", "", fmt.Sprintf("no snapshot: %v", err)
}

// chain continues the agent's chain with a snapshot, with another ref for the state.
func (t *Recorder) chain(ctx context.Context, commit, head, what string, others ...string) (note string) {
	if _, err := Continue(ctx, t.Agent, commit, head, what, others...); err != nil {
		return "its state is not in the chain: " + err.Error()
	}
	return ""
}

// Scratch returns the folder of the scratch index of an agent's snapshots.
func Scratch(a app.Agent) string {
	return filepath.Join(a.App.StateDir(a.Session.Name, a.Record.Name), "snapshot")
}

// head returns the commit that HEAD of the agent's worktree is at. On a branch that has no commit,
// or that is gone, head returns the last commit that HEAD was at, or the base of the agent: turns
// go on. A worktree that is gone is an error.
func (t *Recorder) head(ctx context.Context) (string, error) {
	head, err := t.Repo.Refs().WorktreeHead(ctx, t.Record.WorktreePath)
	if err == nil {
		return head, nil
	}
	last, there := t.Repo.Refs().LastHeadIn(t.Record.WorktreePath)
	if !there {
		return "", err
	}
	for _, last := range []string{last, t.Record.BaseCommit} {
		if last != "" && t.Repo.Objects().Has(ctx, last) {
			return last, nil
		}
	}
	return "", err
}

// Force says whether --force was given, and to which command.
type Force struct {
	Yes     bool
	Command string
}

// CommitAlone returns the commit of a turn in place of a missing snapshot of its begin or end: what
// was not committed then is unknown, because the snapshot was over the budget or failed. It refuses
// without force, and notes it with force.
func CommitAlone(ctx context.Context, a app.Agent, number int, side, commit string, byForce Force) (string, error) {
	agentName := a.Record.Name
	if commit == "" {
		return "", errs.New(errs.Refused, "turn %d of %s: there is no snapshot of its %s", number, agentName, side)
	}
	if !a.Repo.Objects().Has(ctx, commit) {
		return "", errs.New(errs.Refused, "turn %d of %s: there is no snapshot of its %s, and its commit is gone from the repository", number, agentName, side).
			Hint("paw turns %s/%s", a.Session.Name, agentName)
	}
	refused := errs.New(errs.Refused, "turn %d of %s: there is no snapshot of its %s, only its commit is known", number, agentName, side)
	if !byForce.Yes {
		return "", refused.Hint("%s", byForce.Command)
	}
	a.App.Notef("%s", refused.Message)
	return commit, nil
}

// End returns the state of the end of a turn; for an open turn, the present state.
func End(ctx context.Context, a app.Agent, one *Turn, byForce Force) (string, error) {
	switch {
	case one.State == turn.InProgress:
		return StateNow(ctx, a)
	case one.After == "":
		return CommitAlone(ctx, a, one.Number, "end", cmp.Or(one.CommitHash, one.Head), byForce)
	}
	return one.After, nil
}

// EndOf returns the state of the end of the turn with that number; 0 stands for the base.
func EndOf(ctx context.Context, a app.Agent, list AgentTurns, number string, byForce Force) (string, error) {
	if number == "0" {
		err := BeginThere(ctx, a)
		return a.Record.Base(), err
	}
	one, err := Numbered(a.Session, list, number)
	if err != nil {
		return "", err
	}
	return End(ctx, a, one, byForce)
}

// Numbered returns the turn whose number the user typed.
func Numbered(s *session.Session, list AgentTurns, text string) (*Turn, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return nil, errs.New(errs.Usage, "%q: not the number of a turn", text).Hint("paw turns %s/%s", s.Name, list.Agent)
	}
	for i := range list.Turns {
		if list.Turns[i].Number == n {
			return &list.Turns[i], nil
		}
	}
	return nil, errs.New(errs.NotFound, "%s: has no turn %d", list.Agent, n).Hint("paw turns %s/%s", s.Name, list.Agent)
}

// Now takes a snapshot of the worktree that no ref keeps.
func Now(ctx context.Context, a app.Agent) (snapshot.Snapshot, error) {
	snapshot, err := a.Repo.Snapshots().TakeWithin(ctx, a.Record.WorktreePath, "", "paw: "+a.Record.Name+" now", Scratch(a), snapshot.Budget{})
	if _, lost := os.Lstat(a.Record.WorktreePath); err != nil && errors.Is(lost, fs.ErrNotExist) {
		err = errs.New(errs.Refused, "%s: %s", a.Record.Name, session.ReasonWorktreeGone).
			Hint("paw stop %s %s --only && paw recover %s", a.Session.Name, a.Record.Name, a.Session.Name)
	}
	if app.RefusingFilter(err) != "" {
		err = errs.New(errs.Refused, "%s: its state cannot be read: %w", a.Record.Name, err)
	}
	return snapshot, err
}

// StateNow returns the commit of Now.
func StateNow(ctx context.Context, a app.Agent) (string, error) {
	snapshot, err := Now(ctx, a)
	return snapshot.Commit, err
}

// CountFiles fills in the numbers of changed files of results, with one git process for each result
// and two for all of them.
func CountFiles(ctx context.Context, h *app.App, s *session.Session, results []*live.Result) {
	repository, err := app.Discover(s)
	if err != nil {
		return
	}
	m := h.Manager(repository)
	of := map[*live.Result][2]string{}
	var pairs [][2]string
	for _, r := range results {
		w := s.Agent(r.Agent)
		if w == nil || r.Turn < 1 {
			continue
		}
		before, after := turn.BeforeRef(w.TurnSession, r.Turn), turn.TurnRef(w.TurnSession, r.Turn)
		refs, err := m.Refs().List(ctx, before, after)
		if err != nil {
			return
		}
		if pair := [2]string{refs[before], refs[after]}; pair[0] != "" && pair[1] != "" {
			of[r], pairs = pair, append(pairs, pair)
		}
	}
	counts, err := m.Objects().Changes(ctx, pairs)
	if err != nil {
		return
	}
	for r, pair := range of {
		if c, counted := counts[pair]; counted {
			r.Files = &c.Files
		}
	}
}
