package worktree

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"paw/worktree/git"
	"paw/worktree/gitdir"
)

// Changed counts the uncommitted files of the checkout at path: changed, staged, in conflict or
// untracked.
func (m *Manager) Changed(ctx context.Context, path string) (int, error) {
	if path != m.Repository.Path {
		if err := gitdir.Verify(path, m.Repository.CommonDir, ""); err != nil {
			return 0, err
		}
	}
	out, err := git.In(path).Output(ctx, "-c", "diff.orderFile=/dev/null", "status", "--porcelain", "-z", "--no-renames")
	if err != nil {
		return 0, err
	}
	return strings.Count(out, "\x00"), nil
}

// sameAsMain reports whether a file or symlink equals the one in the main checkout, or is a symlink
// to it.
func sameAsMain(here, main string) bool {
	info, err := os.Lstat(here)
	if err != nil {
		return false
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		target, err := os.Readlink(here)
		if err != nil {
			return false
		}
		other, err := os.Readlink(main)
		return target == main || err == nil && (other == target || filepath.IsAbs(other) && relativeTo(main, other) == target)
	}
	other, err := os.Lstat(main)
	if err != nil || !info.Mode().IsRegular() || !other.Mode().IsRegular() || info.Size() != other.Size() {
		return false
	}
	return sameContent(here, main)
}

func sameContent(a, b string) bool {
	first, err := os.Open(a)
	if err != nil {
		return false
	}
	defer first.Close()
	second, err := os.Open(b)
	if err != nil {
		return false
	}
	defer second.Close()
	var one, two [64 * 1024]byte
	for {
		n, errA := io.ReadFull(first, one[:])
		k, errB := io.ReadFull(second, two[:])
		if !bytes.Equal(one[:n], two[:k]) {
			return false
		}
		if errA != nil || errB != nil {
			return ended(errA) && ended(errB)
		}
	}
}

// ended reports whether an error of io.ReadFull means the end of the file.
func ended(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }
