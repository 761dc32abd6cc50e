package config

import (
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"paw/config/lazyregexp"
)

// deepest is how many parts a key may have and how many brackets may be open;
// paw's own keys have four parts. The TOML library needs 20 GB for a 64 KB key
// of nothing but dots, and a file comes with every repository.
const deepest = 16

// keyAt is one key of a document, or one table header, in the order of the
// text. The TOML library does not tell where a key stands, so a scanner finds
// it.
type keyAt struct {
	path     []string
	at       []int // byte offset of each part of the path
	value    int   // byte offset of the value; of the last part for a header
	elements []int // byte offsets of the elements when the value is a list
}

// scan returns the keys of a document, and where it is nested too deeply (-1
// for nowhere). Up to the first mistake of an invalid document the scanner sees
// what the library sees; behind it the keys mean nothing.
func scan(text string) (keys []keyAt, tooDeep int) {
	s := scanner{text: text, tooDeep: -1}
	for _, mark := range []string{"\xff\xfe", "\xfe\xff", "\xef\xbb\xbf"} { // the library skips one of these as well
		if s.offset == 0 && strings.HasPrefix(text, mark) {
			s.offset = len(mark)
		}
	}
	s.document()
	return s.keys, s.tooDeep
}

// What is taken from the text as one piece.
var (
	gap    = lazyregexp.New(`^(?:[ \t\r\n]|#[^\n]*)*`)
	quoted = lazyregexp.New(`^(?s:"""(?:\\.|[^\\])*?"{3,5}|'''.*?'{3,5}|"(?:\\.|[^"\\])*"|'[^']*')`)
	bare   = lazyregexp.New(`^[^ \t.=\]#\r\n,}\[]+`)
	scalar = lazyregexp.New(`^[^,\]}#\n]+`)
)

type scanner struct {
	text    string
	offset  int
	keys    []keyAt
	open    int // brackets around this place
	tooDeep int
}

// giveUp ends the scan at once.
func (s *scanner) giveUp() {
	s.tooDeep = min(s.offset, len(s.text))
	s.offset = len(s.text)
}

func (s *scanner) done() bool { return s.offset >= len(s.text) }

// take moves over a piece, if it comes next.
func (s *scanner) take(piece *lazyregexp.Regexp) string {
	found := piece.FindString(s.text[s.offset:])
	s.offset += len(found)
	return found
}

// skip moves over all bytes of a set.
func (s *scanner) skip(set string) {
	s.offset = len(s.text) - len(strings.TrimLeft(s.text[s.offset:], set))
}

// at reports whether one of these bytes comes next.
func (s *scanner) at(set string) bool {
	return !s.done() && strings.IndexByte(set, s.text[s.offset]) >= 0
}

// accept moves over a byte if it comes next.
func (s *scanner) accept(c string) bool {
	if !s.at(c) {
		return false
	}
	s.offset++
	return true
}

// either moves over a quoted text or over another piece; to the end where a quote is not closed, and never over nothing.
func (s *scanner) either(other *lazyregexp.Regexp) string {
	start, piece := s.offset, other
	if s.at(`"'`) {
		piece = quoted
	}
	switch s.take(piece); {
	case s.offset > start || s.done():
	case piece == quoted:
		s.offset = len(s.text)
	default:
		s.offset++
	}
	return s.text[start:s.offset]
}

func (s *scanner) document() {
	var table keyAt
	for s.take(gap); !s.done(); s.take(gap) {
		if !s.at("[") {
			s.pair(table)
			continue
		}
		s.skip("[")
		table = s.key(keyAt{})
		table.value = table.at[len(table.at)-1]
		s.keys = append(s.keys, table)
		s.skip(" \t]")
	}
}

// pair reads one key and its value.
func (s *scanner) pair(table keyAt) {
	k := s.key(table)
	index := len(s.keys)
	s.keys = append(s.keys, k)
	s.skip(" \t=")
	s.keys[index].value = s.offset
	s.keys[index].elements = s.item(k)
}

// key reads a dotted key below a table.
func (s *scanner) key(table keyAt) keyAt {
	k := keyAt{path: slices.Clone(table.path), at: slices.Clone(table.at)}
	for {
		s.skip(" \t")
		k.at = append(k.at, s.offset)
		k.path = append(k.path, unquote(s.either(bare)))
		s.skip(" \t")
		if !s.at(".") {
			return k
		}
		if len(k.path) >= deepest {
			s.giveUp()
			return k
		}
		s.offset++
	}
}

// item reads a value and returns where its elements begin when it is a list.
func (s *scanner) item(k keyAt) (elements []int) {
	if s.open == deepest {
		s.giveUp()
		return nil
	}
	s.open++
	defer func() { s.open-- }()
	switch {
	case s.accept("{"):
		for s.more("}") {
			s.pair(k)
		}
	case s.accept("["):
		for s.more("]") {
			elements = append(elements, s.offset)
			s.item(k)
		}
	default:
		s.either(scalar)
	}
	return elements
}

// more moves to the next element of a list or an inline table; behind the last one it moves over the bracket.
func (s *scanner) more(end string) bool {
	s.take(gap)
	for s.accept(",") {
		s.take(gap)
	}
	return !s.accept(end) && !s.done()
}

// unquote gives a key its meaning.
func unquote(key string) string {
	var decoded struct {
		Key string `toml:"key"`
	}
	if strings.HasPrefix(key, `"`) || strings.HasPrefix(key, "'") {
		if _, err := toml.Decode("key = "+key, &decoded); err == nil {
			return decoded.Key
		}
	}
	return key
}
