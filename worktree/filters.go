package worktree

import (
	"context"
	"io"
	"strings"

	"paw/worktree/git"
	"paw/worktree/gitdir"
	"paw/worktree/objects"
)

// tryFilters has git convert the files that changes bring to a checkout, and throws them away. A required
// filter that fails then does so before the first file has moved: what is put back would be unconverted.
func tryFilters(ctx context.Context, at gitdir.Checkout, changes func() ([]objects.Change, error)) error {
	if !gitdir.InConfig(at.AdminDir, "required", "[include") { // filter.NAME.required
		return nil
	}
	all, err := changes()
	var input strings.Builder
	for _, c := range all {
		if !c.Gone && strings.HasPrefix(c.Mode, "100") {
			input.WriteString(c.ID + " " + c.Name + "\x00")
		}
	}
	if err != nil || input.Len() == 0 {
		return err
	}
	return git.In(at.Path).Stream(ctx, strings.NewReader(input.String()), io.Discard, git.Quietly("cat-file", "--filters", "--batch", "-z")...)
}
