package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"
	"unicode"
	"unicode/utf8"

	"github.com/BurntSushi/toml"
)

// largestFile is far more than anyone writes by hand.
const largestFile = 64 << 10

// document is one configuration file, parsed but not yet understood.
type document struct {
	file   string
	text   string
	values map[string]any
	keys   []keyAt
}

// readDocument returns nil when there is no such file. It never waits: what is
// not a regular file is an error, since a repository could hold a link to a
// pipe or a device.
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

func parseDocument(file, text string) (doc *document, err error) {
	doc = &document{file: file, text: text}
	keys, tooDeep := scan(text)
	if tooDeep >= 0 {
		return nil, doc.fail(tooDeep, &Error{Message: "nested too deeply"})
	}
	doc.keys = keys
	defer func() {
		// The library reports its own mistakes by a panic; a file must not be
		// able to end paw with one.
		if r := recover(); r != nil {
			doc, err = nil, doc.fail(0, &Error{Message: "not understood as TOML"})
		}
	}()
	if _, err := toml.Decode(text, &doc.values); err != nil {
		return nil, doc.syntaxError(err)
	}
	return doc, nil
}

// syntaxError says in paw's own words and place what the library found.
func (d *document) syntaxError(err error) *Error {
	var parse toml.ParseError
	if !errors.As(err, &parse) {
		return d.fail(0, &Error{Message: err.Error()})
	}
	e := d.fail(parse.Position.Start, &Error{Message: sentence(parse.Message)})
	// The start can be anywhere inside a token; the line is what counts.
	lines := strings.Count(d.text, "\n") + 1
	if line := min(max(parse.Position.Line, 1), lines); line != e.Line {
		e.Line, e.Column = line, 1
	}
	return e
}

// sentence makes a message fit to stand behind a colon.
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

// fail gives an error its place.
func (d *document) fail(offset int, e *Error) *Error {
	before := d.text[:min(max(offset, 0), len(d.text))]
	start := strings.LastIndexByte(before, '\n') + 1
	e.File = d.file
	e.Line = strings.Count(before, "\n") + 1
	e.Column = utf8.RuneCountInString(strings.TrimPrefix(before[start:], "\ufeff")) + 1
	return e
}

// value returns what the document says at a path.
func (d *document) value(path []string) any {
	var value any = d.values
	for _, name := range path {
		table, ok := value.(map[string]any)
		if !ok {
			return nil
		}
		value = table[name]
	}
	return value
}

// find returns where a path stands first, exactly or on the way to a longer one.
func (d *document) find(path []string) (keyAt, bool) {
	for _, k := range d.keys {
		if len(k.path) >= len(path) && slices.Equal(k.path[:len(path)], path) {
			return k, true
		}
	}
	return keyAt{}, false
}
