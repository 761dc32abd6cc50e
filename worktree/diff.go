package worktree

import (
	"context"
	"io"
)

// Diff writes what changed between two commits as a patch that `git apply` takes
// and that gives exactly the other tree: with binary content, modes, links and
// renames. With stat it is the summary that `git diff --stat` prints. The user's
// settings for diffs, external programs and text conversions have no say. A
// patch in color is for the eye only.
func (m Manager) Diff(ctx context.Context, path, from, to string, stat, color bool, out io.Writer, paths ...string) error {
	if _, err := verified(path, m.Repository.CommonDir, ""); err != nil {
		return err
	}
	args := []string{
		"-c", "diff.suppressBlankEmpty=false", "diff-tree", "-r", "--find-renames", "--no-ext-diff", "--no-textconv",
		"--submodule=short", "--ignore-submodules=none", "-O/dev/null", "--no-relative", "--color=" + map[bool]string{true: "always", false: "never"}[color],
	}
	if stat {
		args = append(args, "--stat")
	} else {
		args = append(args, "--patch", "--binary", "--full-index", "--unified=3", "--inter-hunk-context=0",
			"--src-prefix=a/", "--dst-prefix=b/", "--ws-error-highlight=none")
	}
	return m.objects(in(path)).Stream(ctx, nil, out, append(append(args, "--end-of-options", from, to, "--"), paths...)...)
}
