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

// Copied is the result of one name in worktree.copy.
type Copied struct {
	Path   string
	Bytes  int64 // bytes written for the name, 0 if all blocks are shared
	Shared bool  // some files share their blocks with the main checkout's
}

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
func (b *bringer) copyAll(ctx context.Context, names []string) (all []Copied) {
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
			c.begin(name)
			c.copyFolder(name)
		} else {
			files = append(files, b.filesIn(name)...)
		}
	}
	c.copyFiles(files)
	if ctx.Err() != nil {
		b.problem(".", "not all is copied: %v", ctx.Err())
	}
	return slices.DeleteFunc(c.all, func(one Copied) bool { return one.Bytes == 0 && !one.Shared })
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
	all    []Copied
	shares *bool // whether copies share blocks, nil if not known
}

// begin counts what comes under a name.
func (c *copying) begin(name string) { c.all = append(c.all, Copied{Path: name}) }

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
		c.copy(folder, in[folder], c.begin)
	}
}

// copyFolder copies a folder; what exists is kept.
func (c *copying) copyFolder(name string) {
	info, err := c.root.Lstat(name)
	switch {
	case err != nil:
		c.copy(path.Dir(name), []string{path.Base(name)}, nil)
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
	c.copy(name, absent, nil)
}

// copiedAtOnce limits the names in one command line.
const copiedAtOnce = 500

// copy copies entries of a folder that the worktree does not have. each, unless nil, is called with each of their names before it
// is counted.
func (c *copying) copy(folder string, names []string, each func(name string)) {
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
		var said strings.Builder
		cmd.Stderr = &said
		if err := cmd.Start(); err != nil {
			c.problem(path.Join(folder, some[0]), "not copied: %v", err)
			return
		}
		var links []string
		for _, name := range some {
			if each != nil {
				each(path.Join(folder, name))
			}
			links = append(links, c.count(path.Join(folder, name))...)
		}
		if cmd.Wait() != nil && c.ctx.Err() == nil {
			for line := range strings.Lines(said.String()) {
				c.problem(path.Join(folder, some[0]), "not copied: %s", strings.TrimSpace(line))
			}
		}
		if c.ctx.Err() != nil {
			return
		}
		for _, link := range links {
			staged := filepath.Join(c.stage, strings.TrimPrefix(link, strings.TrimPrefix(folder+"/", "./")))
			if target, err := os.Readlink(staged); err == nil && c.moved(target, link) != target && os.Remove(staged) == nil {
				_ = os.Symlink(c.moved(target, link), staged)
			}
		}
		c.bringIn(folder, some)
	}
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
		}
	}
}

// count counts the bytes of what is copied, and returns the symlinks: those into the main checkout are to lead to the same place
// in the worktree.
func (c *copying) count(name string) (links []string) {
	one := &c.all[len(c.all)-1]
	_ = filepath.WalkDir(filepath.Join(c.from, name), func(at string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil //nolint:nilerr // cp says so
		}
		if d.Type()&fs.ModeSymlink != 0 {
			inside, err := filepath.Rel(c.from, at)
			links = append(links, inside)
			return err
		}
		if c.shares == nil {
			shares := sharesBlocks(at, filepath.Dir(c.to))
			c.shares = &shares
		}
		if one.Shared = *c.shares; !one.Shared {
			if info, err := d.Info(); err == nil {
				one.Bytes += info.Size()
			}
		}
		return nil
	})
	return links
}
