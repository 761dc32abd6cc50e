package worktree

import (
	"io/fs"
	"os"
	"path/filepath"
)

// lookIntoFolder sorts out what lies in a folder that is ignored as a whole:
// repositories at any depth, and whether there is anything that the main checkout
// has not. name is relative to the worktree. Git does not look into such a folder.
func (i inspection) lookIntoFolder(name string) error {
	own := false
	err := filepath.WalkDir(filepath.Join(i.path, name), func(at string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(i.path, at)
		if err != nil {
			return err
		}
		switch {
		case d.IsDir() && (exists(filepath.Join(at, ".git")) || isGitDir(at)):
			i.dirt.Embedded = append(i.dirt.Embedded, relative)
			return fs.SkipDir
		case !d.IsDir():
			own = own || i.main == "" || !copiedFrom(filepath.Join(i.main, relative), at)
		}
		return nil
	})
	if own {
		i.dirt.Aside = append(i.dirt.Aside, name+"/")
	}
	return err
}

// copiedFrom reports whether a file is as one in the main checkout, time
// included: paw copies files with their times. It spares reading large folders
// that somebody has built anew.
func copiedFrom(main, here string) bool {
	info, err := os.Lstat(here)
	if err != nil {
		return false
	}
	other, err := os.Lstat(main)
	if info.Mode().IsRegular() && (err != nil || !info.ModTime().Equal(other.ModTime())) {
		return false
	}
	return sameAsMain(here, main)
}
