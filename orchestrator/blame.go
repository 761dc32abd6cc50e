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

	"paw/config/disk"
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
	l, err := originsIn(ctx, h, reader)
	if err != nil {
		return nil, err
	}
	of := objects.BlameOptions{Path: o.File, IgnoreSpace: o.IgnoreSpace}
	if o.Agent == "" {
		of.Dir, of.Path = placeOf(m, h.Dir, o.File)
	} else if of.Commit, err = l.state(ctx, s, o); err != nil {
		return nil, err
	}
	if o.First > 0 {
		of.Lines = fmt.Sprintf("%d,%d", o.First, o.Last)
	}
	lines, err := reader.States().Blame(ctx, of)
	if err != nil {
		return nil, cmp.Or(whyNotBlamed(ctx, reader.Objects(), of, o), error(errs.New(errs.Failed, "%s: %w", o.File, err)))
	}
	return l.tell(ctx, lines, of)
}

// placeOf returns the folder of a file and its name there, as git has to be asked: without symbolic links on the way,
// and in the worktree of the repository that the file is in.
func placeOf(m *worktree.Manager, dir, file string) (string, string) {
	path := file
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	folder, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return dir, file
	}
	if there, err := gitdir.Discover(folder); err != nil || !disk.SamePath(there.CommonDir, m.Repository.CommonDir) {
		return dir, file
	}
	return folder, filepath.Base(path)
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
	path := of.Path
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

// state returns the state of an agent that was asked for, in the agent's chain: the present one, or the
// end of a turn.
func (l *origins) state(ctx context.Context, s *session.Session, o BlameOptions) (string, error) {
	w, err := app.AgentNamed(s, o.Agent)
	if err != nil {
		return "", err
	}
	a := l.h.Agent(s, w).In(l.m)
	l.shown = w.TurnSession
	if o.Turn == "" && o.State == "" {
		now, err := turns.CurrentState(ctx, a)
		return now.Twin, err
	}
	if o.Turn == "" {
		shown, err := turns.StateShown(ctx, a, o.State)
		return shown.Twin, err
	}
	number, err := strconv.Atoi(o.Turn)
	commit := l.refs[turn.TurnRef(w.TurnSession, number)]
	if last, _ := a.TurnDir().Last(); err == nil && number > turn.NumberOf(last) {
		return "", errs.New(errs.NotFound, "%s: has no turn %s", o.Agent, o.Turn).Hint("paw turns %s/%s", s.Name, o.Agent)
	}
	if err != nil || commit == "" && number != 0 {
		return "", errs.New(errs.Failed, "%s: turn %s has no snapshot", o.Agent, o.Turn).Hint("paw turns %s/%s", s.Name, o.Agent)
	}
	chain, err := turns.ChainOf(ctx, a)
	if err != nil {
		return "", err
	}
	return chain.At(ctx, number, commit)
}

// tell finds the origin of each line. A line of an agent whose session has no record any more is told by
// its commit.
func (l *origins) tell(ctx context.Context, lines []objects.BlamedLine, of objects.BlameOptions) ([]Blamed, error) {
	told := make([]Blamed, 0, len(lines))
	var plain []objects.BlamedLine
	for i, line := range lines {
		one := Blamed{BlamedLine: line, By: ByCommit}
		switch {
		case strings.Trim(line.Commit, "0") == "":
			one.By = ByUncommitted
		case line.Own != "":
			origin, err := l.of(ctx, line)
			if err != nil {
				return nil, err
			}
			if one.Origin = origin; origin == nil && plain == nil {
				if plain, err = l.m.States().PlainBlame(ctx, of); err != nil {
					return nil, err
				}
			}
			if origin == nil {
				one.BlamedLine = plain[i]
				break
			}
			if one.By = origin.By; !origin.ended.IsZero() {
				one.At = origin.ended
			}
		}
		told = append(told, one)
	}
	return told, nil
}

// AgentHere returns the agent in whose worktree a file is, and path relative to that worktree; a nil session for a
// file outside of worktrees of agents.
func AgentHere(h *app.App, path string) (s *session.Session, agent, inRepository string) {
	full := path
	if !filepath.IsAbs(path) {
		full = filepath.Join(h.Dir, path)
	}
	folder := h.Dir
	if real, err := filepath.EvalSymlinks(filepath.Dir(full)); err == nil {
		folder, full = real, filepath.Join(real, filepath.Base(full))
	}
	place, err := gitdir.Discover(folder)
	if err != nil {
		return nil, "", path
	}
	sessions, _, _ := h.Store.List()
	for _, s := range sessions {
		at := slices.IndexFunc(s.Agents, func(w session.Agent) bool { return w.WorktreePath == place.Worktree })
		if at < 0 {
			continue
		}
		if below, err := filepath.Rel(place.Worktree, full); err == nil {
			path = below
		}
		return s, s.Agents[at].Name, path
	}
	return nil, "", path
}
