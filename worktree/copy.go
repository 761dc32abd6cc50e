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
	whole := b.wholeFolders(ctx, names)
	c := &copying{bringer: b, ctx: ctx}
	c.group.SetLimit(copyWorkers)
	var own []*copied
	var files []string
	for _, name := range names {
		if whole[name] {
			own = append(own, &copied{name: name})
			c.copyFolder(own[len(own)-1])
			continue
		}
		files = append(files, b.filesIn(name)...)
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

// copying copies many files with several workers.
type copying struct {
	*bringer
	ctx   context.Context
	group errgroup.Group
	alone atomic.Bool // set when the file system cannot share blocks
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
	own = c.copyIgnoreFiles(files)
	files = c.absent(files)
	ignored := ignoredIn(c.ctx, c.to, files)
	for _, name := range files {
		if !ignored[name] {
			c.problem(name, "not copied: git does not ignore it in the worktree")
		}
	}
	return append(own, c.copyIgnored(ignored, files)...)
}

// copyIgnoreFiles copies the .gitignore files that ignore themselves, as many programs put one with "*" into
// a folder that they make.
func (c *copying) copyIgnoreFiles(files []string) (own []*copied) {
	some := slices.DeleteFunc(slices.Clone(files), func(name string) bool { return path.Base(name) != ".gitignore" })
	own = c.copyIgnored(ignoredIn(c.ctx, c.from, some), some)
	ignored := ignoredIn(c.ctx, c.to, some)
	return slices.DeleteFunc(own, func(one *copied) bool {
		if !ignored[one.name] {
			c.told(one.name, c.root.Remove(one.name))
		}
		return !ignored[one.name]
	})
}

// copyIgnored copies those of the files that are ignored.
func (c *copying) copyIgnored(ignored map[string]bool, files []string) (own []*copied) {
	for _, name := range files {
		if c.ctx.Err() == nil && ignored[name] {
			own = append(own, &copied{name: name})
			c.told(name, c.copyFile(name, own[len(own)-1]))
		}
	}
	return own
}

func (c *copying) copyFile(name string, count *copied) error {
	if err := c.copyParents(name); err != nil {
		return err
	}
	at, err := c.pairOf(path.Dir(name))
	if err != nil {
		return err
	}
	defer at.close()
	info, err := at.from.Lstat(path.Base(name))
	if err != nil {
		return err
	}
	return at.copy(path.Base(name), !info.Mode().IsRegular(), count)
}

// copyFolder copies a folder; existing files are kept.
func (c *copying) copyFolder(count *copied) {
	if info, err := c.root.Lstat(count.name); err == nil && !info.IsDir() {
		return
	}
	if err := c.copyParents(count.name + "/x"); err != nil {
		c.told(count.name, err)
		return
	}
	c.do(func() { c.fillFolder(count.name, count) })
}

// do runs work on a worker, or at once if all are busy.
func (c *copying) do(work func()) {
	if !c.group.TryGo(func() error { work(); return nil }) {
		work()
	}
}

func (c *copying) told(name string, err error) {
	if err != nil && !errors.Is(err, fs.ErrExist) {
		c.problem(name, "not copied: %v", err)
	}
}

// pair is a folder that is open in both the main checkout and the worktree, so that names are
// looked up in one step.
type pair struct {
	*copying
	name     string
	from, to *os.Root
}

// pairOf opens a folder that exists on both sides.
func (c *copying) pairOf(name string) (*pair, error) {
	from, err := os.OpenRoot(filepath.Join(c.from, name))
	if err != nil {
		return nil, err
	}
	to, err := c.root.OpenRoot(name)
	if err != nil {
		from.Close()
		return nil, err
	}
	return &pair{copying: c, name: name, from: from, to: to}, nil
}

func (p *pair) close() {
	p.from.Close()
	p.to.Close()
}

// filesAtOnce is how many files of a folder one worker takes.
const filesAtOnce = 256

// fillFolder copies the content of a folder that exists on both sides.
func (c *copying) fillFolder(folder string, count *copied) {
	at, err := c.pairOf(folder)
	if err != nil {
		c.told(folder, err)
		return
	}
	defer at.close()
	entries, err := fs.ReadDir(at.from.FS(), ".")
	c.told(folder, err)
	var files []os.DirEntry
	for _, e := range entries {
		switch name := path.Join(folder, e.Name()); {
		case c.ctx.Err() != nil:
			return
		case e.IsDir():
			if err := at.makeFolder(e.Name()); err != nil && !errors.Is(err, fs.ErrExist) {
				c.told(name, err)
				continue
			}
			c.do(func() { c.fillFolder(name, count) })
		case !e.Type().IsRegular() && e.Type()&fs.ModeSymlink == 0:
			c.problem(name, "not copied: neither a file nor a folder")
		default:
			files = append(files, e)
		}
	}
	for len(files) > filesAtOnce {
		some := files[:filesAtOnce]
		files = files[filesAtOnce:]
		c.do(func() {
			if at, err := c.pairOf(folder); err != nil {
				c.told(folder, err)
			} else {
				at.copyAll(some, count)
				at.close()
			}
		})
	}
	at.copyAll(files, count)
}

// makeFolder makes a folder in the worktree with the mode it has in the main checkout.
func (p *pair) makeFolder(name string) error {
	info, err := p.from.Stat(name)
	if err != nil {
		return err
	}
	return p.to.Mkdir(name, info.Mode().Perm()|0o700) // writable until its files are copied
}

// copyAll copies some files and symlinks of the folder.
func (p *pair) copyAll(files []os.DirEntry, count *copied) {
	for _, e := range files {
		if p.ctx.Err() != nil {
			return
		}
		p.told(path.Join(p.name, e.Name()), p.copy(e.Name(), !e.Type().IsRegular(), count))
	}
}

// copy copies one file or symlink of the folder. copy never replaces one.
func (p *pair) copy(name string, link bool, count *copied) error {
	if link {
		target, err := p.from.Readlink(name)
		if err != nil {
			return err
		}
		return p.to.Symlink(p.moved(target, path.Join(p.name, name)), name)
	}
	from, err := p.from.Open(name)
	if err != nil {
		return err
	}
	defer from.Close()
	info, err := from.Stat()
	if err != nil {
		return err
	}
	return p.copyContent(from, name, info, count)
}
