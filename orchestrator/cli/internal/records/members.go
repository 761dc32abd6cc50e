package records

import "bytes"

// Members calls visit with each key of a JSON object and the text of its value, without reading
// what lies in nested values: of a long line often two short values decide whether it is wanted.
// visit is also called for the members before a fault; Members reports whether the object is whole.
// Keys with escapes are passed as they are written.
func Members(object []byte, visit func(key, value []byte)) bool {
	rest, ok := bytes.CutPrefix(bytes.TrimLeft(object, blank), []byte("{"))
	for ok {
		rest = bytes.TrimLeft(rest, blank)
		key := valueAt(rest)
		if len(key) < 2 || key[0] != '"' {
			return len(rest) > 0 && rest[0] == '}'
		}
		rest, ok = bytes.CutPrefix(bytes.TrimLeft(rest[len(key):], blank), []byte(":"))
		rest = bytes.TrimLeft(rest, blank)
		value := valueAt(rest)
		if !ok || len(value) == 0 {
			return false
		}
		visit(key[1:len(key)-1], value)
		rest = bytes.TrimLeft(rest[len(value):], blank)
		if len(rest) > 0 && rest[0] == '}' {
			return true
		}
		rest, ok = bytes.CutPrefix(rest, []byte(","))
	}
	return false
}

// blank has the characters that JSON allows between values.
const blank = " \t\r\n"

// valueAt returns the JSON value that text begins with, nothing for a torn one.
func valueAt(text []byte) []byte {
	depth := 0
	for at := 0; at < len(text); at++ {
		switch text[at] {
		case '"':
			size := stringSize(text[at:])
			if size == 0 {
				return nil
			}
			at += size - 1
		case '{', '[':
			depth++
			continue
		case '}', ']':
			if depth == 0 {
				return text[:at] // the end of a number or a word
			}
			depth--
		case ',', ':', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return text[:at]
			}
			continue
		default:
			continue
		}
		if depth == 0 {
			return text[:at+1]
		}
	}
	return nil
}

// stringSize returns the length of the JSON string that text begins with, 0 for a torn one.
func stringSize(text []byte) int {
	for at := 1; ; at++ {
		end := bytes.IndexByte(text[at:], '"')
		if end < 0 {
			return 0
		}
		slashes := 0
		for at += end; text[at-1-slashes] == '\\'; slashes++ {
		}
		if slashes%2 == 0 {
			return at + 1
		}
	}
}
