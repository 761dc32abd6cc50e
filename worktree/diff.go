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

// sameContent reports whether two files of the same size have the same content.
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
	_, err = io.Copy(sameAs{second}, first)
	return err == nil
}

// sameAs fails at the first byte written that its reader does not have as the next one.
type sameAs struct{ io.Reader }

func (s sameAs) Write(written []byte) (int, error) {
	have := make([]byte, len(written))
	if _, err := io.ReadFull(s, have); err != nil || !bytes.Equal(have, written) {
		return 0, errors.New("another content")
	}
	return len(written), nil
}
