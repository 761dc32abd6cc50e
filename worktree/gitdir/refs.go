package gitdir

import (
	"bytes"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"paw/config/disk"
)

// Refs resolves refs from the files of the ref store, and reads packed-refs once.
type Refs struct {
	CommonDir string
	read      sync.Once
	packed    []byte // whole lines of packed-refs
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

// LeadsTo returns the ref that a symbolic ref names, "" for any other ref.
func (r *Refs) LeadsTo(ref string) string {
	target, symbolic := strings.CutPrefix(Line(filepath.Join(r.CommonDir, filepath.FromSlash(ref))), "ref:")
	if !symbolic {
		return ""
	}
	return strings.TrimSpace(target)
}

// packedID looks up a ref in packed-refs, "" for none.
func (r *Refs) packedID(ref string) string {
	r.read.Do(func() {
		content, _ := disk.ReadFile(filepath.Join(r.CommonDir, "packed-refs"))
		r.packed = content[:bytes.LastIndexByte(content, '\n')+1] // git ends each line, so the rest is cut off
	})
	oid, _, _ := bytes.Cut(lineOfRef(r.packed, ref), []byte(" "))
	if !IsOID(string(oid)) {
		return ""
	}
	return string(oid)
}

// lineOfRef returns the line "<id> <ref>" of a ref in a packed-refs file of whole lines; an empty
// line means that the file lacks the ref. The first line, a comment, says whether the refs are
// sorted; a line "^<id>" follows an annotated tag.
func lineOfRef(packed []byte, ref string) []byte {
	if header, _, _ := bytes.Cut(packed, []byte("\n")); !strings.Contains(string(header)+" ", " sorted ") {
		before, _, _ := bytes.Cut(packed, []byte(" "+ref+"\n"))
		return before[bytes.LastIndexByte(before, '\n')+1:]
	}
	for len(packed) > 0 {
		middle := bytes.LastIndexByte(packed[:len(packed)/2], '\n') + 1
		for middle > 0 && packed[middle] == '^' {
			middle = bytes.LastIndexByte(packed[:middle-1], '\n') + 1
		}
		line, rest, _ := bytes.Cut(packed[middle:], []byte("\n"))
		switch _, name, named := bytes.Cut(line, []byte(" ")); {
		case !named || line[0] == '#' || string(name) < ref:
			packed = rest
		case string(name) == ref:
			return line
		default:
			packed = packed[:middle]
		}
	}
	return nil
}

// IsOID reports whether text is a full object id, other than all zeros.
func IsOID(text string) bool {
	if len(text) != 40 && len(text) != 64 {
		return false
	}
	return strings.Trim(text, "0123456789abcdef") == "" && strings.Trim(text, "0") != ""
}

// ListRefs returns the refs that begin with one of the prefixes, with their ids, from the files
// of the ref store. ok is false for a ref store of another format, and for prefixes under which
// each worktree has refs of its own.
func ListRefs(commonDir string, prefixes []string) (found map[string]string, ok bool, err error) {
	var above []string
	for _, prefix := range prefixes {
		if !slices.ContainsFunc([]string{"refs/heads/", "refs/tags/", "refs/paw/"}, func(dir string) bool { return strings.HasPrefix(prefix, dir) }) {
			return nil, false, nil
		}
		above = append(above, path.Dir(prefix+"x"))
	}
	slices.Sort(above)
	return listed(commonDir, slices.Compact(above), func(name string) bool {
		return slices.ContainsFunc(prefixes, func(prefix string) bool {
			return strings.HasPrefix(name, prefix) || strings.HasSuffix(name, "/") && strings.HasPrefix(prefix, name)
		})
	})
}

// MatchRefs returns the refs that match a pattern in which * stands for one part of the name,
// read like ListRefs.
func MatchRefs(commonDir, pattern string) (found map[string]string, ok bool, err error) {
	before, _, _ := strings.Cut(pattern, "*")
	parts := strings.Split(pattern, "/")
	return listed(commonDir, []string{path.Dir(before + "x")}, func(name string) bool {
		name, folder := strings.CutSuffix(name, "/")
		n := strings.Count(name, "/") + 1
		if folder == (n >= len(parts)) || n > len(parts) {
			return false
		}
		matches, _ := path.Match(strings.Join(parts[:n], "/"), name)
		return matches
	})
}

// NamesIn returns the sorted names that begin with prefix and have no slash, of refs in dir
// ("refs/tags"), from the files of the ref store, without opening a file for each ref. ok is false
// for a ref store of another format, which `git for-each-ref` can read.
func NamesIn(commonDir, dir, prefix string) (names []string, ok bool, err error) {
	loose, packed, ok, err := refFiles(commonDir, []string{dir}, func(ref string) bool {
		name := strings.TrimPrefix(ref, dir+"/")
		return strings.HasPrefix(name, prefix) && !strings.Contains(name, "/")
	})
	for _, ref := range slices.AppendSeq(loose, maps.Keys(packed)) {
		names = append(names, path.Base(ref))
	}
	slices.Sort(names)
	return slices.Compact(names), ok, err
}

// listed returns the accepted refs with their ids; see refFiles.
func listed(commonDir string, above []string, accept func(name string) bool) (found map[string]string, ok bool, err error) {
	loose, found, ok, err := refFiles(commonDir, above, accept)
	if err != nil || !ok {
		return nil, false, err
	}
	refs := &Refs{CommonDir: commonDir}
	for _, ref := range loose {
		content, err := disk.ReadFile(filepath.Join(commonDir, filepath.FromSlash(ref)))
		if errors.Is(err, fs.ErrNotExist) {
			continue // the ref was just packed
		}
		oid := strings.TrimRight(string(content), "\r\n")
		if target, symbolic := strings.CutPrefix(oid, "ref:"); symbolic {
			oid = refs.Resolve(strings.TrimSpace(target))
		}
		if found[ref] = oid; !IsOID(oid) { // git ignores a broken ref, even if packed-refs has it
			delete(found, ref)
		}
	}
	return found, true, nil
}

// refFiles returns the names of loose refs and the packed refs with their ids, of those refs in the
// folders above, at any depth, that accept takes; names of folders end with a slash. ok is false for
// a ref store of another format.
func refFiles(commonDir string, above []string, accept func(name string) bool) (loose []string, packed map[string]string, ok bool, err error) {
	if cfg, err := ReadCore(commonDir); err != nil || !cfg.RefsInFiles() {
		return nil, nil, false, err
	}
	// Loose refs are listed before packed-refs is read, so as not to miss one that is just being
	// packed.
	for _, dir := range above {
		if loose, err = appendLoose(loose, commonDir, dir, accept); err != nil {
			return nil, nil, false, err
		}
	}
	content, err := disk.ReadFile(filepath.Join(commonDir, "packed-refs"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, false, err
	}
	packed = map[string]string{}
	for _, dir := range above {
		eachPackedRef(content, dir+"/", func(ref, oid string) {
			if accept(ref) && IsOID(oid) {
				packed[ref] = oid
			}
		})
	}
	return loose, packed, true, nil
}

// appendLoose appends the accepted refs that are files below dir.
func appendLoose(loose []string, commonDir, dir string, accept func(name string) bool) ([]string, error) {
	content, err := os.ReadDir(filepath.Join(commonDir, filepath.FromSlash(dir)))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return loose, nil
	}
	for _, item := range content {
		name := dir + "/" + item.Name()
		switch {
		case err != nil:
			return nil, err
		case !refName(item.Name()):
		case !item.IsDir() && accept(name):
			loose = append(loose, name)
		case item.IsDir() && accept(name+"/"):
			loose, err = appendLoose(loose, commonDir, name, accept)
		}
	}
	return loose, err
}

// refName reports whether git accepts a file or folder of that name as part of a ref.
func refName(name string) bool {
	return name[0] != '.' && !strings.HasSuffix(name, ".lock") && !strings.HasSuffix(name, ".") && !strings.ContainsAny(name, " ~^:?*[\\\x7f") &&
		!strings.Contains(name, "..") && !strings.Contains(name, "@{") && bytes.IndexFunc([]byte(name), func(r rune) bool { return r < ' ' }) < 0
}

// eachPackedRef calls f for each ref in a packed-refs file that begins with prefix. A line is "<id>
// <ref>"; ref names hold no space.
func eachPackedRef(packed []byte, prefix string, f func(ref, oid string)) {
	mark := []byte(" " + prefix)
	for at := bytes.Index(packed, mark); at >= 0; at = bytes.Index(packed, mark) {
		oid := packed[bytes.LastIndexByte(packed[:at], '\n')+1 : at]
		line, rest, whole := bytes.Cut(packed[at+1:], []byte("\n"))
		if !whole {
			return // git ends each line, so this one is cut off
		}
		f(string(line), string(oid))
		packed = rest
	}
}
