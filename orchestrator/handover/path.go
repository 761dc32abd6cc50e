package handover

import (
	"cmp"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"paw/config/disk"
)

// Relocation translates paths of one worktree to another. The zero value changes nothing.
type Relocation struct {
	to    string
	pairs [][2]string // old and new paths, the longest first
	count int         // number of translated paths
}

// Relocate returns the Relocation from one worktree to another. A conversation may contain a path
// as recorded, with symlinks resolved, or relative to the home directory (home may be ""), and each
// of these also in JSON, in a shell command or in a URL. Relative paths are the same in both
// worktrees.
func Relocate(from, to, home string) *Relocation {
	r := &Relocation{to: to}
	if from == "" || to == "" {
		return r
	}
	r.add(from, to)
	r.add(resolved(from), to)
	for _, at := range []string{home, resolved(home)} {
		for _, path := range []string{from, resolved(from)} {
			tail, below := strings.CutPrefix(path, strings.TrimSuffix(at, "/")+"/")
			if at == "" || !below {
				continue
			}
			newTail, newBelow := strings.CutPrefix(to, strings.TrimSuffix(at, "/")+"/")
			for _, word := range []string{"~", "$HOME"} {
				place := to
				if newBelow {
					place = word + "/" + newTail
				}
				r.add(word+"/"+tail, place)
			}
		}
	}
	slices.SortStableFunc(r.pairs, func(a, b [2]string) int { return cmp.Compare(len(b[0]), len(a[0])) })
	return r
}

// add adds a pair of paths in every notation.
func (r *Relocation) add(from, to string) {
	for _, written := range []func(string) string{
		func(path string) string { return path },
		inJSON,
		inShell,
		func(path string) string { return inJSON(inShell(path)) },
		func(path string) string { return (&url.URL{Path: path}).EscapedPath() },
	} {
		pair := [2]string{written(from), written(to)}
		if !slices.ContainsFunc(r.pairs, func(p [2]string) bool { return p[0] == pair[0] }) {
			r.pairs = append(r.pairs, pair)
		}
	}
}

func (r *Relocation) text(text string) string {
	var out strings.Builder
	kept := 0
	for i := 0; i < len(text); i++ {
		if c := text[i]; c != '/' && c != '~' && c != '$' {
			continue
		}
		for _, pair := range r.pairs {
			if strings.HasPrefix(text[i:], pair[0]) && pathBegins(text[:i]) && pathEnds(text[i+len(pair[0]):]) {
				out.WriteString(text[kept:i] + pair[1])
				kept = i + len(pair[0])
				i = kept - 1
				r.count++
				break
			}
		}
	}
	return out.String() + text[kept:]
}

// pathBegins reports whether an absolute path can begin after this text, so that it is not the end
// of a longer path.
func pathBegins(before string) bool {
	last, size := utf8.DecodeLastRuneInString(before)
	switch {
	case size == 0 || strings.HasSuffix(before, "://"):
		return true
	case strings.ContainsRune("ntr", last) && strings.HasSuffix(before[:len(before)-1], `\`): // an escaped line end in JSON
		return true
	}
	return !inName(last) && !strings.ContainsRune(`/.})\`, last)
}

// pathEnds reports whether a path can end, or continue with a slash, before this text, so that it
// is not the beginning of a longer name.
func pathEnds(after string) bool {
	if unescaped := strings.TrimLeft(after, `\`); len(unescaped) < len(after) {
		return unescaped == "" || strings.ContainsRune("ntr\"'`", rune(unescaped[0])) // but not an escaped space
	}
	if undotted := strings.TrimLeft(after, "."); len(undotted) < len(after) {
		next, size := utf8.DecodeRuneInString(undotted) // the end of a sentence, not part of a name
		return size == 0 || unicode.IsSpace(next) || strings.ContainsRune(`"'`+"`)]}>,;:\\", next)
	}
	next, size := utf8.DecodeRuneInString(after)
	return size == 0 || !inName(next) && !strings.ContainsRune("@#{[", next)
}

// inName reports whether a character next to a path belongs to a longer name.
func inName(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r) || strings.ContainsRune("_-+%~$*?", r)
}

// resolved resolves the symlinks of the part of a path that exists.
func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	parent := filepath.Dir(path)
	if path == "" || parent == path || parent == "." {
		return path
	}
	return filepath.Join(resolved(parent), filepath.Base(path))
}

// inJSON escapes a text as in a JSON string.
func inJSON(text string) string {
	out, err := disk.JSON(text, "")
	if err != nil {
		return text
	}
	return strings.TrimSuffix(strings.TrimPrefix(strings.TrimSuffix(string(out), "\n"), `"`), `"`)
}

// inShell escapes a path as in a shell command without quotes.
func inShell(path string) string {
	var out strings.Builder
	for _, r := range path {
		if strings.ContainsRune(" '\"\\$`&;|<>()*?[]{}!#", r) {
			out.WriteByte('\\')
		}
		out.WriteRune(r)
	}
	return out.String()
}
