package gitdir

import (
	"bytes"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"paw/config/disk"
)

// RefChange is a change of a ref, as refs.Change describes it.
type RefChange struct{ Ref, To, From string }

// Refs resolves refs from the files of the ref store, and reads packed-refs once.
type Refs struct {
	CommonDir string
	read      sync.Once
	packed    []byte
	err       error
}

// Resolve returns the commit id of a full ref name, "" for none. Resolve reads the loose ref before
// packed-refs, so as not to miss a ref that is just being packed.
func (r *Refs) Resolve(ref string) string {
	for range 5 { // git allows five levels of symbolic refs
		value := Line(filepath.Join(r.CommonDir, filepath.FromSlash(ref)))
		target, symbolic := strings.CutPrefix(value, "ref:")
		if !symbolic {
			if IsOID(value) {
				return value
			}
			return r.packedID(ref)
		}
		ref = strings.TrimSpace(target)
	}
	return ""
}

// lines returns the whole lines of packed-refs; git ends each line, so what follows the last end is cut off.
func (r *Refs) lines() ([]byte, error) {
	r.read.Do(func() {
		content, err := disk.ReadFile(filepath.Join(r.CommonDir, "packed-refs"))
		if r.packed = content[:bytes.LastIndexByte(content, '\n')+1]; !errors.Is(err, fs.ErrNotExist) {
			r.err = err
		}
	})
	return r.packed, r.err
}

// packedID looks up a ref in packed-refs, "" for none.
func (r *Refs) packedID(ref string) (id string) {
	packed, _ := r.lines()
	eachPackedRef(packed, ref, func(name, oid string) bool {
		if name == ref && IsOID(oid) {
			id = oid
		}
		return name != ref
	})
	return id
}

// eachPackedRef calls f for the refs that begin with prefix in a packed-refs file of whole lines, until f
// returns false. The first line, a comment, says whether the refs are sorted; then the search begins at the
// first one that is not before prefix. A line is "<id> <ref>"; a line "^<id>" follows an annotated tag.
func eachPackedRef(packed []byte, prefix string, f func(ref, oid string) (more bool)) {
	header, _, _ := bytes.Cut(packed, []byte("\n"))
	sorted := strings.Contains(string(header)+" ", " sorted ")
	low, high := 0, len(packed)
	for sorted && low < high {
		start := low + bytes.LastIndexByte(packed[low:(low+high)/2], '\n') + 1
		for start > low && packed[start] == '^' {
			start = low + bytes.LastIndexByte(packed[low:start-1], '\n') + 1
		}
		line, _, _ := bytes.Cut(packed[start:], []byte("\n"))
		if _, ref, named := bytes.Cut(line, []byte(" ")); !named || line[0] == '#' || string(ref) < prefix {
			low = start + len(line) + 1
		} else {
			high = start
		}
	}
	for line := range bytes.Lines(packed[low:]) {
		oid, ref, _ := strings.Cut(string(line[:len(line)-1]), " ")
		if begins := strings.HasPrefix(ref, prefix); begins && !f(ref, oid) || sorted && !begins && line[0] != '#' && line[0] != '^' {
			return
		}
	}
}

// IsOID reports whether text is a full object id, other than all zeros.
func IsOID(text string) bool {
	if len(text) != 40 && len(text) != 64 {
		return false
	}
	return strings.Trim(text, "0123456789abcdef") == "" && strings.Trim(text, "0") != ""
}

// ListRefs returns the refs that begin with one of the prefixes, with their ids, from the files
// of the ref store; with namesOnly loose refs are not read, and have no ids. ok is false for a ref
// store of another format, and for prefixes under which each worktree has refs of its own.
func ListRefs(commonDir string, prefixes []string, namesOnly bool) (found map[string]string, ok bool, err error) {
	loose, ok, err := looseNames(commonDir, prefixes)
	if !ok || err != nil {
		return nil, false, err
	}
	found = map[string]string{}
	for _, ref := range loose {
		var content []byte
		if !namesOnly {
			if content, err = disk.ReadFile(filepath.Join(commonDir, filepath.FromSlash(ref))); errors.Is(err, fs.ErrNotExist) {
				continue // the ref was just packed
			}
		}
		found[ref] = strings.TrimRight(string(content), "\r\n")
	}
	packed, err := (&Refs{CommonDir: commonDir}).lines()
	for _, prefix := range prefixes {
		eachPackedRef(packed, prefix, func(ref, oid string) bool {
			if _, isLoose := found[ref]; !isLoose {
				found[ref] = oid
			}
			return true
		})
	}
	for ref, oid := range found {
		if target, symbolic := strings.CutPrefix(oid, "ref:"); symbolic {
			oid = (&Refs{CommonDir: commonDir}).Resolve(strings.TrimSpace(target))
		}
		if found[ref] = oid; !namesOnly && !IsOID(oid) { // git ignores a broken ref, even if packed-refs has it
			delete(found, ref)
		}
	}
	return found, err == nil, err
}

// looseNames returns the names of the refs that are files, for ListRefs. Loose refs are read before packed-refs
// is, so as not to miss one that is just being packed.
func looseNames(commonDir string, prefixes []string) (loose []string, ok bool, err error) {
	var above []string
	for _, prefix := range prefixes {
		if !slices.ContainsFunc([]string{"refs/heads/", "refs/tags/", "refs/remotes/", "refs/paw/"}, func(dir string) bool { return strings.HasPrefix(prefix, dir) }) {
			return nil, false, nil
		}
		above = append(above, path.Dir(prefix+"x"))
	}
	slices.Sort(above)
	accept := func(name string) bool {
		return slices.ContainsFunc(prefixes, func(prefix string) bool {
			return strings.HasPrefix(name, prefix) || strings.HasSuffix(name, "/") && strings.HasPrefix(prefix, name)
		})
	}
	if cfg, err := ReadCore(commonDir); err != nil || !cfg.RefsInFiles() {
		return nil, false, err
	}
	for _, dir := range slices.Compact(above) {
		err := filepath.WalkDir(filepath.Join(commonDir, filepath.FromSlash(dir)), func(at string, item fs.DirEntry, err error) error {
			name := filepath.ToSlash(strings.TrimPrefix(at, commonDir+string(filepath.Separator)))
			switch {
			case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
				return nil
			case err != nil || name == dir:
				return err
			case item.IsDir() && (!refName(item.Name()) || !accept(name+"/")):
				return fs.SkipDir
			case !item.IsDir() && refName(item.Name()) && accept(name):
				loose = append(loose, name)
			}
			return nil
		})
		if err != nil {
			return nil, false, err
		}
	}
	return loose, true, nil
}

// refName reports whether git accepts a file or folder of that name as part of a ref.
func refName(name string) bool {
	return name[0] != '.' && !strings.HasSuffix(name, ".lock") && !strings.HasSuffix(name, ".") && !strings.ContainsAny(name, " ~^:?*[\\\x7f") &&
		!strings.Contains(name, "..") && !strings.Contains(name, "@{") && bytes.IndexFunc([]byte(name), func(r rune) bool { return r < ' ' }) < 0
}
