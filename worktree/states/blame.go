package states

import (
	"context"
	"strconv"
	"strings"
	"time"

	"paw/worktree/objects"
)

// Blame finds the commits that added the lines of a file: of an agent's work the twins, as far as grafts tell. s must
// keep nothing.
func (s *Store) Blame(ctx context.Context, o objects.BlameOptions) ([]objects.BlamedLine, error) {
	lines, err := s.objects.Blame(ctx, o)
	if err != nil {
		return nil, err
	}
	return lines, s.unpart(ctx, lines)
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
