package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"paw/session"
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
	if o.Name != "" {
		return o.Name, p.nameFree(o.Name, repository, foreign, true)
	}
	longest := 0
	for _, a := range agents {
		longest = max(longest, len(a.name))
	}
	stem := defaultName(repository.Path)
	if repository.Path == "" {
		stem = defaultName(strings.TrimSuffix(repository.CommonDir, ".git"))
	}
	if room := 64 - len("_999_") - longest; len(stem) > room && room > 0 {
		stem = stem[:room]
	}
	for n := 1; ; n++ {
		name := stem
		if n > 1 {
			name = fmt.Sprintf("%s_%d", stem, n)
		}
		err := p.nameFree(name, repository, foreign, n == 1)
		var taken *takenError
		if errors.As(err, &taken) && !taken.same {
			continue
		}
		return name, err
	}
}

// takenError says that a session name is in use, and whether by this repository.
type takenError struct {
	*Error
	same bool
}

func (e *takenError) Unwrap() error { return e.Error }

// nameFree refuses a name that a record or a tmux session has already.
func (p *Paw) nameFree(name string, repository worktree.Repository, foreign map[string]bool, strict bool) error {
	s, err := p.Store.Load(name)
	if err != nil {
		return &takenError{Error: failf(KindError, "session %s: the name is taken by a record that cannot be read: %w", name, err).hint("paw doctor")}
	}
	if s != nil {
		same := s.GitCommonDir == repository.CommonDir
		e := failf(KindUsage, "session %s: already exists for %s", name, s.RepoPath)
		if same {
			e.hint("paw attach %s", name).hint("paw recover %s", name).hint("paw add --cli CLI").hint("paw start --cli CLI --name NAME")
		} else {
			e.hint("paw start --cli CLI --name NAME")
		}
		return &takenError{Error: e, same: same && strict}
	}
	if foreign["paw-"+name] {
		return &takenError{Error: failf(KindUsage, "session %s: tmux has a session paw-%s that is not paw's", name, name).hint("paw start --cli CLI --name NAME")}
	}
	return nil
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
