package worktree

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"paw/config/disk"
)

// storedRefs returns the refs whose full names begin with one of the prefixes, with the ids they have, read from the files
// of the ref store without git. It is not ok for a ref store of another format, and for prefixes that worktrees have refs
// of their own under. Loose refs come before packed-refs is read: a ref that is being packed is in at least one of them
// then.
func storedRefs(commonDir string, prefixes []string) (found map[string]string, ok bool, err error) {
	ok, err = refsInFiles(commonDir)
	shared := func(prefix string) bool {
		return slices.ContainsFunc([]string{"refs/heads/", "refs/tags/", "refs/paw/"}, func(dir string) bool { return strings.HasPrefix(prefix, dir) })
	}
	if err != nil || !ok || slices.ContainsFunc(prefixes, func(prefix string) bool { return !shared(prefix) }) {
		return nil, false, err
	}
	loose := looseRefs{commonDir: commonDir, prefixes: prefixes}
	for _, prefix := range prefixes {
		if err := loose.list(path.Dir(prefix + "x")); err != nil {
			return nil, false, err
		}
	}
	found, broken := loose.read()
	packed, err := disk.ReadFile(filepath.Join(commonDir, "packed-refs"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, false, err
	}
	for _, prefix := range prefixes {
		eachPackedRef(packed, prefix, func(ref string) {
			if oid := packedLine(packed, ref); found[ref] == "" && !broken[ref] && isOID(oid) {
				found[ref] = oid
			}
		})
	}
	return found, true, nil
}

// looseRefs lists refs that are files of their own.
type looseRefs struct {
	commonDir string
	prefixes  []string
	names     []string
	listed    map[string]bool // directories
}

// list adds the refs below a directory ("refs/tags") that begin with one of the prefixes.
func (l *looseRefs) list(dir string) error {
	if l.listed[dir] {
		return nil
	}
	if l.listed == nil {
		l.listed = map[string]bool{}
	}
	l.listed[dir] = true
	content, err := os.ReadDir(filepath.Join(l.commonDir, filepath.FromSlash(dir)))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, item := range content {
		name := dir + "/" + item.Name()
		switch {
		case !refName(item.Name()):
		case item.IsDir():
			if slices.ContainsFunc(l.prefixes, func(prefix string) bool {
				return strings.HasPrefix(name+"/", prefix) || strings.HasPrefix(prefix, name+"/")
			}) {
				err = errors.Join(err, l.list(name))
			}
		case slices.ContainsFunc(l.prefixes, func(prefix string) bool { return strings.HasPrefix(name, prefix) }):
			l.names = append(l.names, name)
		}
	}
	return err
}

// read returns the ids of those that are there, and which are but say nothing: git passes these over, also where they were
// packed before.
func (l *looseRefs) read() (found map[string]string, broken map[string]bool) {
	refs := &refReader{commonDir: l.commonDir}
	found, broken = map[string]string{}, map[string]bool{}
	for _, ref := range l.names {
		content, err := disk.ReadFile(filepath.Join(l.commonDir, filepath.FromSlash(ref)))
		if errors.Is(err, fs.ErrNotExist) {
			continue // it was packed just now
		}
		oid := strings.TrimRight(string(content), "\r\n")
		if target, symbolic := strings.CutPrefix(oid, "ref:"); symbolic {
			oid = refs.resolve(strings.TrimSpace(target))
		}
		if isOID(oid) {
			found[ref] = oid
		} else {
			broken[ref] = true
		}
	}
	return found, broken
}

// refName reports whether git takes a file or folder of that name for a ref, or for a folder of some.
func refName(name string) bool {
	return name[0] != '.' && !strings.HasSuffix(name, ".lock") && !strings.HasSuffix(name, ".") && !strings.ContainsAny(name, " ~^:?*[\\\x7f") &&
		!strings.Contains(name, "..") && !strings.Contains(name, "@{") && bytes.IndexFunc([]byte(name), func(r rune) bool { return r < ' ' }) < 0
}
