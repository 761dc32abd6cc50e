package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"
	"unicode"
	"unicode/utf8"

	"github.com/BurntSushi/toml"

	"paw/config/lazyregexp"
)

// Limits of a configuration file. A file comes with every repository, and the TOML library's memory
// grows with the number of keys times the length of the longest one: 20 GB for 64 KiB of dots, 400
// MiB for one long table name above many short keys.
const (
	largestFile = 64 << 10 // size of a file, in bytes
	deepest     = 16       // parts of a key plus brackets around the key; paw's own keys have four parts
	longestKey  = 256      // length of a key or table header in the file, in bytes
)

// document is a parsed configuration file.
type document struct {
	file   string
	text   string // content without a byte order mark
	meta   toml.MetaData
	root   toml.Primitive
	values map[string]any
}

// readDocument returns nil for a missing file. A file that is not regular is an error: a repository
// could contain a symlink to a pipe or a device, which would block the reader.
func readDocument(file string) (*document, error) {
	f, err := os.OpenFile(file, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: not a regular file", file)
	}
	content, err := io.ReadAll(io.LimitReader(f, largestFile+1))
	if err != nil {
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	if len(content) > largestFile {
		return nil, fmt.Errorf("%s: larger than %d KiB", file, largestFile>>10)
	}
	return parseDocument(file, string(content))
}

func parseDocument(file, text string) (d *document, err error) {
	d = &document{file: file, text: strings.TrimPrefix(text, "\ufeff")}
	if offset, excess := beyondBounds(d.text); excess != "" {
		return nil, &Error{File: file, Line: d.lineAt(offset), Message: excess}
	}
	defer func() {
		// The library panics on its own bugs; a file must not be able to end paw.
		if r := recover(); r != nil {
			d, err = nil, &Error{File: file, Line: 1, Message: "not understood as TOML"}
		}
	}()
	if d.meta, err = toml.Decode(text, &d.root); err == nil {
		err = d.meta.PrimitiveDecode(d.root, &d.values)
	}
	if err != nil {
		return nil, d.syntaxError(err)
	}
	return d, nil
}

// skipped matches a TOML string or comment, in which no character opens a key or a bracket.
var skipped = lazyregexp.New(`^(?s:"""(?:\\.|[^\\])*?"{3,5}|'''.*?'{3,5}|"(?:\\.|[^"\\])*"|'[^']*'|#[^\n]*)`)

// beyondBounds returns the offset at which a text exceeds the limits of a configuration file, and
// the limit exceeded, "" for none. Up to the first syntax error beyondBounds sees the same keys and
// brackets as the TOML library, which reads nothing after that error.
func beyondBounds(text string) (offset int, excess string) {
	type bracket struct {
		depth int
		table bool
	}
	around := []bracket{{table: true}} // brackets around the current position; the first entry is the document
	depth, key := 0, 0                 // key is where a key begins, -1 inside a value
	for i := 0; i < len(text); i++ {
		next := strings.IndexAny(text[i:], "\"'#.=[{]},\n")
		if next < 0 {
			break
		}
		i += next
		c, top := text[i], around[len(around)-1]
		if (c == '=' || c == ']') && key >= 0 && i-key > longestKey {
			return i, "a key that is longer than 128 bytes"
		}
		switch c {
		case '"', '\'', '#':
			piece := skipped().FindString(text[i:])
			if piece == "" { // The quote is not closed.
				return 0, ""
			}
			i += len(piece) - 1
		case '.':
			depth++
		case '=':
			key = -1
		case '[', '{':
			depth++
			around = append(around, bracket{depth, c == '{'})
		case ']', '}':
			around = around[:max(len(around)-1, 1)]
		}
		if depth > deepest {
			return i, "nested too deeply"
		}
		if c == ',' || c == '\n' {
			depth = top.depth
		}
		if c == '{' || (c == ',' || c == '\n') && top.table {
			key = i + 1
		} else if c == '}' {
			key = -1
		}
	}
	return 0, ""
}

// syntaxError turns an error of the TOML library into an Error with file and line.
func (d *document) syntaxError(err error) *Error {
	var parse toml.ParseError
	if !errors.As(err, &parse) {
		return &Error{File: d.file, Line: 1, Message: err.Error()}
	}
	lines := strings.Count(d.text, "\n") + 1
	return &Error{File: d.file, Line: min(max(parse.Position.Line, 1), lines), Message: sentence(parse.Message)}
}

// sentence changes a message so that it can follow a colon: no capital at the start, no full stop
// at the end, no control characters.
func sentence(message string) string {
	message = strings.TrimSuffix(strings.TrimSpace(message), ".")
	first, size := utf8.DecodeRuneInString(message)
	second, _ := utf8.DecodeRuneInString(message[size:])
	if unicode.IsUpper(first) && !unicode.IsUpper(second) {
		message = string(unicode.ToLower(first)) + message[size:]
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return unicode.ReplacementChar
		}
		return r
	}, message)
}

// fail sets the file and line of a mistake in a key.
func (d *document) fail(key toml.Key, e *Error) *Error {
	e.File, e.Line = d.file, d.line(key)
	return e
}

// line returns the line of a key or, when the TOML library does not keep that one, of the table
// around the key. The library tells a position only with the error of an [toml.Unmarshaler].
func (d *document) line(key toml.Key) int {
	at, line := d.root, 1
	for _, name := range key {
		var table map[string]toml.Primitive
		if err := d.meta.PrimitiveDecode(at, &table); err != nil {
			break
		}
		var found bool
		if at, found = table[name]; !found {
			break
		}
		if refused, ok := errors.AsType[toml.ParseError](d.meta.PrimitiveDecode(at, new(refusal))); ok && refused.Position.Line > 0 {
			line = d.lineAt(refused.Position.Start)
		}
	}
	return line
}

// refusal cannot be decoded into: it makes the TOML library report a position.
type refusal struct{}

// UnmarshalTOML always returns an error.
func (*refusal) UnmarshalTOML(any) error { return errors.New("refused") }

func (d *document) lineAt(offset int) int {
	return strings.Count(d.text[:min(offset, len(d.text))], "\n") + 1
}

// value returns the value at a path, nil for none.
func (d *document) value(path []string) any {
	var value any = d.values
	for _, name := range path {
		table, _ := value.(map[string]any)
		value = table[name]
	}
	return value
}

// Error describes a mistake in a configuration file or in a PAW_* variable.
type Error struct {
	File    string // path of the file, "" for a variable
	Line    int    // counted from 1; 0 for a variable, and for a file that cannot be read
	Key     string // the key, such as worktree.copy, or the variable; "" when the file is not TOML
	Nearest string // the nearest known name, "" for none
	Message string // what is wrong, starting with the key
	// Unknown says that the only mistakes are unknown keys; all other keys are loaded.
	Unknown bool
	// InRepository says that File is a repository's; then only that file's settings are left out.
	InRepository bool
}

// Error returns "file:line: message", or the message alone without a line.
func (e *Error) Error() string {
	if e.Line == 0 {
		return e.Message
	}
	return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Message)
}

// Hint returns a question that suggests the nearest known name; "" without one.
func (e *Error) Hint() string {
	if e.Nearest == "" {
		return ""
	}
	return fmt.Sprintf("did you mean %s?", e.Nearest)
}

// joinKey writes a key in TOML: dotted, with quotes around parts that need them. Quoting also
// escapes control characters.
func joinKey(parts []string) string {
	quoted := make([]string, len(parts))
	for i, part := range parts {
		quoted[i] = part
		if !isBare(part) {
			quoted[i] = strconv.Quote(part)
		}
	}
	return strings.Join(quoted, ".")
}

func isBare(part string) bool {
	for _, r := range part {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '_', r == '-':
		default:
			return false
		}
	}
	return part != ""
}

// Nearest returns the candidate with the smallest edit distance to name, the first of several; ""
// if in each more than a third of the letters differ, or as many as the shorter name has. A name with
// another number, as work_2 for work_1, is another name.
func Nearest(name string, candidates []string) string {
	best, bestDistance := "", -1
	for _, candidate := range candidates {
		if digits(name) != digits(candidate) {
			continue
		}
		d := distance(strings.ToLower(name), strings.ToLower(candidate))
		if d > max(1, max(len(name), len(candidate))/3) || d > 0 && d >= min(len(name), len(candidate)) {
			continue
		}
		if bestDistance < 0 || d < bestDistance {
			best, bestDistance = candidate, d
		}
	}
	return best
}

// digits returns the digits of a name, in their order.
func digits(name string) string {
	return strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, name)
}

// distance returns the edit distance from a to b: insertions, deletions, substitutions, and swaps
// of neighbours.
func distance(a, b string) int {
	var before []int // the row before previous, for swaps
	previous := make([]int, len(b)+1)
	for j := range previous {
		previous[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := previous[j-1]
			if a[i-1] != b[j-1] {
				change++
			}
			row[j] = min(change, previous[j]+1, row[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, previous = previous, row
	}
	return previous[len(b)]
}
