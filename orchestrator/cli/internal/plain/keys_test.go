package plain

import (
	"slices"
	"strings"
	"testing"
)

func typed(s string) key       { return key{text: s} }
func pasted(s string) key      { return key{keyPaste, s} }
func pressed(special byte) key { return key{special: special} }

var keyTests = []struct {
	name, input string
	want        []key
}{
	{"a prompt", "héllo\r", []key{typed("héllo"), pressed(keyEnter)}},
	{"line feed and tab are text", "a\n\tb", []key{typed("a\n\tb")}},
	{"keys", "\x03\x04\x15\x7f\b", []key{pressed(keyInterrupt), pressed(keyEnd), pressed(keyClear), pressed(keyBackspace), pressed(keyBackspace)}},
	{"other control bytes", "\x00\x01\x1a", nil},
	{"paste", "\x1b[200~one\rtwo\r\nthree\n\x1b[201~\r", []key{pasted("one\ntwo\nthree\n"), pressed(keyEnter)}},
	{"keys inside a paste are text", "\x1b[200~\x03\x1b\x1b[A\x1b[20\x1b[201~x", []key{pasted("\x03\x1b\x1b[A\x1b[20"), typed("x")}},
	{"empty paste", "\x1b[200~\x1b[201~", []key{pasted("")}},
	{"two pastes", "\x1b[200~a\x1b[201~\x1b[200~b\x1b[201~", []key{pasted("a"), pasted("b")}},
	{"arrow and function keys", "a\x1b[A\x1b[1;5C\x1bOP\x1b[15~b", []key{typed("ab")}},
	{"escape, then text at once", "\x1bab", []key{pressed(keyEscape), typed("ab")}},
	{"escape twice, then a paste", "\x1b\x1b[200~a\x1b[201~", []key{pressed(keyEscape), pasted("a")}},
	{"escape, then enter at once", "\x1b\r", []key{pressed(keyEscape), pressed(keyEnter)}},
	{"a sequence that breaks off", "\x1b[2\x03", []key{pressed(keyEscape), pressed(keyInterrupt)}},
}

func TestDecoder(t *testing.T) {
	for _, test := range keyTests {
		whole := decoder{}
		whole.feed([]byte(test.input))
		if !slices.Equal(whole.keys, test.want) {
			t.Errorf("%s: got %q, want %q", test.name, whole.keys, test.want)
		}
		bytewise := decoder{}
		for _, b := range []byte(test.input) {
			bytewise.feed([]byte{b})
		}
		if !slices.Equal(bytewise.keys, test.want) {
			t.Errorf("%s, byte by byte: got %q, want %q", test.name, bytewise.keys, test.want)
		}
	}
}

func TestDecoderSettles(t *testing.T) {
	for _, input := range []string{"\x1b", "\x1b[", "\x1bO"} {
		d := decoder{}
		d.feed([]byte(input))
		if len(d.keys) != 0 {
			t.Errorf("%q: %q before the delay", input, d.keys)
		}
		d.settle()
		d.settle()
		if !slices.Equal(d.keys, []key{pressed(keyEscape)}) {
			t.Errorf("%q: %q", input, d.keys)
		}
	}
}

func FuzzDecoder(f *testing.F) {
	for _, test := range keyTests {
		f.Add(test.input, 1)
	}
	f.Fuzz(func(t *testing.T, input string, cut int) {
		whole, halves := decoder{}, decoder{}
		whole.feed([]byte(input))
		cut = min(max(cut, 0), len(input))
		halves.feed([]byte(input[:cut]))
		halves.feed([]byte(input[cut:]))
		if !slices.Equal(whole.keys, halves.keys) {
			t.Errorf("whole %q, cut at %d %q", whole.keys, cut, halves.keys)
		}
	})
}

func TestVisible(t *testing.T) {
	if got := Visible("a\x1b[2Jb\r\n\tç\x7f\u202e"); got != "a·[2Jb·\n\tç··" {
		t.Errorf("visible: %q", got)
	}
	if strings.Contains(spoken("demo", "a\nb"), "\nb") {
		t.Error("the second line is not indented")
	}
}
