package output_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"paw/cmd/paw/ui/output"
)

func TestCleaner(t *testing.T) {
	for text, want := range map[string][]string{
		"plain\nlines\n":                    {"plain", "lines"},
		"\x1b[31mred\nstill\x1b[0m no":      {"\x1b[31mred\x1b[m", "\x1b[31mstill\x1b[0m no\x1b[m"},
		"\x1b[2J\x1b[Hgone\x07\b":           {"gone"},
		"\x1b]0;title\x07a\x1b]8;;x\x1b\\b": {"ab"},
		"\x1bPq#0\x1b\\c\x1b(0d\x1b=e":      {"cde"},
		"a\tb":                              {"a       b"},
		"\x0elqk\x0flqk":                    {"┌─┐lqk"},
		"\u202egnorw\u009b31m\x7f":          {"gnorw31m"},
		"bad \xff byte":                     {"bad ? byte"},
		"\x1b[>4;2mno style":                {"no style"},
		"\x1b[":                             {""},
		"crlf\r\nend":                       {"crlf", "end"},
	} {
		if diff := cmp.Diff(want, output.Cleaner{Colour: true}.Lines(text)); diff != "" {
			t.Errorf("%q (-want +got)\n%s", text, diff)
		}
	}
	if got := (output.Cleaner{}).Lines("\x1b[31mred\x1b[0m"); !cmp.Equal(got, []string{"red"}) {
		t.Errorf("without colour: %q", got)
	}
}

// A text with ever more styles does not make lines that begin with all of them.
func TestStylesDoNotGrow(t *testing.T) {
	lines := output.Cleaner{Colour: true}.Lines(strings.Repeat("\x1b[31mx\n", 1000))
	if got := len(lines[999]); got > 512 {
		t.Errorf("%d bytes", got)
	}
}
