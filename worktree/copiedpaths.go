package worktree

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// PathsToMain names, for each ignored folder of the worktree at path that the main checkout has as well, the first file that holds
// the path of the main checkout: one of a kind in which tools write absolute paths, so that a copy leads back.
func (m Manager) PathsToMain(ctx context.Context, path string) ([]string, error) {
	if m.Repository.Path == "" {
		return nil, nil
	}
	names, err := ignoredNames(ctx, path)
	if err != nil {
		return nil, err
	}
	var found []string
	for _, name := range names {
		info, err := os.Lstat(filepath.Join(path, name))
		if err != nil || !info.IsDir() || !exists(filepath.Join(m.Repository.Path, name)) {
			continue
		}
		if file := firstWith(os.DirFS(filepath.Join(path, name)), m.Repository.Path); file != "" {
			found = append(found, filepath.Join(name, file))
		}
	}
	return found, nil
}

// holdsPaths reports whether a file is of a kind that holds absolute paths of the project: virtual environments of Python with what is
// installed there to be edited, and CMake's folders.
func holdsPaths(name string) bool {
	base := path.Base(name)
	return base == "pyvenv.cfg" || base == "direct_url.json" || base == "CMakeCache.txt" || strings.HasSuffix(base, ".pth") || base == "activate"
}

// largestWithPaths is how many bytes of a file are looked at.
const largestWithPaths = 256 << 10

// firstWith finds the first file of such a kind that has a path in it, "" for none.
func firstWith(folder fs.FS, main string) (found string) {
	left := mostLookedAt
	_ = fs.WalkDir(folder, ".", func(name string, d fs.DirEntry, err error) error {
		if left--; left == 0 {
			return fs.SkipAll
		}
		if err != nil || !d.Type().IsRegular() || !holdsPaths(name) {
			return nil //nolint:nilerr // what cannot be read says nothing
		}
		if content, err := fs.ReadFile(folder, name); err == nil && hasPath(content[:min(len(content), largestWithPaths)], main) {
			found = name
			return fs.SkipAll
		}
		return nil
	})
	return found
}

// hasPath reports whether a text has a path, or one below it.
func hasPath(content []byte, path string) bool {
	for rest := content; ; {
		at := bytes.Index(rest, []byte(path))
		if at < 0 {
			return false
		}
		if rest = rest[at+len(path):]; len(rest) == 0 || strings.IndexByte("/\n\r\"' ;:)", rest[0]) >= 0 {
			return true
		}
	}
}
