package worktree

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sync/atomic"
	"syscall"

	"golang.org/x/sync/errgroup"
)

// Copied is the result of one name in worktree.copy.
type Copied struct {
	Path   string
	Bytes  int64 // bytes written for the name, 0 if all blocks are shared
	Shared bool  // some files share their blocks with the main checkout's
}

// copyWorkers is the number of files copied at the same time.
const copyWorkers = 4

// copyAll copies files, and folders with their content. Symlinks stay symlinks.
func (b *bringer) copyAll(ctx context.Context, names []string) (all []Copied) {
	for i, name := range names {
		names[i] = path.Clean(name)
	}
	source, err := os.OpenRoot(b.from)
	if err != nil {
		b.problem(".", "nothing is copied: %v", err)
		return nil
	}
	defer source.Close()
	whole := b.wholeFolders(ctx, names)
	c := &copying{bringer: b, ctx: ctx, source: source}
	c.group.SetLimit(copyWorkers)
	var own []*copied
	var files []string
	for _, name := range names {
		if whole[name] {
			own = append(own, &copied{name: name})
			c.copyFolder(own[len(own)-1])
			continue
		}
		files = append(files, c.filesIn(name, func(string) error { return nil })...)
	}
	own = append(own, c.copyFiles(files)...)
	_ = c.group.Wait() // Errors are reported for each file, as Problems.
	if ctx.Err() != nil {
		b.problem(".", "not all is copied: %v", ctx.Err())
	}
	for _, one := range own {
		if bytes, shared := one.bytes.Load(), one.shared.Load(); shared || bytes > 0 {
			all = append(all, Copied{one.name, bytes, shared})
		}
	}
	return all
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
	for name := range b.ignoredIn(ctx, folders) {
		whole[path.Clean(name)] = true
	}
	return whole
}

// filesIn returns name or, for a folder, the files below it. enter is called for each folder; with
// its error the folder is left out.
func (c *copying) filesIn(name string, enter func(folder string) error) []string {
	if _, err := os.Readlink(filepath.Join(c.from, name)); err == nil { // WalkDir would follow the link.
		return []string{name}
	}
	var files []string
	err := fs.WalkDir(os.DirFS(c.from), name, func(at string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			err = enter(at)
		}
		switch {
		case c.ctx.Err() != nil:
			return fs.SkipAll
		case err != nil && d != nil && d.IsDir():
			c.told(at, err)
			return fs.SkipDir
		case err != nil:
			c.told(at, err)
		case d.Type().IsRegular() || d.Type()&fs.ModeSymlink != 0:
			files = append(files, at)
		case !d.IsDir():
			c.problem(at, "not copied: neither a file nor a folder")
		}
		return nil
	})
	c.told(name, err)
	return files
}

// copying copies many files with several workers.
type copying struct {
	*bringer
	ctx    context.Context
	source *os.Root // the main checkout
	group  errgroup.Group
	alone  atomic.Bool // set when the file system cannot share blocks
}

// copied counts what one name brings.
type copied struct {
	name   string
	bytes  atomic.Int64
	shared atomic.Bool
}

// copyFiles copies single files whose folders git does not ignore as a whole.
func (c *copying) copyFiles(files []string) (own []*copied) {
	files = c.absent(files)
	ignored := c.ignoredIn(c.ctx, files)
	for _, name := range files {
		if c.ctx.Err() != nil {
			return own
		}
		if !ignored[name] {
			c.problem(name, "not copied: git does not ignore it in the worktree")
			continue
		}
		own = append(own, &copied{name: name})
		err := c.copyParents(name)
		if err == nil {
			err = c.copy(name, own[len(own)-1])
		}
		c.told(name, err)
	}
	return own
}

// filesAtOnce is how many files of a folder one worker takes.
const filesAtOnce = 256

// copyFolder copies a folder; existing files are kept.
func (c *copying) copyFolder(count *copied) {
	if info, err := c.root.Lstat(count.name); err == nil && !info.IsDir() {
		return
	}
	files := c.filesIn(count.name, func(folder string) error {
		if err := c.copyParents(folder + "/x"); err != nil {
			return err
		}
		info, err := c.root.Stat(folder)
		if err == nil && !info.IsDir() {
			err = &os.PathError{Op: "copy", Path: folder, Err: syscall.ENOTDIR}
		}
		return err
	})
	for some := range slices.Chunk(files, filesAtOnce) {
		c.group.Go(func() error { c.copyEach(some, count); return nil })
	}
}

// copyEach copies files and symlinks. copyEach never replaces one.
func (c *copying) copyEach(names []string, count *copied) {
	for _, name := range names {
		if c.ctx.Err() != nil {
			return
		}
		c.told(name, c.copy(name, count))
	}
}

func (c *copying) told(name string, err error) {
	if err != nil && !errors.Is(err, fs.ErrExist) {
		c.problem(name, "not copied: %v", err)
	}
}

func (c *copying) copy(name string, count *copied) error {
	if target, err := os.Readlink(filepath.Join(c.from, name)); err == nil {
		return c.root.Symlink(c.moved(target, name), name)
	}
	from, err := c.source.Open(name)
	if err != nil {
		return err
	}
	defer from.Close()
	info, err := from.Stat()
	if err != nil {
		return err
	}
	return c.copyContent(from, name, info, count)
}
