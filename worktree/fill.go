package worktree

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"paw/worktree/git"
)

// fill checks out the branch in a registered, empty worktree.
//
// `git checkout` is the form that runs filters and the post-checkout hook and
// refuses to overwrite a file that is there: `reset --hard` and `read-tree
// --reset` overwrite, `read-tree -m` runs no hook, and without
// --no-overwrite-ignore an ignored file would be replaced. Run again on a filled
// worktree it changes no file and runs the hook.
func (m Manager) fill(ctx context.Context, c *creation) error {
	if _, err := verified(c.plan.Path, m.Repository.CommonDir, c.plan.Branch); err != nil {
		return err
	}
	repo := in(c.plan.Path).WithFile(c.filling)
	err := repo.Run(ctx, "checkout", "--quiet", "--no-overwrite-ignore", "--no-recurse-submodules")
	if err != nil {
		if ctx.Err() != nil || !m.filledAnyway(ctx, c) {
			return err
		}
		c.made.Warning = hookWarning(err)
	}
	if err := os.WriteFile(unpreparedMark(c.admin), nil, 0o666); err != nil {
		return err
	}
	return os.WriteFile(filledMark(c.admin), nil, 0o666)
}

// filledAnyway tells a hook that failed, which git reports with the same exit
// code, from a checkout that failed: git writes the index after the last file
// and runs the hook after that.
func (m Manager) filledAnyway(ctx context.Context, c *creation) bool {
	if !exists(filepath.Join(c.admin, "index")) || exists(filepath.Join(c.admin, "index.lock")) {
		return false
	}
	missing, err := in(c.plan.Path).Output(ctx, "ls-files", "--deleted", "-z")
	return err == nil && missing == ""
}

func hookWarning(err error) string {
	var failed *git.Error
	if errors.As(err, &failed) {
		if said := strings.TrimSpace(failed.Stderr); said != "" {
			lines := strings.Split(said, "\n")
			return "post-checkout hook failed: " + strings.TrimSpace(lines[len(lines)-1])
		}
	}
	return "post-checkout hook failed: " + err.Error()
}
