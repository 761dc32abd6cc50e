package display

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestEscape(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", ""}, {"a\x1b[m", ""},
		// CSI
		{"\x1b[mrest", "\x1b[m"}, {"\x1b[1;31mrest", "\x1b[1;31m"}, {"\x1b[38:5:246mrest", "\x1b[38:5:246m"}, {"\x1b[?2004hrest", "\x1b[?2004h"},
		{"\x1b[>4;2mrest", "\x1b[>4;2m"}, {"\x1b[0 qrest", "\x1b[0 q"}, {"\x1b[~rest", "\x1b[~"}, {"\x1b[@rest", "\x1b[@"},
		{"\x1b[", "\x1b["}, {"\x1b[31", "\x1b[31"}, {"\x1b[31\nrest", "\x1b[31"}, {"\x1b[31\x1b[m", "\x1b[31"}, {"\x1b[31é", "\x1b[31"}, {"\x1b[ 3rest", "\x1b[ "},
		// OSC, DCS, SOS, PM, APC
		{"\x1b]0;title\arest", "\x1b]0;title\a"}, {"\x1b]0;title\x1b\\rest", "\x1b]0;title\x1b\\"}, {"\x1b]8;;http://x\x1b\\link", "\x1b]8;;http://x\x1b\\"},
		{"\x1bPq#0\x1b\\rest", "\x1bPq#0\x1b\\"}, {"\x1bXs\x1b\\rest", "\x1bXs\x1b\\"}, {"\x1b^p\x1b\\rest", "\x1b^p\x1b\\"}, {"\x1b_a\x1b\\rest", "\x1b_a\x1b\\"},
		{"\x1b]0;“quoted” ✜\arest", "\x1b]0;“quoted” ✜\a"}, // both have the byte 0x9c
		{"\x1b]0;never ended", "\x1b]0;never ended"}, {"\x1b]0;ab\x1b[31mrest", "\x1b]0;ab"}, {"\x1b]0;ab\x18rest", "\x1b]0;ab\x18"}, {"\x1bPab\x1arest", "\x1bPab\x1a"},
		{"\x1b]0;two\nlines\arest", "\x1b]0;two\nlines\a"}, {"\x1b]\x1b", "\x1b]"},
		// short ones
		{"\x1b(Brest", "\x1b(B"}, {"\x1b#8rest", "\x1b#8"}, {"\x1b7rest", "\x1b7"}, {"\x1bcrest", "\x1bc"}, {"\x1b=rest", "\x1b="}, {"\x1b $Crest", "\x1b $C"},
		{"\x1b", "\x1b"}, {"\x1b\x1b[31m", "\x1b"}, {"\x1b\nrest", "\x1b"}, {"\x1b(", "\x1b("}, {"\x1bérest", "\x1b"},
	} {
		if got := Escape(c.text); got != c.want {
			t.Errorf("%q begins with %q, want %q", c.text, got, c.want)
		}
	}
}

func TestStyle(t *testing.T) {
	for escape, want := range map[string]string{
		"\x1b[m": "", "\x1b[0m": "0", "\x1b[1;31m": "1;31", "\x1b[38:5:246m": "38:5:246", "\x1b[;m": ";",
		"\x1b[>4;2m": "none", "\x1b[?25h": "none", "\x1b[1 m": "none", "\x1b[31": "none", "\x1b(m": "none", "\x1b]0;m": "none", "m": "none", "": "none",
	} {
		codes, ok := Style(escape)
		if !ok {
			codes = "none"
		}
		if codes != want {
			t.Errorf("%q: %q, want %q", escape, codes, want)
		}
	}
}

func TestPrintable(t *testing.T) {
	for text, want := range map[string]string{
		"":                          "",
		"plain\ttext\nof two lines": "plain\ttext\nof two lines",
		"\x1b[31;1mred\x1b[0m":      "red",
		"\x1b[2J\x1b[Hcleared":      "cleared",
		"\x1b]0;a title\x07after":   "after",
		"\x1b]0;“a” title\x07after": "after",
		"\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\":            "link",
		"\x1bP+q544e\x1b\\after":                              "after",
		"\x1b(Bcharset\x1b7saved\x1bc":                        "charsetsaved",
		"\x1b]52;c;never ended":                               "",
		"half a sequence \x1b":                                "half a sequence ",
		"half a sequence \x1b[31":                             "half a sequence ",
		"10%\r100%\r\ndone":                                   "10%\n100%\ndone",
		"bell\a back\b del\x7f nul\x00":                       "bell back del nul",
		"C1 \u009b31m and \u0085":                             "C1 31m and ",
		"every C1 \u0080\u0090\u0098\u009c\u009d\u009e\u009f": "every C1 ",
		"user\u202e\u2066nimda\u2069":                         "usernimda",
		"every \u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069 mark": "every  mark",
		"torn \xe2\x80":  "torn ?",
		"raw C1 \x9b31m": "raw C1 ?31m",
		"naïve 日本 👩‍🚀":   "naïve 日本 👩‍🚀",
	} {
		if got := Printable(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// A text that is printed as it is needs no second look; one with a character that a terminal obeys gets one.
func TestASCII(t *testing.T) {
	for text, want := range map[string]bool{
		"": true, "a b~\n\tc": true, "a\x1b[2J": false, "a\rb": false, "\x7f": false, "\x00": false, "é": false, "\xff": false, "\u202e": false,
	} {
		if got := ascii(text, "\n\t"); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

func TestLines(t *testing.T) {
	for _, c := range []struct{ text, one, words, first string }{
		{"", "", "", ""},
		{"one", "one", "one", "one"},
		{"  a\tb  c\n\n d ", "  a b  c   d ", "a b c d", "a\tb  c"},
		{"\n \n first \r\nsecond", "    first  second", "first second", "first"},
		{"\x1b[1mbold\x1b[m\nnot", "bold not", "bold not", "\x1b[1mbold\x1b[m"},
		{"no\u00a0break\u2003wide", "no\u00a0break\u2003wide", "no break wide", "no\u00a0break\u2003wide"},
	} {
		if got := OneLine(c.text); got != c.one {
			t.Errorf("%q on one line: %q, want %q", c.text, got, c.one)
		}
		if got := Words(c.text); got != c.words {
			t.Errorf("words of %q: %q, want %q", c.text, got, c.words)
		}
		if got := FirstLine(c.text); got != c.first {
			t.Errorf("first line of %q: %q, want %q", c.text, got, c.first)
		}
	}
}

func TestWidth(t *testing.T) {
	for _, c := range []struct {
		text             string
		graphemes, runes int
	}{
		{"", 0, 0}, {"tests", 5, 5}, {"~ ", 2, 2},
		{"店", 2, 2}, {"ｆｕｌｌ", 8, 8}, {"ｶﾅ", 2, 2}, {"한글", 4, 4},
		{"é", 1, 1}, {"e\u0301", 1, 1}, {"e\u0301\u0323", 1, 1}, {"ก็", 1, 1},
		{"👩", 2, 2}, {"👩‍👩‍👧", 2, 2}, {"👍🏽", 2, 2}, {"🇩🇪", 2, 1}, {"🏳️‍🌈", 2, 1}, {"❤️", 2, 1},
		{"a\u200bb", 2, 2}, {"\u00ad", 0, 0},
		{"\x1b[1;31mred\x1b[m", 3, 3}, {"\x1b]0;“title”\a店", 2, 2}, {"\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", 4, 4},
		{"a\tb\n\x00\x7f", 2, 2}, {"\u0085\u009b", 0, 0}, {"\u202eab\u2066", 2, 3},
		{"…", 1, 1}, {"─│", 2, 2}, {"→", 1, 1},
	} {
		if got := Graphemes.Width(c.text); got != c.graphemes {
			t.Errorf("%q takes %d columns, want %d", c.text, got, c.graphemes)
		}
		if got := Single.Width(c.text); got != c.runes {
			t.Errorf("%q takes %d columns of single characters, want %d", c.text, got, c.runes)
		}
	}
}

func TestCut(t *testing.T) {
	for _, c := range []struct {
		text  string
		width int
		want  string
	}{
		{"tests", 6, "tests"}, {"tests", 5, "tests"}, {"tests", 4, "tes…"}, {"tests", 1, "…"}, {"tests", 0, ""}, {"tests", -1, ""}, {"", 3, ""},
		{"店店店", 6, "店店店"}, {"店店店", 5, "店店…"}, {"店店店", 4, "店…"}, {"店", 1, "…"},
		{"e\u0301e\u0301e\u0301", 3, "e\u0301e\u0301e\u0301"}, {"e\u0301e\u0301e\u0301", 2, "e\u0301…"},
		{"👩‍👩‍👧 family", 5, "👩‍👩‍👧 f…"}, {"👩‍👩‍👧 family", 2, "…"}, {"👩‍👩‍👧", 2, "👩‍👩‍👧"},
		{"\x1b[31mred\x1b[m", 3, "\x1b[31mred\x1b[m"}, {"\x1b[31mred\x1b[m", 2, "\x1b[31mr…\x1b[m"},
		{"\x1b[31mred \x1b[1mbold\x1b[m no", 5, "\x1b[31mred \x1b[1m…\x1b[m"},
	} {
		if got := Graphemes.Cut(c.text, c.width); got != c.want {
			t.Errorf("%q cut to %d is %q, want %q", c.text, c.width, got, c.want)
		}
	}
	if got := Single.Cut("🇩🇪🇩🇪", 2); got != "🇩🇪🇩🇪" {
		t.Errorf("got %q", got)
	}
}

func TestFill(t *testing.T) {
	for _, c := range []struct {
		text        string
		width       int
		fill, right string
	}{
		{"ab", 4, "ab  ", "  ab"}, {"店", 3, "店 ", " 店"}, {"店店", 3, "店…", "店…"}, {"店店店", 4, "店… ", " 店…"}, {"abc", 2, "a…", "a…"}, {"", 2, "  ", "  "}, {"a", 0, "", ""},
		{"\x1b[1mb\x1b[m", 2, "\x1b[1mb\x1b[m ", " \x1b[1mb\x1b[m"},
	} {
		if fill, right := Graphemes.Fill(c.text, c.width), Graphemes.Right(c.text, c.width); fill != c.fill || right != c.right {
			t.Errorf("%q in %d columns: %q and %q, want %q and %q", c.text, c.width, fill, right, c.fill, c.right)
		}
	}
}

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		text        string
		width, most int
		want        []string
	}{
		{"", 5, 2, nil}, {"   ", 5, 2, nil}, {"a", 0, 2, nil}, {"a", 2, 0, nil},
		{"one two", 7, 2, []string{"one two"}},
		{"one two", 6, 2, []string{"one", "two"}},
		{"one two", 3, 2, []string{"one", "two"}},
		{"one two three", 7, 2, []string{"one two", "three"}},
		{"one two three four", 7, 2, []string{"one two", "three …"}},
		{"one two", 3, 1, []string{"on…"}},
		{"abcdefgh", 3, 3, []string{"abc", "def", "gh"}},
		{"use --no-check here", 10, 5, []string{"use", "--no-check", "here"}},
		{"店店店", 3, 9, []string{"店", "店", "店"}},
		{"店", 1, 9, []string{"…"}},
		{"\x1b[31mone two\x1b[m", 4, 9, []string{"\x1b[31mone", "two\x1b[m"}},
	} {
		if diff := cmp.Diff(c.want, Graphemes.Wrap(c.text, c.width, c.most)); diff != "" {
			t.Errorf("%q in %d lines of %d columns (-want +got)\n%s", c.text, c.most, c.width, diff)
		}
	}
}

func TestTail(t *testing.T) {
	for _, c := range []struct {
		text  string
		width int
		want  string
	}{
		{"tests", 5, "tests"}, {"tests", 4, "…sts"}, {"tests", 1, "…"}, {"店店", 3, "…店"}, {"店店店", 4, "…店"}, {"", 0, ""},
	} {
		if got := Graphemes.Tail(c.text, c.width); got != c.want {
			t.Errorf("the last %d columns of %q: %q, want %q", c.width, c.text, got, c.want)
		}
	}
}

func TestPrefix(t *testing.T) {
	for _, c := range []struct {
		text string
		most int
		want string
	}{
		{"tests", 9, "tests"}, {"tests", 5, "tests"}, {"tests", 4, "test"}, {"äöü", 5, "äö"}, {"äöü", 4, "äö"}, {"日本", 5, "日"}, {"日本", 2, ""}, {"日", 0, ""}, {"日", -3, ""}, {"", 0, ""},
	} {
		if got := Prefix(c.text, c.most); got != c.want {
			t.Errorf("%d bytes of %q: %q, want %q", c.most, c.text, got, c.want)
		}
	}
}

// FuzzDisplay: nothing that a terminal obeys is printable, each piece makes progress, and what is cut, filled or wrapped has
// the width that was asked for.
func FuzzDisplay(f *testing.F) {
	for _, s := range []string{"", "tests", "\x1b[31mred\x1b[0m 店 e\u0301 👩‍👩‍👧", "\x1b]0;“title”\a\x1b(B", "\xff\u009b\u202e\r\n\t", "one two --three"} {
		f.Add(s, 4)
	}
	f.Fuzz(func(t *testing.T, s string, width int) {
		width = min(max(width, -1), 200)
		clean := Printable(s)
		if strings.ContainsFunc(clean, func(r rune) bool {
			return unicode.IsControl(r) && r != '\n' && r != '\t' || Reorders(r)
		}) || !utf8.ValidString(clean) || Printable(clean) != clean {
			t.Errorf("%q is printed as %q", s, clean)
		}
		for _, m := range []Measure{Single, Graphemes} {
			for rest := s; rest != ""; {
				bytes, columns := m.Next(rest)
				if bytes < 1 || bytes > len(rest) || columns < 0 {
					t.Fatalf("%d bytes and %d columns of %q", bytes, columns, rest)
				}
				rest = rest[bytes:]
			}
			for _, text := range []string{clean, "\x1b[31m" + clean + "\x1b[m"} {
				if cut := m.Cut(text, width); m.Width(cut) > max(width, 0) {
					t.Errorf("%q cut to %d: %q", text, width, cut)
				}
				joins := m.Width(m.Cut(text, width)+" ") != m.Width(m.Cut(text, width))+1 // U+0600 joins the character behind it
				if fill := m.Fill(text, width); !joins && m.Width(fill) != max(width, 0) {
					t.Errorf("%q filled to %d: %q", text, width, fill)
				}
				for _, line := range m.Wrap(text, width, 5) {
					if m.Width(line) > width {
						t.Errorf("%q wrapped to %d: %q", text, width, line)
					}
				}
			}
		}
	})
}
