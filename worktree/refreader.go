package worktree

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
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

// packedID looks a ref up in packed-refs, "" when it is not there. A line is
// "<id> <ref>", and no ref has a space in its name. Most readers want one ref
// among thousands of tags, and branches come before them.
func (r *refReader) packedID(ref string) string {
	if r.packed == nil {
		content, err := os.ReadFile(filepath.Join(r.commonDir, "packed-refs"))
		if err != nil || content == nil {
			content = []byte{}
		}
		r.packed = content
	}
	at := bytes.Index(r.packed, []byte(" "+ref+"\n"))
	if at < 0 {
		return ""
	}
	oid := r.packed[bytes.LastIndexByte(r.packed[:at], '\n')+1 : at]
	if !isOID(string(oid)) {
		return ""
	}
	return string(oid)
}

// isOID reports whether text is a whole object id that is not all zeros.
func isOID(text string) bool {
	if len(text) != 40 && len(text) != 64 {
		return false
	}
	return strings.Trim(text, "0123456789abcdef") == "" && strings.Trim(text, "0") != ""
}
