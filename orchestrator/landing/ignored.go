package landing

import (
	"context"
	"os"
	"path/filepath"
	"slices"
)

// withIgnored returns a tree that keeps files of the branch which only look deleted: the agent
// landed them without ever committing them, still has them in its worktree, and ignores them now.
func (c *composer) withIgnored(ctx context.Context, t target, tree string) (string, error) {
	near := c.sides.near
	if near == nil || c.session.Host != "" {
		return tree, nil
	}
	paths, err := c.m.Objects().DeletedPaths(ctx, t.tip, tree)
	if err != nil {
		return "", err
	}
	paths = slices.DeleteFunc(paths, func(path string) bool {
		_, err := os.Lstat(filepath.Join(c.agent.WorktreePath, filepath.FromSlash(path)))
		return err != nil
	})
	if len(paths) == 0 {
		return tree, nil
	}
	files, err := c.m.Objects().IgnoredFiles(ctx, c.agent.WorktreePath)
	if err != nil {
		return "", err
	}
	paths = slices.DeleteFunc(paths, func(path string) bool { return !files[path] }) // not a folder, nor behind a symlink
	if len(paths) == 0 {
		return tree, nil
	}
	head, err := c.m.Objects().SnapshotHead(ctx, near.State)
	if err != nil {
		return "", err
	}
	uncommitted, err := c.m.Objects().DeletedPaths(ctx, near.State, head)
	if err != nil {
		return "", err
	}
	var ignored []string
	for _, path := range paths {
		if !slices.Contains(uncommitted, path) {
			continue
		}
		touched, err := c.m.Objects().LastTouch(ctx, head, c.source.head, path)
		if err != nil {
			return "", err
		}
		if touched == nil {
			ignored = append(ignored, path)
		}
	}
	if len(ignored) == 0 {
		return tree, nil
	}
	c.home.Notef("%s: ignores %s now; %s keeps it", c.name(), few(ignored, namedPaths), t.branch)
	return c.m.Objects().TreeWith(ctx, tree, t.tip, ignored)
}
