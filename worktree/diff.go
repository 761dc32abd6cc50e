package worktree

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"paw/config/disk"
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

// ended reports whether an error of io.ReadFull means the end of the file.
func ended(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }

// PathsToMain looks into each ignored folder of a worktree that the main checkout has, too, and
// returns the first file in it that holds the main checkout's path. PathsToMain reads only kinds of
// files in which tools write absolute paths: a copied one would lead back to the main checkout.
func (u *Setups) PathsToMain(ctx context.Context, path string) ([]string, error) {
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
