package worktree

import (
	"context"
	"strings"

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
