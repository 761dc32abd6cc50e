package worktree

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// sameAsMain reports whether a file, or link, is the same as the one in the main
// checkout, or a link to that.
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

// ended tells that a file was read to its end, and not that reading failed.
func ended(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }
