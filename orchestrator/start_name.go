package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"paw/session"
	"paw/session/turn"
	"paw/tmux"
	"paw/worktree"
)

// sessionName is the name asked for, or the first free one made from the
// repository's directory name.
func (p *Paw) sessionName(ctx context.Context, repository worktree.Repository, o StartOptions, agents []plannedAgent) (string, error) {
	foreign, err := p.foreignTmuxSessions(ctx)
	if err != nil {
		return "", err
	}
	tagged, err := p.takenTurnSessions(ctx, repository.CommonDir)
	if err != nil {
		return "", err
	}
	if o.Name != "" {
		if taken, _ := p.nameTaken(o.Name, true, repository, foreign); taken != nil {
			return "", taken
		}
		for _, a := range agents {
			if tagged[o.Name+"_"+a.name] {
				return "", failf(KindUsage, "session %s: tag %s of an earlier session exists", o.Name, turn.TagName(o.Name+"_"+a.name, 0)).
					hint("paw start --cli CLI --name NAME").hint("paw purge %s --tags", o.Name)
			}
		}
		return o.Name, nil
	}
	stem := stemFor(repository, agents)
	for n := 1; ; n++ {
		name := stem
		if n > 1 {
			name = fmt.Sprintf("%s_%d", stem, n)
		}
		taken, same := p.nameTaken(name, false, repository, foreign)
		switch {
		case taken == nil && !anyTagged(tagged, name, agents):
			return name, nil
		case taken != nil && same:
			return "", taken
		}
	}
}

// anyTagged tells whether one of the agents would get a turn session that has tags.
func anyTagged(tagged map[string]bool, name string, agents []plannedAgent) bool {
	for _, a := range agents {
		if tagged[name+"_"+a.name] {
			return true
		}
	}
	return false
}

// stemFor is the repository's directory name, cut so that a number and the
// longest agent name still fit behind it.
func stemFor(repository worktree.Repository, agents []plannedAgent) string {
	dir := repository.Path
	if dir == "" {
		dir = strings.TrimSuffix(strings.TrimSuffix(repository.CommonDir, "/.git"), ".git")
	}
	stem, longest := defaultName(dir), 0
	for _, a := range agents {
		longest = max(longest, len(a.name))
	}
	if room := session.MaxName - len("_999_") - longest; len(stem) > room && room > 0 {
		stem = stem[:room]
	}
	return stem
}

// nameTaken says why a session name cannot be used, nil when it is free, and
// whether it is this repository that has it. A corrupt record holds no name that
// the user asked for: begin moves it aside.
func (p *Paw) nameTaken(name string, asked bool, repository worktree.Repository, foreign map[string]bool) (taken *Error, same bool) {
	s, err := p.Store.Load(name)
	var corrupt *session.CorruptError
	if asked && errors.As(err, &corrupt) {
		err = nil
	}
	switch {
	case err != nil:
		return failf(KindError, "session %s: taken by a record that cannot be read: %w", name, err).hint("paw doctor"), false
	case s != nil && s.GitCommonDir == repository.CommonDir:
		return failf(KindUsage, "session %s: already exists for %s", name, s.RepoPath).
			hint("paw attach %s", name).hint("paw recover %s", name).hint("paw add --cli CLI --session %s", name).hint("paw start --cli CLI --name NAME"), true
	case s != nil:
		return failf(KindUsage, "session %s: already exists for %s", name, s.RepoPath).hint("paw start --cli CLI --name NAME"), false
	case foreign["paw-"+name]:
		return failf(KindUsage, "session %s: tmux has a session paw-%s that is not in paw's records", name, name).hint("paw start --cli CLI --name NAME"), false
	}
	return nil, false
}

// foreignTmuxSessions are the names of the tmux sessions on the server that new
// sessions go to.
func (p *Paw) foreignTmuxSessions(ctx context.Context) (map[string]bool, error) {
	names := map[string]bool{}
	_, panes, err := p.tmuxFor(nil).Panes(ctx)
	if errors.Is(err, tmux.ErrNoServer) {
		return names, nil
	}
	if err != nil {
		return nil, tmuxError(err)
	}
	for _, pane := range panes {
		names[pane.SessionName] = true
	}
	return names, nil
}

// defaultName makes a session name out of a directory.
func defaultName(dir string) string {
	if name := session.NameFrom(filepath.Base(dir)); name != "" {
		return name
	}
	return "session"
}
