package worktree

import (
	"io/fs"
	"os"
	"path/filepath"

	"paw/config/disk"
)

// leadsOut returns a symlink inside a folder that leaves the folder, "" for none: a relative one,
// as package managers make to a workspace's packages, or an absolute one into the main checkout.
// Read through a link to the folder, it would lead to files of the main checkout.
func leadsOut(main, folder string) string {
	folder = disk.Resolved(folder)
	leaves := func(at string) bool {
		target, err := os.Readlink(at)
		switch {
		case err != nil:
			return false
		case filepath.IsAbs(target):
			return leadsInto(target, main) && !leadsInto(target, folder)
		}
		return !leadsInto(filepath.Join(filepath.Dir(at), target), folder)
	}
	return firstLink(folder, leaves)
}

// mostLookedAt limits the entries of a folder that are searched.
const mostLookedAt = 20000

// firstLink returns a symlink below root for which fits is true, nearest first; "" for none.
func firstLink(root string, fits func(at string) bool) string {
	left := mostLookedAt
	for folders := []string{""}; len(folders) > 0 && left > 0; folders = folders[1:] {
		entries, _ := os.ReadDir(filepath.Join(root, folders[0])) // a file has no entries
		left -= len(entries)
		for _, e := range entries {
			name := filepath.Join(folders[0], e.Name())
			switch {
			case e.Type()&fs.ModeSymlink != 0 && fits(filepath.Join(root, name)):
				return name
			case e.IsDir():
				folders = append(folders, name)
			}
		}
	}
	return ""
}

// leadsInto reports whether a path is a folder or inside it, by its text or after resolving
// symlinks.
func leadsInto(path, folder string) bool {
	path = filepath.Clean(path)
	if path == folder || disk.Within(path, folder) {
		return true
	}
	path, folder = disk.Resolved(path), disk.Resolved(folder)
	return path == folder || disk.Within(path, folder)
}
