package worktree

import (
	"context"
	"errors"
	"strings"

	"paw/worktree/git"
)

// fatal is the exit code of a git that gave up, as opposed to one that went on
// after an error.
const fatal = 128

// addAll records every file. What git cannot read is left out and returned.
func (s *scratch) addAll(ctx context.Context) (notSaved []string, err error) {
	addErr := s.repo.Run(ctx, quietly("add", "--all", "--sparse", "--ignore-errors")...)
	if addErr == nil {
		return nil, nil
	}
	left, err := s.unrecorded(ctx, addErr)
	if err != nil {
		return nil, err
	}
	if git.ExitCode(addErr) == fatal { // nothing was recorded: find out who is to blame
		if err := s.addSome(ctx, left); err != nil {
			return nil, err
		}
		if left, err = s.unrecorded(ctx, addErr); err != nil {
			return nil, err
		}
	}
	return left, nil
}

// unrecorded lists what differs between the files and the scratch index.
func (s *scratch) unrecorded(ctx context.Context, cause error) ([]string, error) {
	if ctx.Err() != nil || git.ExitCode(cause) < 0 {
		return nil, cause
	}
	var names []string
	for _, list := range [][]string{
		{"ls-files", "--others", "--exclude-standard", "--directory", "--no-empty-directory", "-z"},
		{"diff-files", "--name-only", "-z"},
	} {
		out, err := s.repo.Output(ctx, quietly(list...)...)
		if err != nil {
			return nil, errors.Join(cause, err)
		}
		for _, name := range nulSeparated(out) {
			names = append(names, strings.TrimSuffix(name, "/"))
		}
	}
	return sorted(names), nil
}

// addSome records the paths one by one where it has to: a filter that must not
// fail and does makes git record none of the paths it was given.
func (s *scratch) addSome(ctx context.Context, names []string) error {
	if len(names) == 0 {
		return nil
	}
	_, err := s.repo.WithEnv("GIT_LITERAL_PATHSPECS=1").Input(ctx, []byte(strings.Join(names, "\x00")+"\x00"),
		quietly("add", "--all", "--sparse", "--ignore-errors", "--pathspec-from-file=-", "--pathspec-file-nul")...)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil || git.ExitCode(err) < 0:
		return err
	case git.ExitCode(err) != fatal || len(names) == 1:
		return nil
	}
	half := len(names) / 2
	return errors.Join(s.addSome(ctx, names[:half]), s.addSome(ctx, names[half:]))
}
