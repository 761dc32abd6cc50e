package app

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"

	"paw/orchestrator/errs"
	"paw/session"
	"paw/session/turn"
	"paw/worktree"
	"paw/worktree/gitdir"
)

// Place is where the user is: a directory, perhaps in the pane of an agent.
type Place struct{ app *App }

// Place returns where the user is.
func (h *App) Place() Place { return Place{h} }

// None returns the error of a command that needs a session where there is none, or whose record
// cannot be read.
func (p Place) None() error {
	if err := p.Unreadable(); err != nil {
		return err
	}
	none := errs.New(errs.NotFound, "no session here")
	if p.app.HasSessions() {
		none = none.Hint("paw status --all")
	}
	return none.Hint("paw start --cli %s", cmp.Or(p.app.InstalledCLI(), BuiltIn))
}

// HasSessions reports whether there is any session on this machine, also one whose record cannot be read.
func (h *App) HasSessions() bool {
	sessions, problems, err := h.Store.List()
	return len(sessions)+len(problems) > 0 || err != nil
}

// Sessions returns the sessions of the user's place: that of the pane or worktree, or all of
// the repository. Of several, those with an unreadable record are left out.
func (p Place) Sessions() ([]*session.Session, error) {
	if name := p.app.Getenv("PAW_SESSION"); name != "" {
		if s, err := p.app.Store.Load(name); err == nil && s != nil {
			return []*session.Session{s}, nil
		}
	}
	repository, err := gitdir.Discover(p.app.Dir)
	places := append([]string{repository.Worktree, repository.Path}, upward(repository.CommonDir)...)
	outside := errors.Is(err, gitdir.ErrNotRepository)
	if outside { // an agent's worktree may have lost its .git file
		places, err = upward(p.app.Dir), nil
	}
	if err != nil {
		return nil, err
	}
	here, err := p.app.Store.At(places...)
	if err != nil || len(here) > 0 || outside {
		return here, err
	}
	return p.movedTo(context.Background())
}

// upward returns a directory and those around it, up to the top of the worktree that it is in.
func upward(dir string) (dirs []string) {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	for ; ; dir = filepath.Dir(dir) {
		dirs = append(dirs, dir)
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil || dir == filepath.Dir(dir) {
			return dirs
		}
	}
}

// Flag returns the flag that names a session in a hint. It is left out where the session is the only one of the user's place:
// there each command means it.
func (p Place) Flag(name string) Flag {
	here, err := p.Sessions()
	return Flag{Name: "session", Values: []string{name}, Off: err == nil && len(here) == 1 && here[0].Name == name && errs.Reached == nil}
}

// Of returns Flag as it stands in a command line, with a space before it; "" where it is left out.
func (p Place) Of(session string) string { return Flags([]Flag{p.Flag(session)}) }

// Agent returns the agent of s in whose pane or worktree the user is, "" for none.
func (p Place) Agent(s *session.Session) string {
	if p.app.Getenv("PAW_SESSION") == s.Name && s.Agent(p.app.Getenv("PAW_AGENT")) != nil {
		return p.app.Getenv("PAW_AGENT")
	}
	repository, err := gitdir.Discover(p.app.Dir)
	if err != nil || repository.Worktree == "" {
		return ""
	}
	for i := range s.Agents {
		real, err := filepath.EvalSymlinks(s.Agents[i].WorktreePath)
		if err == nil && real == repository.Worktree {
			return s.Agents[i].Name
		}
	}
	return ""
}

// Caller returns the session and agent in whose pane paw was called, freshly loaded. Outside of an
// agent's pane it returns an error with hint as its hint.
func (p Place) Caller(command, hint string) (*session.Session, *session.Agent, error) {
	name, agentName := p.app.Getenv("PAW_SESSION"), p.app.Getenv("PAW_AGENT")
	if name == "" || agentName == "" {
		return nil, nil, errs.New(errs.Usage, "paw %s: is for an agent, inside its pane", command).Hint("%s", hint)
	}
	s, err := p.app.Load(name)
	if err != nil {
		return nil, nil, err
	}
	w, err := AgentNamed(s, agentName)
	return s, w, err
}

// Unread returns the unreadable records that name the user's repository, or none at all.
func (p Place) Unread() []session.Unreadable {
	repository, err := gitdir.Discover(p.app.Dir)
	if err != nil {
		return nil // no place of a session
	}
	return p.app.Store.UnreadableRecords(repository.Worktree, repository.Path, repository.CommonDir)
}

// Unreadable returns the error of an unreadable record that belongs to the user's place, nil
// where there is none.
func (p Place) Unreadable() error {
	repository, _ := gitdir.Discover(p.app.Dir)
	for _, one := range p.Unread() {
		if one.Placed() || p.madeTurnsIn(repository, one.Name) {
			return p.app.RecordError("", one.Err)
		}
	}
	return nil
}

// madeTurnsIn reports whether a session has refs in a repository, by the folders of its agents,
// since its record cannot be read.
func (p Place) madeTurnsIn(repository gitdir.Repository, sessionName string) bool {
	agents, _ := os.ReadDir(filepath.Dir(p.app.StateDir(sessionName, "x")))
	var prefixes []string
	for _, agent := range agents {
		prefixes = append(prefixes, turn.RefPrefix(sessionName+"_"+agent.Name()))
	}
	if len(prefixes) == 0 {
		return false
	}
	refs, err := p.app.Manager(repository).Refs().List(context.Background(), prefixes...)
	return err == nil && len(refs) > 0
}

// Moved checks whether the user's repository is the moved repository of a session, by the
// registrations of the agents' worktrees. places are the worktrees' current paths by agent, nil
// when it is not.
func (p Place) Moved(ctx context.Context, s *session.Session) (here gitdir.Repository, places map[string]string) {
	here, err := gitdir.Discover(p.app.Dir)
	if err != nil || !Gone(s) {
		return here, nil
	}
	places, err = p.app.Manager(here).Registry().Moved(ctx, PlansOf(s, s.Agents), func(plan worktree.Plan) []string {
		var along []string
		if relative, err := filepath.Rel(s.RepoPath, plan.Path); err == nil {
			along = append(along, filepath.Join(RootIn(here), relative))
		}
		if path, err := p.app.Config.WorktreePath(RootIn(here), s.Name, plan.Agent); err == nil { // the folder may be named after the repository
			along = append(along, path)
		}
		return along
	})
	if err != nil {
		return here, nil
	}
	return here, places
}

// movedTo returns the sessions whose repository was moved to the user's place.
func (p Place) movedTo(ctx context.Context) (found []*session.Session, err error) {
	sessions, _, err := p.app.Store.List()
	for _, s := range sessions {
		if _, places := p.Moved(ctx, s); len(places) > 0 {
			found = append(found, s)
		}
	}
	return found, err
}
