package field_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"paw/cmd/paw/ui/field"
)

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
		text := field.Text{}
		for _, key := range strings.Fields(keys) {
			switch key {
			case "enter":
				text = text.Insert("\n")
			case "_":
				text = text.Insert(" ")
			default:
				typed := key
				if len(key) > 1 && key[0] < 0x80 {
					typed = ""
				}
				text, _ = text.Edited(key, typed)
			}
		}
		got := strings.Join(text.Chars[:text.At], "") + "|" + strings.Join(text.Chars[text.At:], "")
		if got != want {
			t.Errorf("%s: %q, want %q", keys, got, want)
		}
	}
	if got := field.Of("a\r\nb\x1b[31m\x00"); got.String() != "a\nb[31m" {
		t.Errorf("pasted: %q", got.String())
	}
}

func TestRowsOfAText(t *testing.T) {
	rows, row, column := field.Of("one two\n店店店").Rows(0, 5)
	if diff := cmp.Diff([]string{"one t", "wo", "店店", "店"}, rows); diff != "" || row != 3 || column != 2 {
		t.Errorf("cursor %d, %d (-want +got)\n%s", row, column, diff)
	}
}
