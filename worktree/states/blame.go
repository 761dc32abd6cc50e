package states

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"paw/worktree/objects"
)

// Landing is what blame has to know of a commit that stands for states.
type Landing struct {
	Twins  []string
	Before string // for the last of several commits that landed: what they began with; else ""
}

// Blame finds the commits that added the lines of a file: of an agent's work the twins. Of the landings
// in a branch, by commit, grafts need not name the states yet. s must keep nothing.
func (s *Store) Blame(ctx context.Context, o objects.BlameOptions, landings map[string]Landing) (lines []objects.BlamedLine, err error) {
	if o.Parents, err = s.parents(ctx, landings); err != nil {
		return nil, err
	}
	if lines, err = s.objects.Blame(ctx, o); err != nil {
		return nil, err
	}
	return lines, s.unpart(ctx, lines)
}

// parents returns the parents of landings for git blame, where grafts do not have them. git blame would give
// a file that the last of several commits does not change to the one before, and never ask for the state.
func (s *Store) parents(ctx context.Context, landings map[string]Landing) (map[string][]string, error) {
	grafts, err := s.refs.List(ctx, GraftBase)
	if err != nil {
		return nil, err
	}
	parents := map[string][]string{}
	for commit, one := range landings {
		twins := one.Twins
		if grafts[GraftBase+commit] == "" {
			if twins, err = s.before(ctx, twins, commit); err != nil {
				return nil, err
			}
		} else if one.Before == "" {
			continue
		}
		rest := []string{one.Before}
		if one.Before == "" {
			its, err := s.lines(ctx, s.objects, "--no-walk", commit, "--")
			if err != nil || len(its) == 0 {
				return nil, err
			}
			rest = its[0].parents
		}
		if len(twins) > 0 {
			parents[commit] = slices.Concat(twins, rest)
		}
	}
	return parents, nil
}

// before returns the twins that did not come from a commit.
func (s *Store) before(ctx context.Context, twins []string, commit string) (some []string, err error) {
	for _, twin := range twins {
		came, err := s.objects.Contains(ctx, twin, commit)
		if err != nil {
			return nil, err
		}
		if !came {
			some = append(some, twin)
		}
	}
	return some, nil
}

// PlainBlame is Blame of what the user sees: without states.
func (s *Store) PlainBlame(ctx context.Context, o objects.BlameOptions) ([]objects.BlamedLine, error) {
	return s.plain.Blame(ctx, o)
}

// unpart replaces commits that stand in for another one by that one.
func (s *Store) unpart(ctx context.Context, lines []objects.BlamedLine) error {
	known := map[string]objects.BlamedLine{}
	for i, line := range lines {
		name, part := strings.CutPrefix(line.Own, partOf)
		_, of, _ := strings.Cut(name, ofWhole)
		if !part {
			continue
		}
		if _, is := known[of]; !is {
			told, err := s.plain.Home().Line(ctx, "show", "-s", "--no-show-signature", "--format=%at %an", of, "--")
			if err != nil {
				return err
			}
			at, author, _ := strings.Cut(told, " ")
			seconds, _ := strconv.ParseInt(at, 10, 64)
			known[of] = objects.BlamedLine{Author: author, At: time.Unix(seconds, 0).UTC()}
		}
		lines[i].Commit, lines[i].Own, lines[i].Author, lines[i].At = of, "", known[of].Author, known[of].At
	}
	return nil
}
