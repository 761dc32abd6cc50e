package worktree

import (
	"context"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"paw/config/disk"

	"golang.org/x/sys/unix"
)

// moved returns the target for a copied symlink: an absolute target inside the main checkout
// becomes relative, so that it leads to the same place in the worktree.
func (b *bringer) moved(target, name string) string {
	if !filepath.IsAbs(target) || !leadsInto(target, b.from) {
		return target
	}
	from, source := b.from, filepath.Join(b.from, name)
	if !disk.Within(filepath.Clean(target), from) { // The path was written through another symlink.
		from, target = disk.Resolved(from), disk.Resolved(target)
		source = filepath.Join(from, name)
	}
	return relativeTo(source, target)
}

// relativeTo returns the relative form of a symlink's target.
func relativeTo(link, target string) string {
	if relative, err := filepath.Rel(filepath.Dir(link), target); err == nil {
		return relative
	}
	return target
}

// copyParents makes the folders above name with the modes they have in the main checkout.
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
		mode = info.Mode().Perm() | 0o700 // writable until its files are copied
	}
	return b.root.MkdirAll(dir, mode)
}

// Space is the disk space that copies into new worktrees need, and that is free.
type Space struct {
	Copy int64  // bytes that the copies for one worktree take
	Free int64  // free bytes on the disk of the worktrees
	At   string // folder on that disk
}

// CopySpace returns the space that the copies into a worktree at path need: none if the file system
// can share blocks, which is tried only if this number of worktrees would leave fewer than leave
// bytes free.
func (u *Setups) CopySpace(ctx context.Context, path string, s Setup, worktrees int, leave int64) (Space, error) {
	names, err := u.included(ctx, s)
	if err != nil || u.Repository.Path == "" {
		return Space{}, err
	}
	b := &bringer{from: u.Repository.Path, to: path}
	size := Space{At: filepath.Dir(path)}
	for _, name := range append(b.matches(ctx, s.Copy), names...) {
		_ = filepath.WalkDir(filepath.Join(b.from, name), func(_ string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				if info, err := d.Info(); err == nil {
					size.Copy += info.Size()
				}
			}
			return nil
		})
	}
	for size.At != filepath.Dir(size.At) {
		if info, err := os.Stat(size.At); err == nil && info.IsDir() {
			break
		}
		size.At = filepath.Dir(size.At)
	}
	var disk unix.Statfs_t
	if err := unix.Statfs(size.At, &disk); err != nil {
		return size, &os.PathError{Op: "statfs", Path: size.At, Err: err}
	}
	size.Free = int64(disk.Bavail) * int64(disk.Bsize) //nolint:unconvert // the types differ between systems
	if size.Free-size.Copy*int64(worktrees) < leave && size.Copy > 0 && sharesBlocks(filepath.Join(u.Repository.CommonDir, "HEAD"), size.At) {
		size.Copy = 0
	}
	return size, nil
}
