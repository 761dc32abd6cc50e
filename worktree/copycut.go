package worktree

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"paw/config/disk"
)

// copyingMark is a file in the git directory of a worktree that is there while files are copied into it: a copying
// that was killed leaves it.
func copyingMark(admin string) string { return filepath.Join(admin, "paw-copying") }

// copyAgain is copyAll, and begins with what a copying that was killed, or interrupted, has left.
func (b *bringer) copyAgain(ctx context.Context, admin string, names []string) []Copied {
	mark := copyingMark(admin)
	if disk.Exists(mark) {
		b.dropCut(names)
	}
	if err := os.WriteFile(mark, nil, 0o666); err != nil {
		b.problem(".", "not copied: %v", err)
		return nil
	}
	all := b.copyAll(ctx, names)
	if ctx.Err() == nil {
		_ = os.Remove(mark)
	}
	return all
}

// dropCut removes the files that are the beginning of those they are copied from, or all of one without its time:
// copies get it last. Others are somebody's own.
func (b *bringer) dropCut(names []string) {
	for _, name := range names {
		_ = filepath.WalkDir(filepath.Join(b.from, name), func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return nil //nolint:nilerr // the copying reports it
			}
			if at, err := filepath.Rel(b.from, path); err == nil && b.cut(path, at) {
				_ = b.root.Remove(at)
			}
			return nil
		})
	}
}

// cut reports whether the file of a name in the worktree is such a beginning of a file.
func (b *bringer) cut(whole, name string) bool {
	from, err := os.Open(whole)
	if err != nil {
		return false
	}
	defer from.Close()
	info, err := b.root.Lstat(name)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	source, err := from.Stat()
	if err != nil || info.Size() > source.Size() || info.ModTime().Equal(source.ModTime()) {
		return false
	}
	to, err := b.root.Open(name)
	if err != nil {
		return errors.Is(err, fs.ErrPermission) && info.Size() == 0
	}
	defer to.Close()
	return begins(from, to)
}

// begins reports whether a file begins with the content of another one.
func begins(whole, beginning io.Reader) bool {
	one, other := make([]byte, 256<<10), make([]byte, 256<<10)
	for {
		n, err := io.ReadFull(beginning, one)
		if m, _ := io.ReadFull(whole, other[:n]); m < n || !bytes.Equal(one[:n], other[:n]) {
			return false
		}
		if err != nil {
			return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		}
	}
}
