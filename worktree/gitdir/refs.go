package gitdir

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

// Refs resolves refs from the files of the ref store.
type Refs struct {
	CommonDir string
	packed    []byte // content of packed-refs, nil until read
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
	if r.packed == nil {
		content, err := disk.Map(filepath.Join(r.CommonDir, "packed-refs"), r)
		if err != nil || content == nil {
			content = []byte{}
		}
		r.packed = content
	}
	oid := packedLine(r.packed, ref)
	if !IsOID(oid) {
		return ""
	}
	return oid
}

// packedLine returns the id of a ref in a packed-refs file. A line is "<id> <ref>"; an annotated
// tag is followed by a line "^<id>". The first line says whether the refs are sorted.
func packedLine(packed []byte, ref string) (oid string) {
	traits, rest, _ := bytes.Cut(packed, []byte("\n"))
	if !bytes.HasPrefix(traits, []byte("# pack-refs")) || !bytes.Contains(append(bytes.Clone(traits), ' '), []byte(" sorted ")) {
		at := bytes.Index(packed, []byte(" "+ref+"\n"))
		if at < 0 {
			return ""
		}
		return string(packed[bytes.LastIndexByte(packed[:at], '\n')+1 : at])
	}
	wanted := []byte(ref)
	for low, high := 0, len(rest); low < high; {
		begin := bytes.LastIndexByte(rest[:(low+high)/2], '\n') + 1
		if rest[begin] == '^' && begin > 0 {
			begin = bytes.LastIndexByte(rest[:begin-1], '\n') + 1
		}
		end := begin + bytes.IndexByte(rest[begin:], '\n')
		if end < begin {
			return "" // git ends each line, so this one is cut off
		}
		id, name, _ := bytes.Cut(rest[begin:end], []byte(" "))
		switch c := bytes.Compare(wanted, name); {
		case c == 0:
			return string(id)
		case c < 0:
			high = begin
		default:
			if low = end + 1; low < high && rest[low] == '^' {
				next := bytes.IndexByte(rest[low:], '\n')
				if next < 0 {
					return ""
				}
				low += next + 1
			}
		}
	}
	return ""
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
// each worktree has refs of its own. ListRefs reads loose refs before packed-refs, so as not to
// miss one that is just being packed.
func ListRefs(commonDir string, prefixes []string) (found map[string]string, ok bool, err error) {
	ok, err = RefsInFiles(commonDir)
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
			if oid := packedLine(packed, ref); found[ref] == "" && !broken[ref] && IsOID(oid) {
				found[ref] = oid
			}
		})
	}
	return found, true, nil
}

// MatchRefs returns the refs that match a pattern in which * stands for one part of the name,
// read like ListRefs.
func MatchRefs(commonDir, pattern string) (found map[string]string, ok bool, err error) {
	if ok, err = RefsInFiles(commonDir); err != nil || !ok {
		return nil, false, err
	}
	loose := looseRefs{commonDir: commonDir}
	if err := loose.match("", strings.Split(pattern, "/")); err != nil {
		return nil, false, err
	}
	found, broken := loose.read()
	packed, err := disk.ReadFile(filepath.Join(commonDir, "packed-refs"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, false, err
	}
	before, _, _ := strings.Cut(pattern, "*")
	eachPackedRef(packed, before, func(ref string) {
		if matches, _ := path.Match(pattern, ref); matches && found[ref] == "" && !broken[ref] {
			if oid := packedLine(packed, ref); IsOID(oid) {
				found[ref] = oid
			}
		}
	})
	return found, true, nil
}

// looseRefs lists refs that are files of their own.
type looseRefs struct {
	commonDir string
	prefixes  []string
	names     []string
	listed    map[string]bool // directories that list has read
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

// match adds the refs below dir, "" for the top, whose further name parts match names; "*" matches
// any part.
func (l *looseRefs) match(dir string, names []string) error {
	if names[0] != "*" && len(names) > 1 {
		return l.match(path.Join(dir, names[0]), names[1:])
	}
	content, err := os.ReadDir(filepath.Join(l.commonDir, filepath.FromSlash(dir)))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil
	}
	for _, item := range content {
		switch name := path.Join(dir, item.Name()); {
		case names[0] != "*" && names[0] != item.Name() || !refName(item.Name()) || item.IsDir() == (len(names) == 1):
		case item.IsDir():
			err = errors.Join(err, l.match(name, names[1:]))
		default:
			l.names = append(l.names, name)
		}
	}
	return err
}

// read returns the ids of the listed refs. broken are refs without a valid id, which git ignores,
// even if packed-refs has them.
func (l *looseRefs) read() (found map[string]string, broken map[string]bool) {
	refs := &Refs{CommonDir: l.commonDir}
	found, broken = map[string]string{}, map[string]bool{}
	for _, ref := range l.names {
		content, err := disk.ReadFile(filepath.Join(l.commonDir, filepath.FromSlash(ref)))
		if errors.Is(err, fs.ErrNotExist) {
			continue // the ref was just packed
		}
		oid := strings.TrimRight(string(content), "\r\n")
		if target, symbolic := strings.CutPrefix(oid, "ref:"); symbolic {
			oid = refs.Resolve(strings.TrimSpace(target))
		}
		if IsOID(oid) {
			found[ref] = oid
		} else {
			broken[ref] = true
		}
	}
	return found, broken
}

// refName reports whether git accepts a file or folder of that name as part of a ref.
func refName(name string) bool {
	return name[0] != '.' && !strings.HasSuffix(name, ".lock") && !strings.HasSuffix(name, ".") && !strings.ContainsAny(name, " ~^:?*[\\\x7f") &&
		!strings.Contains(name, "..") && !strings.Contains(name, "@{") && bytes.IndexFunc([]byte(name), func(r rune) bool { return r < ' ' }) < 0
}

// TagNames returns the sorted names of the tags that begin with prefix and have no slash, from the
// files of the ref store, without opening a file for each tag. ok is false for a ref store of
// another format, which `git for-each-ref` can read.
func TagNames(commonDir, prefix string) (names []string, ok bool, err error) {
	ok, err = RefsInFiles(commonDir)
	if err != nil || !ok {
		return nil, false, err
	}
	if err := EachRef(commonDir, "refs/tags/", prefix, func(name string) { names = append(names, name) }); err != nil {
		return nil, false, err
	}
	slices.Sort(names)
	return slices.Compact(names), true, nil
}

// Tags looks up single tags in the files of a ref store, without listing the others.
type Tags struct{ refs Refs }

// TagsOf returns the Tags of a repository; ok is false for a ref store of another format.
func TagsOf(commonDir string) (tags *Tags, ok bool, err error) {
	ok, err = RefsInFiles(commonDir)
	return &Tags{Refs{CommonDir: commonDir}}, ok, err
}

// ID returns the object that a tag points to, "" for no such tag.
func (t *Tags) ID(name string) string { return t.refs.Resolve("refs/tags/" + name) }

// RefsInFiles reports whether the ref store has the classic format of files.
func RefsInFiles(commonDir string) (bool, error) {
	format, err := Extension(commonDir, "refstorage")
	return format == "" || format == "files", err
}

// EachRef calls f, possibly twice, for each ref below dir ("refs/tags/") whose name begins
// with prefix. EachRef reads loose refs before packed-refs, so as not to miss one that is
// just being packed.
func EachRef(commonDir, dir, prefix string, f func(name string)) error {
	loose := looseRefs{commonDir: commonDir, prefixes: []string{dir + prefix}}
	if err := loose.list(strings.TrimSuffix(dir, "/")); err != nil {
		return err
	}
	packed, err := disk.ReadFile(filepath.Join(commonDir, "packed-refs"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	tell := func(ref string) {
		if name := ref[len(dir):]; !strings.Contains(name, "/") {
			f(name)
		}
	}
	for _, ref := range loose.names {
		tell(ref)
	}
	eachPackedRef(packed, dir+prefix, tell)
	return nil
}

// eachPackedRef calls f for each ref in a packed-refs file that begins with prefix. A line is "<id>
// <ref>"; ref names hold no space.
func eachPackedRef(packed []byte, prefix string, f func(ref string)) {
	mark := []byte(" " + prefix)
	for at := bytes.Index(packed, mark); at >= 0; at = bytes.Index(packed, mark) {
		line, rest, _ := bytes.Cut(packed[at+1:], []byte("\n"))
		f(string(line))
		packed = rest
	}
}
