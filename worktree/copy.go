package worktree

import (
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// stageOf returns the folder beside a worktree in which copies are made: only whole ones come into the worktree. A copying that
// was killed leaves it to the next one.
func stageOf(worktree string) string { return worktree + ".paw-copying" }

// dropStage takes that folder away. What is in it may be read-only, which the trash can delete.
func (b *bringer) dropStage(ctx context.Context) {
	if os.Remove(stageOf(b.to)) == nil {
		return
	}
	if moved, err := b.trash.Take(stageOf(b.to), "copying"); err == nil {
		b.trash.doom(ctx, moved)
	}
}

// copyAll copies files, and folders with their content. Symlinks stay symlinks.
func (b *bringer) copyAll(ctx context.Context, names []string) (copied []string) {
	for i, name := range names {
		names[i] = path.Clean(name)
	}
	c := &copying{bringer: b, ctx: ctx, stage: stageOf(b.to)}
	defer b.dropStage(ctx)
	b.dropStage(ctx)
	if err := os.Mkdir(c.stage, 0o700); err != nil {
		b.problem(".", "not copied: %v", err)
		return nil
	}
	whole := b.wholeFolders(ctx, names)
	var files []string
	for _, name := range names {
		if whole[name] {
			c.copyFolder(name)
		} else {
			files = append(files, b.filesIn(name)...)
		}
	}
	c.copyFiles(files)
	if ctx.Err() != nil {
		b.problem(".", "not all is copied: %v", ctx.Err())
	}
	return c.copied
}

// wholeFolders returns the folders among names that git ignores as a whole in the worktree; not
// those with a tracked file.
func (b *bringer) wholeFolders(ctx context.Context, names []string) map[string]bool {
	whole := map[string]bool{}
	var folders []string
	for _, name := range names {
		if info, err := os.Lstat(filepath.Join(b.from, name)); err == nil && info.IsDir() {
			folders = append(folders, name+"/")
		}
	}
	for name := range ignoredIn(ctx, b.to, folders) {
		whole[path.Clean(name)] = true
	}
	return whole
}

// filesIn returns name or, for a folder, the files below it.
func (b *bringer) filesIn(name string) []string {
	if _, err := os.Readlink(filepath.Join(b.from, name)); err == nil { // WalkDir would follow the link.
		return []string{name}
	}
	var files []string
	err := fs.WalkDir(os.DirFS(b.from), name, func(at string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			b.problem(at, "not copied: %v", err)
		case d.Type().IsRegular() || d.Type()&fs.ModeSymlink != 0:
			files = append(files, at)
		case !d.IsDir():
			b.problem(at, "not copied: neither a file nor a folder")
		}
		return nil
	})
	if err != nil {
		b.problem(name, "not copied: %v", err)
	}
	return files
}

// copying copies with cp, which shares blocks if the file system can.
type copying struct {
	*bringer
	ctx    context.Context
	stage  string
	copied []string
}

// copyFiles copies single files whose folders git does not ignore as a whole: first the .gitignore files that ignore
// themselves, as many programs put one with "*" into a folder that they make.
func (c *copying) copyFiles(files []string) {
	files = c.absent(files)
	rules := slices.DeleteFunc(slices.Clone(files), func(name string) bool { return path.Base(name) != ".gitignore" })
	c.copyIgnored(ignoredIn(c.ctx, c.from, rules), rules)
	ignored := ignoredIn(c.ctx, c.to, rules)
	for _, name := range rules {
		if !ignored[name] {
			_ = c.root.Remove(name)
		}
	}
	files = c.absent(files)
	ignored = ignoredIn(c.ctx, c.to, files)
	for _, name := range files {
		if !ignored[name] {
			c.problem(name, "not copied: git does not ignore it in the worktree")
		}
	}
	c.copyIgnored(ignored, files)
}

// copyIgnored copies those of the files that are ignored.
func (c *copying) copyIgnored(ignored map[string]bool, files []string) {
	var folders []string
	in := map[string][]string{}
	for _, name := range files {
		if folder := path.Dir(name); ignored[name] {
			if in[folder] == nil {
				folders = append(folders, folder)
			}
			in[folder] = append(in[folder], path.Base(name))
		}
	}
	for _, folder := range folders {
		c.copy(folder, in[folder])
	}
}

// copyFolder copies a folder; what exists is kept.
func (c *copying) copyFolder(name string) {
	info, err := c.root.Lstat(name)
	switch {
	case err != nil:
		c.copy(path.Dir(name), []string{path.Base(name)})
		return
	case !info.IsDir():
		return
	}
	entries, err := os.ReadDir(filepath.Join(c.from, name))
	if err != nil {
		c.problem(name, "not copied: %v", err)
	}
	var absent []string
	for _, e := range entries {
		if _, err := c.root.Lstat(path.Join(name, e.Name())); err != nil {
			absent = append(absent, e.Name())
		} else if e.IsDir() {
			c.copyFolder(path.Join(name, e.Name()))
		}
	}
	c.copy(name, absent)
}

// copiedAtOnce limits the names in one command line.
const copiedAtOnce = 500

// copy copies entries of a folder that the worktree does not have.
func (c *copying) copy(folder string, names []string) {
	if len(names) == 0 || c.ctx.Err() != nil {
		return
	}
	err := c.copyParents(folder + "/x")
	if err == nil {
		var in *os.Root
		if in, err = c.root.OpenRoot(folder); err == nil { // not a link that leads out
			in.Close()
		}
	}
	if err != nil {
		c.problem(path.Join(folder, names[0]), "not copied: %v", err)
		return
	}
	for some := range slices.Chunk(names, copiedAtOnce) {
		args := append(slices.Clone(copyFlags), "--")
		for _, name := range some {
			args = append(args, filepath.Join(c.from, folder, name))
		}
		cmd := exec.CommandContext(c.ctx, "cp", append(args, c.stage+"/")...)
		cmd.Env = append(os.Environ(), "LC_ALL=C")
		said, err := cmd.CombinedOutput()
		if c.ctx.Err() != nil {
			return
		}
		for line := range strings.Lines(string(said)) {
			c.problem(path.Join(folder, some[0]), "not copied: %s", strings.TrimSpace(line))
		}
		if err != nil && len(said) == 0 {
			c.problem(path.Join(folder, some[0]), "not copied: %v", err)
		}
		c.relink(folder)
		c.bringIn(folder, some)
	}
}

// relink makes copied links into the main checkout lead to the same place in the worktree.
func (c *copying) relink(folder string) {
	_ = filepath.WalkDir(c.stage, func(at string, d fs.DirEntry, err error) error {
		if err != nil || d.Type()&fs.ModeSymlink == 0 {
			return nil //nolint:nilerr // what cannot be read has no links to follow
		}
		inside, _ := filepath.Rel(c.stage, at)
		target, err := os.Readlink(at)
		if to := c.moved(target, filepath.Join(folder, inside)); err == nil && to != target && os.Remove(at) == nil {
			_ = os.Symlink(to, at)
		}
		return nil
	})
}

// bringIn moves copies from their stage into a folder of the worktree.
func (c *copying) bringIn(folder string, names []string) {
	for _, name := range names {
		staged := filepath.Join(c.stage, name)
		info, err := os.Lstat(staged)
		if _, there := c.root.Lstat(path.Join(folder, name)); err != nil || there == nil { // cp has said why, or somebody was faster
			continue
		}
		if info.IsDir() && info.Mode().Perm()&0o200 == 0 {
			_ = os.Chmod(staged, info.Mode().Perm()|0o700) // else it cannot be moved
		}
		if err := os.Rename(staged, filepath.Join(c.to, folder, name)); err != nil {
			c.problem(path.Join(folder, name), "not copied: %v", err)
			continue
		}
		c.copied = append(c.copied, path.Join(folder, name))
	}
}
