package worktree

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"hash"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// imprint stands for everything that lies below a directory at one moment, its own
// name left out. It is another one when any file or folder in it was written,
// added, removed or renamed in between: no program can set the time of the last
// change of an inode. It looks at tens of thousands of files while somebody waits,
// so it asks the kernel for names and times and for nothing else.
func imprint(dir string) (of [sha256.Size]byte, err error) {
	w := imprinting{sum: sha256.New(), entries: make([]byte, 32<<10)}
	fd, err := openDir(unix.AT_FDCWD, dir)
	if err != nil {
		return of, &os.PathError{Op: "open", Path: dir, Err: err}
	}
	var top unix.Stat_t
	if err = unix.Fstat(fd, &top); err == nil {
		w.add("", int64(top.Mtim.Sec), int64(top.Mtim.Nsec)) // its rename is a change of its inode
	}
	if err := errors.Join(err, w.walk(fd, dir)); err != nil {
		return of, err
	}
	return [sha256.Size]byte(w.sum.Sum(nil)), nil
}

type imprinting struct {
	sum     hash.Hash
	entries []byte // room for what the kernel lists at once
	line    bytes.Buffer
}

// add takes in what is known of one name.
func (w *imprinting) add(name string, facts ...int64) {
	w.line.Reset()
	w.line.WriteString(name)
	w.line.WriteByte(0)
	for _, fact := range facts {
		w.line.Write(binary.LittleEndian.AppendUint64(w.line.AvailableBuffer(), uint64(fact)))
	}
	w.sum.Write(w.line.Bytes())
}

// walk takes in what is in an open directory, in the order of the names, and closes it. Behind the last name comes an
// empty one: no two trees give the same sequence.
func (w *imprinting) walk(fd int, path string) error {
	defer func() { _ = unix.Close(fd) }()
	names, err := w.names(fd)
	if err != nil {
		return &os.PathError{Op: "read", Path: path, Err: err}
	}
	slices.SortFunc(names, strings.Compare)
	for _, name := range names {
		var s unix.Stat_t
		if err := unix.Fstatat(fd, name, &s, unix.AT_SYMLINK_NOFOLLOW); err != nil {
			return &os.PathError{Op: "lstat", Path: filepath.Join(path, name), Err: err}
		}
		w.add(name, int64(s.Mode), s.Size, int64(s.Mtim.Sec), int64(s.Mtim.Nsec), int64(s.Ctim.Sec), int64(s.Ctim.Nsec))
		if s.Mode&unix.S_IFMT != unix.S_IFDIR {
			continue
		}
		inner, err := openDir(fd, name)
		if err != nil {
			return &os.PathError{Op: "open", Path: filepath.Join(path, name), Err: err}
		}
		if err := w.walk(inner, filepath.Join(path, name)); err != nil {
			return err
		}
	}
	w.add("")
	return nil
}

// names lists an open directory.
func (w *imprinting) names(fd int) (names []string, err error) {
	for {
		n, err := unix.ReadDirent(fd, w.entries)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil || n == 0:
			return names, err
		default:
			_, _, names = unix.ParseDirent(w.entries[:n], -1, names)
		}
	}
}

func openDir(at int, name string) (int, error) {
	for {
		fd, err := unix.Openat(at, name, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
		if !errors.Is(err, unix.EINTR) {
			return fd, err
		}
	}
}
