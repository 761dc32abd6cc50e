package worktree

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Link is an ignored symbolic link of a worktree that leads into the main checkout.
type Link struct {
	Name   string // relative to the worktree
	Target string // in the main checkout
	Out    string // a link in the target's folder that leads out of that folder again, relative to it; "" for none
}

// LinksToMain lists the links that bring files of the main checkout into the worktree at path.
func (m Manager) LinksToMain(ctx context.Context, path string) ([]Link, error) {
	if m.Repository.Path == "" {
		return nil, nil
	}
	names, err := ignoredNames(ctx, path)
	if err != nil {
		return nil, err
	}
	var links []Link
	for _, name := range names {
		target, err := os.Readlink(filepath.Join(path, name))
		if err == nil && filepath.IsAbs(target) && leadsInto(target, m.Repository.Path) {
			links = append(links, Link{name, target, leadsOut(m.Repository.Path, target)})
		}
	}
	return links, nil
}

// leadsOut finds, among the entries of a folder and of its subfolders, a symbolic link that leaves the folder: a relative one,
// as package managers make them to the packages of a workspace, or an absolute one into the main checkout. Whoever reads such
// a link through a link to the folder reads files of the main checkout. It returns "" for none.
func leadsOut(main, folder string) string {
	folder = resolved(folder)
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
	return firstLink(folder, "", 1, leaves)
}

// firstLink finds a symbolic link that fits in a folder below root, or in so many levels of its subfolders; "" for none.
func firstLink(root, folder string, levels int, fits func(at string) bool) string {
	entries, _ := os.ReadDir(filepath.Join(root, folder)) // a file has none
	for _, e := range entries {
		name := filepath.Join(folder, e.Name())
		switch {
		case e.Type()&fs.ModeSymlink != 0 && fits(filepath.Join(root, name)):
			return name
		case e.IsDir() && levels > 0:
			if found := firstLink(root, name, levels-1, fits); found != "" {
				return found
			}
		}
	}
	return ""
}

// leadsInto reports whether a path is a folder or lies in it, by its text or behind its links.
func leadsInto(path, folder string) bool {
	path = filepath.Clean(path)
	if path == folder || within(path, folder) {
		return true
	}
	path, folder = resolved(path), resolved(folder)
	return path == folder || within(path, folder)
}

// ignoredNames lists the ignored files of the checkout at path; a folder that is ignored as a whole stands for its content.
func ignoredNames(ctx context.Context, path string) ([]string, error) {
	out, err := in(path).Output(ctx, "ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z")
	if err != nil {
		return nil, err
	}
	names := []string{}
	for _, name := range nulSeparated(out) {
		names = append(names, strings.TrimSuffix(name, "/"))
	}
	return names, nil
}
