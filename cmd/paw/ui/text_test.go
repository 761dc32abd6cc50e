package ui

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
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
		if diff := cmp.Diff(want, cleaner{colour: true}.lines(text)); diff != "" {
			t.Errorf("%q (-want +got)\n%s", text, diff)
		}
	}
	if got := (cleaner{}).lines("\x1b[31mred\x1b[0m"); !cmp.Equal(got, []string{"red"}) {
		t.Errorf("without colour: %q", got)
	}
}

// A text with ever more styles does not make lines that begin with all of them.
func TestStylesDoNotGrow(t *testing.T) {
	lines := cleaner{colour: true}.lines(strings.Repeat("\x1b[31mx\n", 1000))
	if got := len(lines[999]); got > 2*longestStyle {
		t.Errorf("%d bytes", got)
	}
}

func TestEditing(t *testing.T) {
	for keys, want := range map[string]string{
		"a b c":                        "abc|",
		"a b left x":                   "ax|b",
		"a b home x end y":             "xaby|",
		"a b backspace":                "a|",
		"a b ctrl+a ctrl+d":            "|b",
		"店 é backspace backspace z":    "z|",
		"a enter b up x":               "ax|\nb",
		"a enter b c d up down x":      "a\nbx|cd",
		"o n e _ t w o ctrl+w x":       "one x|",
		"a b ctrl+u x":                 "x|",
		"a b left ctrl+k":              "a|",
		"a enter ctrl+p ctrl+k ctrl+d": "|",
		"👩 left":                       "|👩",
	} {
		text := text{}
		for _, key := range strings.Fields(keys) {
			switch key {
			case "enter":
				text = text.insert("\n")
			case "_":
				text = text.insert(" ")
			default:
				typed := key
				if len(key) > 1 && key[0] < 0x80 {
					typed = ""
				}
				text, _ = text.edited(key, typed)
			}
		}
		got := strings.Join(text.chars[:text.at], "") + "|" + strings.Join(text.chars[text.at:], "")
		if got != want {
			t.Errorf("%s: %q, want %q", keys, got, want)
		}
	}
	if got := textOf("a\r\nb\x1b[31m\x00"); got.String() != "a\nb[31m" {
		t.Errorf("pasted: %q", got.String())
	}
}

func TestRowsOfAText(t *testing.T) {
	rows, row, column := textOf("one two\n店店店").rows(0, 5)
	if diff := cmp.Diff([]string{"one t", "wo", "店店", "店"}, rows); diff != "" || row != 3 || column != 2 {
		t.Errorf("cursor %d, %d (-want +got)\n%s", row, column, diff)
	}
}

// Each part of a long line of output has the line's style, and the next line does not; lines with
// hashes of a diff are left out.
func TestOutputIsBroken(t *testing.T) {
	r := &run{words: []string{"diff"}, lines: []string{"\x1b[1mdiff --git a/long b/long\x1b[m", "\x1b[1mindex 0e0ef99..abc6e10\x1b[m", "short"}}
	want := []string{"\x1b[1mdiff --git\x1b[m", "\x1b[1ma/long b/long\x1b[m", "short"}
	if diff := cmp.Diff(want, r.wrapped(&Model{}, 14)); diff != "" {
		t.Error(diff)
	}
}

// A row does not say twice that a turn was cut.
func TestBriefly(t *testing.T) {
	for about, want := range map[string]string{
		"turn 2 was cut: add a box": "add a box", "turn 2 failed: overloaded": "failed: overloaded", "turn 12 was cut: x": "turn 12 was cut: x",
	} {
		if got := briefly(Agent{Cut: true, Turn: "2", About: about}); got != want {
			t.Errorf("%q: %q, want %q", about, got, want)
		}
	}
}

func TestPullRequestHasItsNumber(t *testing.T) {
	for address, want := range map[string]string{"": "", "https://github.com/acme/shop/pull/7": "#7", "https://gitlab.com/acme/shop/-/merge_requests/12": "#12"} {
		if got := (&Model{}).frame().cells(Agent{Pull: address}, false)[colPull]; got != want {
			t.Errorf("%q: %q, want %q", address, got, want)
		}
	}
}
