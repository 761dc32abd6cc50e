package display

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// TestDecomposed: texts that Unicode holds for equal have one form, and no others.
func TestDecomposed(t *testing.T) {
	for _, same := range [][]string{
		{"r\u00e9sum\u00e9", "re\u0301sume\u0301"}, {"\u212b", "\u00c5", "A\u030a"}, {"\ud55c\uae00", "\u1112\u1161\u11ab\u1100\u1173\u11af"},
		{"a\u0301\u0323", "\u1ea1\u0301", "a\u0323\u0301"}, {"\u1ea5", "\u00e2\u0301", "a\u0302\u0301"}, {"\u03ac\u0345", "\u1fb4"},
	} {
		for _, other := range same[1:] {
			if Decomposed(same[0]) != Decomposed(other) {
				t.Errorf("%+q is not %+q", same[0], other)
			}
		}
	}
	if Decomposed("e") == Decomposed("\u00e9") || Decomposed("\u65e5") == Decomposed("\u672c") || Decomposed("plain") != "plain" {
		t.Error("different texts have one form")
	}
	for line := range strings.Lines(decompositions) {
		one, size := utf8.DecodeRuneInString(line)
		if whole := Decomposed(string(one)); Decomposed(line[size:]) != whole+"\n" {
			t.Errorf("%+q", line)
		}
	}
}
