package worktree

import (
	"context"
	"strings"
)

// Changed counts the files of the checkout at path that are not committed:
// changed, staged, in conflict or untracked.
func (m Manager) Changed(ctx context.Context, path string) (int, error) {
	if path != m.Repository.Path {
		if err := Verify(path, m.Repository.CommonDir, ""); err != nil {
			return 0, err
		}
	}
	out, err := in(path).Output(ctx, "-c", "diff.orderFile=/dev/null", "status", "--porcelain", "-z", "--no-renames")
	if err != nil {
		return 0, err
	}
	return strings.Count(out, "\x00"), nil
}
