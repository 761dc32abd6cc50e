package worktree

import (
	"context"
	"strings"
	"sync"

	"paw/worktree/git"
)

// Settings holds the user's settings for a repository, each with its values; the last one counts. Names of
// sections and keys are in lower case.
type Settings map[string][]string

// ReadSettings asks git for the settings of a repository.
func ReadSettings(ctx context.Context, repo git.Repo) (Settings, error) {
	out, err := repo.Output(ctx, "config", "--list", "-z")
	all := Settings{}
	for _, item := range git.NulSeparated(out) {
		name, value, valued := strings.Cut(item, "\n")
		if !valued {
			value = "true"
		}
		all[name] = append(all[name], value)
	}
	return all, err
}

// settings returns the settings of the repository, read once for all managers of a command.
func (m *Manager) settings(ctx context.Context) (Settings, error) {
	read := func() (Settings, error) { return ReadSettings(ctx, m.Objects().Home()) }
	if m.Settings == nil {
		return read()
	}
	return m.Settings(read)
}

// askingOnce returns m with settings that are read once at most.
func (m *Manager) askingOnce(ctx context.Context) *Manager {
	once := sync.OnceValues(func() (Settings, error) { return m.settings(ctx) })
	asking := *m
	asking.Settings = func(func() (Settings, error)) (Settings, error) { return once() }
	return &asking
}
