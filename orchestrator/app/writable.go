package app

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Unwritable returns the first of some folders that this process can neither write nor make, and why; "" where it can do
// so with all of them. It makes none.
func Unwritable(folders ...string) (folder string, cause error) {
	for _, folder := range folders {
		there := folder
		info, err := os.Stat(there)
		for ; errors.Is(err, fs.ErrNotExist) && there != filepath.Dir(there); info, err = os.Stat(there) {
			there = filepath.Dir(there)
		}
		switch {
		case err != nil:
		case !info.IsDir():
			err = unix.ENOTDIR
		default:
			err = unix.Access(there, unix.W_OK|unix.X_OK)
		}
		if err != nil {
			return folder, err
		}
	}
	return "", nil
}
