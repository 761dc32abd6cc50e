package worktree

import (
	"os"
	"path/filepath"
	"strings"
)

// refReader resolves refs from the files of the ref store, without git.
type refReader struct {
	commonDir string
	packed    map[string]string // nil until read
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
			return r.readPacked()[ref]
		}
		ref = strings.TrimSpace(target)
	}
	return ""
}

func (r *refReader) readPacked() map[string]string {
	if r.packed != nil {
		return r.packed
	}
	r.packed = map[string]string{}
	content, err := os.ReadFile(filepath.Join(r.commonDir, "packed-refs"))
	if err != nil {
		return r.packed
	}
	for line := range strings.Lines(string(content)) {
		oid, ref, ok := strings.Cut(strings.TrimRight(line, "\n"), " ")
		if ok && isOID(oid) {
			r.packed[ref] = oid
		}
	}
	return r.packed
}

// isOID reports whether text is a whole object id that is not all zeros.
func isOID(text string) bool {
	if len(text) != 40 && len(text) != 64 {
		return false
	}
	return strings.Trim(text, "0123456789abcdef") == "" && strings.Trim(text, "0") != ""
}
