package config

import (
	"strings"

	"github.com/BurntSushi/toml"
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
	// The marks that the library skips as well.
	for _, mark := range []string{"\xff\xfe", "\xfe\xff", "\xef\xbb\xbf"} {
		if strings.HasPrefix(text, mark) {
			s.offset = len(mark)
			break
		}
	}
	s.document()
	return s.keys, s.tooDeep
}

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

// peek returns the next byte, 0 at the end.
func (s *scanner) peek() byte {
	if s.done() {
		return 0
	}
	return s.text[s.offset]
}

// skip moves over all bytes of a set.
func (s *scanner) skip(set string) {
	for !s.done() && strings.IndexByte(set, s.text[s.offset]) >= 0 {
		s.offset++
	}
}

// until moves to the next byte of a set, or to the end.
func (s *scanner) until(set string) {
	for !s.done() && strings.IndexByte(set, s.text[s.offset]) < 0 {
		s.offset++
	}
}

// blank moves over white space, line breaks and comments.
func (s *scanner) blank() {
	for {
		s.skip(" \t\r\n")
		if s.peek() != '#' {
			return
		}
		s.until("\n")
	}
}

func (s *scanner) document() {
	var table keyAt
	for {
		s.blank()
		if s.done() {
			return
		}
		if s.peek() != '[' {
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
	k := keyAt{
		path: append([]string(nil), table.path...),
		at:   append([]int(nil), table.at...),
	}
	for {
		s.skip(" \t")
		start := s.offset
		k.at = append(k.at, start)
		if c := s.peek(); c == '"' || c == '\'' {
			s.quoted()
			k.path = append(k.path, unquote(s.text[start:s.offset]))
		} else {
			s.until(" \t.=]#\r\n,}[")
			if s.offset == start { // cannot be in a valid document; never stand still
				s.offset++
			}
			k.path = append(k.path, s.text[start:min(s.offset, len(s.text))])
		}
		s.skip(" \t")
		if s.peek() != '.' {
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
func (s *scanner) item(k keyAt) []int {
	if s.open == deepest {
		s.giveUp()
		return nil
	}
	s.open++
	defer func() { s.open-- }()
	switch s.peek() {
	case '"', '\'':
		s.quoted()
	case '{':
		s.offset++
		for s.more('}') {
			s.pair(k)
		}
	case '[':
		s.offset++
		var elements []int
		for s.more(']') {
			elements = append(elements, s.offset)
			s.item(k)
		}
		return elements
	default:
		s.offset++
		s.until(",]}#\n")
	}
	return nil
}

// more moves to the next element of a list or an inline table; at its end it
// moves behind the bracket and returns false.
func (s *scanner) more(end byte) bool {
	for {
		s.blank()
		switch s.peek() {
		case end:
			s.offset++
			return false
		case ',':
			s.offset++
		default:
			return !s.done()
		}
	}
}

// quoted moves over a string of any of the four kinds.
func (s *scanner) quoted() {
	quote := s.text[s.offset]
	long := strings.Repeat(string(quote), 3)
	if strings.HasPrefix(s.text[s.offset:], long) {
		s.offset += 3
		for !s.done() && !strings.HasPrefix(s.text[s.offset:], long) {
			s.character(quote)
		}
		s.offset = min(s.offset+3, len(s.text))
		// Up to two more quotes belong to the text.
		s.skip(string(quote))
		return
	}
	s.offset++
	for !s.done() && s.peek() != quote {
		s.character(quote)
	}
	s.offset = min(s.offset+1, len(s.text))
}

// character moves over one byte of a string, or over an escape.
func (s *scanner) character(quote byte) {
	if quote == '"' && s.peek() == '\\' {
		s.offset++
	}
	s.offset = min(s.offset+1, len(s.text))
}

// unquote gives a quoted key its meaning.
func unquote(quoted string) string {
	var decoded struct {
		Key string `toml:"key"`
	}
	if _, err := toml.Decode("key = "+quoted, &decoded); err != nil {
		return quoted
	}
	return decoded.Key
}
