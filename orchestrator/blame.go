package orchestrator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/review"
	"paw/orchestrator/turns"
	"paw/session"
	"paw/session/turn"
	"paw/worktree"
	"paw/worktree/gitdir"
	"paw/worktree/objects"
)

// BlameOptions are the options of paw blame.
type BlameOptions struct {
	Agent       string // "" for the file in the user's current checkout
	Turn        string // "" for the agent's present state
	State       string // commit of a state of the agent that was shown before, instead of the present state
	File        string // relative to the repository if Agent is set, else to the current directory
	First, Last int    // lines, 0 for all
	IgnoreSpace bool
}

// Blamed is a line with its origin.
type Blamed struct {
	objects.BlamedLine
	By     By
	Origin *LineOrigin // nil for a commit, and for uncommitted changes
}

// Blame returns, for each line of a file, the agent's turn or the commit that introduced the line. s is
// nil without an agent.
func Blame(ctx context.Context, h *app.App, s *session.Session, o BlameOptions) ([]Blamed, error) {
	m, err := blamedIn(ctx, h, s)
	if err != nil {
		return nil, err
	}
	reader, drop, err := m.WithScratch()
	if err != nil {
		return nil, err
	}
	defer drop()
	l := &lineage{h: h, m: reader, ends: map[string]map[int]int{}}
	if l.refs, err = reader.Refs().List(ctx, turn.HiddenPrefix); err != nil {
		return nil, err
	}
	of := objects.BlameOptions{Path: o.File, IgnoreSpace: o.IgnoreSpace}
	last := -1
	if o.Agent != "" {
		if last, err = l.agentAt(ctx, s, o); err != nil {
			return nil, err
		}
	} else {
		of.Dir = h.Dir
	}
	landed := l.landings(ctx, m.Repository.CommonDir)
	line, parents, err := reader.Objects().Line(ctx, l.steps, landed)
	if err != nil {
		return nil, err
	}
	of.Parents = parents
	if last >= 0 {
		of.Commit = line[last].Commit
	}
	if o.First > 0 {
		of.Lines = fmt.Sprintf("%d,%d", o.First, o.Last)
	}
	lines, err := reader.Objects().Blame(ctx, of)
	if err != nil {
		return nil, cmp.Or(whyNotBlamed(ctx, reader.Objects(), of, o), error(errs.New(errs.Failed, "%s: %w", o.File, err)))
	}
	return l.tell(ctx, lines, line)
}

// whyNotBlamed returns an error that says why git could not tell of a file, nil for an unknown
// reason.
func whyNotBlamed(ctx context.Context, objects *objects.Store, of objects.BlameOptions, o BlameOptions) error {
	if of.Lines != "" {
		of.Lines = ""
		all, err := objects.Blame(ctx, of)
		if err == nil {
			place := review.Comment{Path: o.File, First: o.First, Last: o.Last}.Place()
			return errs.New(errs.Usage, "%s: has %s", place, errs.Counted(len(all), "line"))
		}
	}
	if of.Commit != "" {
		if there, err := objects.HasFile(ctx, of.Commit, o.File); err == nil && !there {
			return errs.New(errs.Failed, "%s: %s has no such file", o.File, o.Agent)
		}
		return nil
	}
	path := o.File
	if !filepath.IsAbs(path) {
		path = filepath.Join(of.Dir, path)
	}
	about, err := os.Lstat(path)
	if err == nil && about.Mode().IsRegular() {
		return errs.New(errs.Failed, "%s: is not tracked by git", o.File)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return errs.New(errs.Failed, "%s: no such file", o.File)
	}
	return nil
}

// blamedIn returns the manager of the repository of s or, if s is nil, of the current directory.
func blamedIn(ctx context.Context, h *app.App, s *session.Session) (*worktree.Manager, error) {
	if s != nil {
		return h.ManagerOf(ctx, s)
	}
	here, err := gitdir.Discover(h.Dir)
	return h.Manager(here), err
}

// agentAt returns the step of the agent's state that was asked for: the present one, or the end of
// a turn.
func (l *lineage) agentAt(ctx context.Context, s *session.Session, o BlameOptions) (int, error) {
	w, err := app.AgentNamed(s, o.Agent)
	if err != nil {
		return -1, err
	}
	if o.Turn == "" {
		state := o.State
		if state == "" {
			if state, err = turns.StateNow(ctx, l.h.Agent(s, w).In(l.m)); err != nil {
				return -1, err
			}
		}
		at := l.agent(s, *w)
		return l.add(state, l.since(s, *w), l.rewound(w, l.lastTurn(s, w.Name), at)...), nil
	}
	number, err := strconv.Atoi(o.Turn)
	l.agent(s, *w)
	step, there := l.ends[w.TurnSession][number]
	if err == nil && !there && number > l.lastTurn(s, o.Agent) {
		return -1, errs.New(errs.NotFound, "%s: has no turn %s", o.Agent, o.Turn).Hint("paw turns %s %s", s.Name, o.Agent)
	}
	if err != nil || !there {
		return -1, errs.New(errs.Failed, "%s: turn %s has no snapshot", o.Agent, o.Turn).Hint("paw turns %s/%s", s.Name, o.Agent)
	}
	return step, nil
}

// tell finds the origin of each line.
func (l *lineage) tell(ctx context.Context, lines []objects.BlamedLine, line []objects.LineCommit) ([]Blamed, error) {
	byCommit, at := map[string]*LineOrigin{}, map[string]time.Time{}
	for i, step := range line {
		if l.origins[i] != nil && len(l.steps[i].After) > 0 {
			byCommit[step.Commit], at[step.Commit] = l.origins[i], step.At
		}
	}
	asked := map[string]bool{}
	told := make([]Blamed, 0, len(lines))
	for _, b := range lines {
		one := Blamed{BlamedLine: b, By: ByCommit}
		if strings.Trim(b.Commit, "0") == "" {
			one.By = ByUncommitted
			told = append(told, one)
			continue
		}
		if byCommit[b.Commit] == nil && !asked[b.Commit] {
			asked[b.Commit] = true
			if err := l.committed(ctx, b, line, byCommit); err != nil {
				return nil, err
			}
		}
		if one.Origin = byCommit[b.Commit]; one.Origin != nil {
			one.By, one.At = one.Origin.By, cmp.Or(at[b.Commit], b.Committed)
			if ofSnapshot := !at[b.Commit].IsZero(); ofSnapshot && one.By == ByTurn && !one.Origin.from.IsZero() {
				one.At = one.Origin.to
			}
		}
		told = append(told, one)
	}
	return told, nil
}

// committed finds the turn in which an agent made a commit: a turn that was open at the time of the
// commit and moved HEAD along first parents over it, so that the commit was not merged.
func (l *lineage) committed(ctx context.Context, b objects.BlamedLine, line []objects.LineCommit, byCommit map[string]*LineOrigin) error {
	for i, origin := range l.origins {
		if origin == nil || origin.By != ByTurn || len(l.steps[i].After) == 0 {
			continue
		}
		before, after := line[l.steps[i].After[len(l.steps[i].After)-1]], line[i]
		from, to := origin.from, origin.to
		if from.IsZero() { // a turn without a log here
			from, to = before.At, after.At
		}
		if before.Head == after.Head || b.Committed.Before(from.Add(-time.Second)) || b.Committed.After(to.Add(time.Second)) {
			continue
		}
		made, err := l.m.Objects().FirstParents(ctx, before.Head, after.Head)
		if err != nil {
			return err
		}
		if made[b.Commit] {
			byCommit[b.Commit] = origin
			return nil
		}
	}
	return nil
}

// AgentHere returns the agent in whose worktree the user is, and path relative to that worktree; a nil
// session outside of worktrees of agents.
func AgentHere(h *app.App, path string) (s *session.Session, agent, inRepository string) {
	place, err := gitdir.Discover(h.Dir)
	if err != nil {
		return nil, "", path
	}
	sessions, _, _ := h.Store.List()
	for _, s := range sessions {
		at := slices.IndexFunc(s.Agents, func(w session.Agent) bool { return w.WorktreePath == place.Worktree })
		if at < 0 {
			continue
		}
		if full := filepath.Join(h.Dir, path); !filepath.IsAbs(path) {
			path = full
		}
		if below, err := filepath.Rel(place.Worktree, path); err == nil {
			path = below
		}
		return s, s.Agents[at].Name, path
	}
	return nil, "", path
}
