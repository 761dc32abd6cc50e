package tmux

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
)

// UnsafeError says that another user could have put the socket of a tmux server where it is, or its folder. A server that
// answers there would read the user's environment and type into the user's agents, so nothing connects to it.
type UnsafeError struct {
	Socket string
	Path   string // the folder or the socket that is not the user's alone
	Mine   bool   // Path belongs to the user, and its mode lets others in
	Named  bool   // the socket is one as for tmux -L
	what   string
}

func (e *UnsafeError) Error() string {
	return fmt.Sprintf("tmux socket %s: %s %s", e.Socket, e.Path, e.what)
}

// Reachable reports whether a server may be started or found at that socket, which is an absolute path: the folder is there, or
// tmux makes it, and no other user could have put the socket there.
func Reachable(socket string) bool {
	e := endpointAt(socket)
	if e.name == "" {
		if _, err := os.Stat(filepath.Dir(e.path)); err != nil {
			return false
		}
	}
	return e.check() == nil
}

const (
	othersDo    = 0o007 // what others may do at all
	othersWrite = 0o002
)

// check refuses a socket that another user could have put there. The folder of a name is the user's alone, as tmux itself wants
// it. Any other folder is the user's or root's, and others can change nothing in it; or, as in /tmp, nothing that is not theirs.
func (e endpoint) check() error {
	folder := filepath.Dir(e.path)
	if e.name != "" {
		info, err := os.Lstat(folder)
		return e.refuse(folder, info, err, othersDo, os.Getuid())
	}
	info, err := os.Stat(folder)
	forbidden := os.FileMode(othersWrite)
	if err == nil && info.Mode()&os.ModeSticky != 0 {
		forbidden = 0
	}
	if err := e.refuse(folder, info, err, forbidden, os.Getuid(), 0); err != nil {
		return err
	}
	if info, err := os.Lstat(e.path); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		if err := e.refuse(e.path, info, nil, 0, os.Getuid()); err != nil {
			return err
		}
	}
	info, err = os.Stat(e.path)
	return e.refuse(e.path, info, err, othersWrite, os.Getuid())
}

// refuse says why a folder or a socket is not safe: it belongs to none of the owners, or others may do something that is
// forbidden. What is not there is safe.
func (e endpoint) refuse(path string, info os.FileInfo, err error, forbidden os.FileMode, owners ...int) error {
	unsafe := &UnsafeError{Socket: e.path, Path: path, Named: e.name != ""}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("tmux socket %s: %w", e.path, err)
	case path != e.path && !info.IsDir():
		unsafe.what = "is not a folder"
	case !slices.Contains(owners, owner(info)):
		unsafe.what = fmt.Sprintf("belongs to user %d", owner(info))
	case info.Mode()&forbidden != 0:
		unsafe.Mine, unsafe.what = true, fmt.Sprintf("is open to other users (mode %04o)", info.Mode().Perm())
	default:
		return nil
	}
	return unsafe
}

// owner is the number of the user that a file belongs to, -1 when that is not known.
func owner(info os.FileInfo) int {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(stat.Uid)
	}
	return -1
}
