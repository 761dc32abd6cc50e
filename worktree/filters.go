package worktree

import (
	"errors"
	"slices"

	"paw/worktree/git"
)

// RefusingFilter returns the name of the filter (filter.NAME.required) because of which git has given up, "" where it is something
// else, and the checkout that git was in.
func RefusingFilter(err error) (name, checkout string) {
	var failed *git.Error
	if !errors.As(err, &failed) {
		return "", ""
	}
	return failed.RefusingFilter(), failed.Dir
}

// unasked runs git and, where a filter refuses a file which the user requires, once more without that requirement: git takes
// such a file as it is then. It is for what must come to an end, since a filter can refuse both what a move writes and what was
// there before it.
func unasked(run func(options []string) error) error {
	var options []string
	for {
		err := run(slices.Clone(options))
		name, _ := RefusingFilter(err)
		option := "filter." + name + ".required=false"
		if name == "" || slices.Contains(options, option) {
			return err
		}
		options = append(options, "-c", option)
	}
}
