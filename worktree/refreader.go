package worktree

import (
	"bytes"
	"path/filepath"
	"strings"

	"paw/config/disk"
)

// refReader resolves refs from the files of the ref store, without git.
type refReader struct {
	commonDir string
	packed    []byte // nil until read
}

// resolve returns the commit id of a full ref name, "" when it has none here.
// Loose refs are looked at before packed-refs is read: the other order could
// miss one that is being packed.
func (r *refReader) resolve(ref string) string {
	for range 5 { // git allows five levels of symbolic refs
		value := readLine(filepath.Join(r.commonDir, filepath.FromSlash(ref)))
		target, symbolic := strings.CutPrefix(value, "ref:")
		if !symbolic {
			if isOID(value) {
				return value
			}
			return r.packedID(ref)
		}
		ref = strings.TrimSpace(target)
	}
	return ""
}

// packedID looks a ref up in packed-refs, "" when it is not there.
func (r *refReader) packedID(ref string) string {
	if r.packed == nil {
		content, err := disk.Map(filepath.Join(r.commonDir, "packed-refs"), r)
		if err != nil || content == nil {
			content = []byte{}
		}
		r.packed = content
	}
	oid := packedLine(r.packed, ref)
	if !isOID(oid) {
		return ""
	}
	return oid
}

// packedLine is the id that a packed-refs file has for a ref. A line is "<id> <ref>", and no ref has a space in its name;
// after that of an annotated tag comes one with "^<id>". Git says in the first line whether they are in order.
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
			return "" // git ends each line
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

// isOID reports whether text is a whole object id that is not all zeros.
func isOID(text string) bool {
	if len(text) != 40 && len(text) != 64 {
		return false
	}
	return strings.Trim(text, "0123456789abcdef") == "" && strings.Trim(text, "0") != ""
}
