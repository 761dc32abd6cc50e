package worktree

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// copyAll copies files, and folders with all that is in them. Links stay links.
func (b *bringer) copyAll(ctx context.Context, names []string) {
	var files []string
	for _, name := range names {
		files = append(files, b.filesIn(path.Clean(name))...)
	}
	files = b.absent(files)
	ignored := b.ignoredIn(ctx, files)
	for _, name := range files {
		if ctx.Err() != nil {
			b.problem(name, "not copied: %v", ctx.Err())
			return
		}
		if !ignored[name] {
			b.problem(name, "not copied: git does not ignore it in the worktree")
			continue
		}
		if err := b.copyOne(name); err != nil && !errors.Is(err, fs.ErrExist) {
			b.problem(name, "not copied: %v", err)
		}
	}
}

// filesIn lists name, or the files below it when it is a folder.
func (b *bringer) filesIn(name string) []string {
	if _, err := os.Readlink(filepath.Join(b.from, name)); err == nil { // WalkDir would go on behind it
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

func (b *bringer) copyOne(name string) error {
	if err := b.copyParents(name); err != nil {
		return err
	}
	source := filepath.Join(b.from, name)
	info, err := os.Lstat(source)
	if err != nil {
		return err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		target, err := os.Readlink(source)
		if err != nil {
			return err
		}
		return b.root.Symlink(b.moved(target, name), name)
	}
	return b.copyFile(source, name, info)
}

// moved is the target of a copied link: an absolute one into the main checkout leads to the same place in the worktree.
func (b *bringer) moved(target, name string) string {
	if !filepath.IsAbs(target) || !leadsInto(target, b.from) {
		return target
	}
	from, source := b.from, filepath.Join(b.from, name)
	if !within(filepath.Clean(target), from) { // written through another link
		from, target = resolved(from), resolved(target)
		source = filepath.Join(from, name)
	}
	return relativeTo(source, target)
}

// relativeTo is the target of the link at a path as a relative one.
func relativeTo(link, target string) string {
	if relative, err := filepath.Rel(filepath.Dir(link), target); err == nil {
		return relative
	}
	return target
}

// copyParents makes the folders above name with the modes they have in the main
// checkout.
func (b *bringer) copyParents(name string) error {
	dir := path.Dir(name)
	if dir == "." {
		return nil
	}
	if _, err := b.root.Lstat(dir); err == nil {
		return nil
	}
	if err := b.copyParents(dir); err != nil {
		return err
	}
	mode := fs.FileMode(0o777)
	if info, err := os.Stat(filepath.Join(b.from, dir)); err == nil {
		mode = info.Mode().Perm() | 0o700 // files still have to go in
	}
	return b.root.MkdirAll(dir, mode)
}

// copyFile refuses to replace a file, keeps the mode, shares blocks where the file
// system can, and takes a file that was copied only in part away again.
func (b *bringer) copyFile(source, name string, info fs.FileInfo) (err error) {
	from, err := os.Open(source)
	if err != nil {
		return err
	}
	defer from.Close()
	if clone(from, b.root, name) {
		return nil
	}
	to, err := b.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm())
	if err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, to.Close())
		if err != nil {
			err = errors.Join(err, b.root.Remove(name))
			return
		}
		// Build tools compare times; a copy that keeps its own is as good as the original.
		_ = b.root.Chtimes(name, info.ModTime(), info.ModTime())
	}()
	if _, err := io.Copy(to, from); err != nil {
		return err
	}
	return to.Chmod(info.Mode().Perm())
}
