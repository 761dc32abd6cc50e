package worktree

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"paw/config/disk"
)

// PathsToMain looks into each ignored folder of a worktree that the main checkout has, too, and
// returns the first file in it that holds the main checkout's path. PathsToMain reads only kinds of
// files in which tools write absolute paths: a copied one would lead back to the main checkout.
func (u Setups) PathsToMain(ctx context.Context, path string) ([]string, error) {
	if u.Repository.Path == "" {
		return nil, nil
	}
	names, err := ignoredNames(ctx, path)
	if err != nil {
		return nil, err
	}
	var found []string
	for _, name := range names {
		info, err := os.Lstat(filepath.Join(path, name))
		if err != nil || !info.IsDir() || !disk.Exists(filepath.Join(u.Repository.Path, name)) {
			continue
		}
		if file := firstWith(os.DirFS(filepath.Join(path, name)), u.Repository.Path); file != "" {
			found = append(found, filepath.Join(name, file))
		}
	}
	return found, nil
}

// holdsPaths reports whether tools write absolute paths into files of that name: Python's virtual
// environments, editable installs, and CMake's build folders.
func holdsPaths(name string) bool {
	base := path.Base(name)
	return base == "pyvenv.cfg" || base == "direct_url.json" || base == "CMakeCache.txt" || strings.HasSuffix(base, ".pth") || base == "activate"
}

// largestWithPaths limits how much of a file is searched, in bytes.
const largestWithPaths = 256 << 10

// firstWith returns the first such file with the path main in it, "" for none.
func firstWith(folder fs.FS, main string) (found string) {
	left := mostLookedAt
	_ = fs.WalkDir(folder, ".", func(name string, d fs.DirEntry, err error) error {
		if left--; left == 0 {
			return fs.SkipAll
		}
		if err != nil || !d.Type().IsRegular() || !holdsPaths(name) {
			return nil //nolint:nilerr // an unreadable file says nothing
		}
		if content, err := fs.ReadFile(folder, name); err == nil && hasPath(content[:min(len(content), largestWithPaths)], main) {
			found = name
			return fs.SkipAll
		}
		return nil
	})
	return found
}

// hasPath reports whether a text contains a path, or a longer path below.
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
