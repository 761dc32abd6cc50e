package orchestrator

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"paw/orchestrator/agent"
	"paw/session"
	"paw/session/turn"
	"paw/worktree"
)

// turns is what changes the turns of one agent: its log, its refs and its
// record. Every method is called with the agent's turn lock held.
type turns struct {
	p      *Paw
	s      *session.Session
	w      *session.Worktree
	m      worktree.Manager
	dir    turn.Dir
	budget worktree.Budget
	strict bool // a number whose tag exists is an error: somebody can be told
}

// turnDir is the folder with the turn logs of an agent.
func (p *Paw) turnDir(sessionName, agentName string) turn.Dir {
	return turn.Dir{Path: filepath.Join(p.Paths.TurnsDir(), sessionName, agentName)}
}

// withTurns runs change with the turn lock of an agent.
func (p *Paw) withTurns(ctx context.Context, s *session.Session, w *session.Worktree, change func(*turns) error) error {
	repository, err := worktree.Discover(s.GitCommonDir)
	if err != nil {
		return err
	}
	unlock, err := p.Locks.Turn(ctx, s.Name, w.Agent)
	if err != nil {
		return p.recordError(s.Name, err)
	}
	defer unlock()
	return change(&turns{
		p: p, s: s, w: w, m: p.manager(repository), dir: p.turnDir(s.Name, w.Agent),
		budget: worktree.Budget{
			Time:  time.Duration(p.Config.Turns.SnapshotSeconds) * time.Second,
			Bytes: int64(p.Config.Turns.SnapshotMiB) << 20,
		},
	})
}

// begin starts the next turn: the number is claimed for good before anything
// else, a number whose tag exists already is left out, then START, then the
// snapshot of the state before.
func (t *turns) begin(ctx context.Context, start turn.Start) (*turn.Turn, error) {
	head, err := t.head(ctx)
	if err != nil {
		return nil, err
	}
	start.Commit = head
	var skipped []int
	atLeast := max(t.dir.Highest(), t.w.TurnHighWater) + 1
	for {
		n, err := t.m.ClaimTurn(ctx, t.w.TurnSession, atLeast, head)
		if err != nil {
			return nil, err
		}
		t.p.Step("turn.claimed")
		taken, err := t.tagged(ctx, n)
		if err != nil {
			return nil, err
		}
		if taken && t.strict {
			return nil, &TagTakenError{Number: n, Tag: turn.TagName(t.w.TurnSession, n)}
		}
		if taken {
			skipped, atLeast = append(skipped, n), n+1
			continue
		}
		one := turn.New(t.dir, n, t.p.Now)
		if err := one.Start(start); err != nil {
			return nil, err
		}
		t.p.Step("turn.started")
		for _, n := range skipped {
			_ = one.Note(fmt.Sprintf("number %d was left out: tag %s exists already", n, turn.TagName(t.w.TurnSession, n)))
		}
		if _, note := t.snapshot(ctx, turn.BeforeRef(t.w.TurnSession, n), fmt.Sprintf("paw: %s before turn %d", t.w.Agent, n)); note != "" {
			_ = one.Note(note)
		}
		t.p.Step("turn.before")
		return one, nil
	}
}

// tagged tells whether turn n has a tag already.
func (t *turns) tagged(ctx context.Context, n int) (bool, error) {
	tags, err := t.p.turnTags(ctx, t.m, t.w.TurnSession)
	if err != nil {
		return false, err
	}
	for _, tagged := range tags {
		if tagged == n {
			return true, nil
		}
	}
	return false, nil
}

// turnTags are the numbers of the turn tags of one turn session.
func (p *Paw) turnTags(ctx context.Context, m worktree.Manager, turnSession string) ([]int, error) {
	numbers, ok, err := worktree.TurnTags(m.Repository.CommonDir)
	if err != nil || ok {
		return numbers[turnSession], err
	}
	refs, err := m.Refs(ctx, "refs/tags/afk-"+turnSession+"-")
	if err != nil {
		return nil, err
	}
	var found []int
	for ref := range refs {
		if name, n, ok := turn.ParseTag(strings.TrimPrefix(ref, "refs/tags/")); ok && name == turnSession {
			found = append(found, n)
		}
	}
	return found, nil
}

// finish ends a turn well: snapshot, END with the result, record, tag, in this
// order. If the tag fails, the result is known all the same and recover tags it.
func (t *turns) finish(ctx context.Context, one *turn.Turn, answer string) (turn.Result, error) {
	n := one.Number()
	end := turn.End{Outcome: "success", Message: firstLine(answer)}
	snapshot, note := t.snapshot(ctx, turn.TurnRef(t.w.TurnSession, n), fmt.Sprintf("paw: %s after turn %d", t.w.Agent, n))
	if note != "" {
		_ = one.Note(note)
	}
	t.p.Step("turn.snapshot")
	head, err := t.head(ctx)
	if err != nil {
		return turn.Result{}, err
	}
	end.CommitHash, end.Snapshot = head, snapshot
	if start := one.Record().StartCommit; head != start {
		message, err := t.m.LastMessage(ctx, t.w.WorktreePath, head, start)
		if err != nil {
			_ = one.Note("the message of the last commit cannot be read: " + err.Error())
		}
		if message != "" {
			end.Message = message
			if outcome := outcomeFooter(message); outcome != "" {
				end.Outcome = outcome
			}
		}
	}
	result, err := one.Finish(end)
	if err != nil {
		return result, err
	}
	t.p.Step("turn.ended")
	t.remember(ctx, n)
	t.p.Step("turn.remembered")
	err = t.tag(ctx, result)
	t.p.Step("turn.tagged")
	return result, err
}

// tag makes the tag of a finished turn, on the commit of its result.
func (t *turns) tag(ctx context.Context, r turn.Result) error {
	won, err := t.m.CreateRef(ctx, turn.TagRef(t.w.TurnSession, r.Number), r.CommitHash)
	if err == nil && !won {
		err = fmt.Errorf("tag %s exists already", turn.TagName(t.w.TurnSession, r.Number))
	}
	return err
}

// abort ends a turn badly: ABORT first, then the snapshot of what it left.
func (t *turns) abort(ctx context.Context, one *turn.Turn, cause *turn.Abort) {
	_ = one.Abort(cause)
	t.p.Step("turn.aborted")
	n := one.Number()
	if _, note := t.snapshot(ctx, turn.TurnRef(t.w.TurnSession, n), fmt.Sprintf("paw: %s after turn %d, %s", t.w.Agent, n, cause.Reason)); note != "" {
		_ = one.Note(note)
	}
	t.p.Step("turn.snapshot")
	t.remember(ctx, n)
	t.p.Step("turn.remembered")
}

// remember writes the number into the record, which keeps the count even when
// log and refs are lost.
func (t *turns) remember(ctx context.Context, n int) {
	if t.w.TurnHighWater >= n {
		return
	}
	_, err := t.p.update(ctx, t.s.Name, func(rec *session.Session) error {
		if w := rec.Worktree(t.w.Agent); w != nil {
			w.TurnHighWater = max(w.TurnHighWater, n)
		}
		return nil
	})
	if err == nil {
		t.w.TurnHighWater = n
	}
}

// snapshot saves the worktree within the budget. Beyond it, or when it fails,
// HEAD stands in and the note says what is missing.
func (t *turns) snapshot(ctx context.Context, ref, message string) (commit, note string) {
	s, err := t.m.SnapshotWithin(ctx, t.w.WorktreePath, ref, message, t.scratch(), t.budget)
	if err == nil {
		if len(s.NotSaved) > 0 {
			note = "not in the snapshot: " + strings.Join(s.NotSaved, ", ")
		}
		return s.Commit, note
	}
	head, headErr := t.head(ctx)
	if headErr == nil {
		_, headErr = t.m.CreateRef(ctx, ref, head)
	}
	note = fmt.Sprintf("no snapshot, HEAD stands in for it: %v", err)
	if headErr != nil {
		note += fmt.Sprintf(" (%v)", headErr)
	}
	return head, note
}

// scratch is where the scratch index of the agent's snapshots is kept.
func (t *turns) scratch() string {
	return filepath.Join(t.p.stateDir(t.s.Name, t.w.Agent), "snapshot")
}

func (t *turns) head(ctx context.Context) (string, error) {
	return t.m.WorktreeHead(ctx, t.w.WorktreePath)
}

// open returns the agent's last turn when it is open.
func (t *turns) open() (*turn.Turn, error) {
	last, err := t.dir.Last()
	if err != nil || last == nil || last.State != turn.InProgress {
		return nil, err
	}
	return turn.Open(last.LogFile, t.p.Now)
}

// outcomeFooter is the word of the "outcome:" footer of a commit message.
func outcomeFooter(message string) string {
	lines := strings.Split(strings.TrimSpace(message), "\n")
	// Some CLIs add a footer of their own as another paragraph, so all of the
	// last lines that look like footers count.
	for i := len(lines) - 1; i > 0; i-- {
		name, value, ok := strings.Cut(lines[i], ":")
		switch {
		case strings.TrimSpace(lines[i]) == "":
			continue
		case !ok || strings.ContainsAny(name, " \t"):
			return ""
		case strings.EqualFold(name, "outcome") && len(strings.Fields(value)) > 0:
			return strings.Fields(value)[0]
		}
	}
	return ""
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return strings.TrimSpace(line)
}

// markHooks notes that the hooks of a launch report, see hooksSeen.
func (p *Paw) markHooks(s *session.Session, w *session.Worktree, generation int) {
	path := p.hooksMark(s.Name, w.Agent, generation)
	if _, err := os.Lstat(path); err == nil {
		return
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err == nil {
		_ = os.WriteFile(path, nil, 0o600)
	}
}

// hooksSeen is when the hooks of a launch reported first, zero when they did not.
func (p *Paw) hooksSeen(sessionName, agentName string, generation int) time.Time {
	info, err := os.Lstat(p.hooksMark(sessionName, agentName, generation))
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

func (p *Paw) hooksMark(sessionName, agentName string, generation int) string {
	return filepath.Join(p.stateDir(sessionName, agentName), fmt.Sprintf("hooks-%d", generation))
}

// observed asks the CLI's own record about an agent, nothing when it cannot.
func (p *Paw) observed(ctx context.Context, s *session.Session, w *session.Worktree, last *turn.Record) agent.Observed {
	cli, ok := p.CLIs.Get(w.CLI)
	if !ok {
		return agent.Observed{}
	}
	o, err := cli.Observe(ctx, p.specFor(s, w, ""), last)
	if err != nil {
		return agent.Observed{}
	}
	// CLIs count milliseconds. An end before the start is that of an earlier turn:
	// the CLI never got this one.
	if o.Ended != nil && last != nil && !o.At.IsZero() && o.At.Before(last.StartedAt.Truncate(time.Millisecond)) {
		o.Ended = nil
	}
	return o
}
