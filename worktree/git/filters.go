package git

import (
	"errors"
	"slices"
)

// RefusingFilter returns the name of the required filter (filter.NAME.required) whose failure made
// git fail, "" for another error, and the checkout that git ran in.
func RefusingFilter(err error) (name, checkout string) {
	var failed *Error
	if !errors.As(err, &failed) {
		return "", ""
	}
	return failed.RefusingFilter(), failed.Dir
}

// Unasked runs git and, if a required filter fails, again without requiring it: git then takes the
// file unconverted. This is for commands that must complete, since a filter can refuse both the
// files that a move writes and the ones before it.
func Unasked(run func(options []string) error) error {
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
