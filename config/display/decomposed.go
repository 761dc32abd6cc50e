package display

import (
	_ "embed" // embeds the table of decompositions
	"slices"
	"strings"
	"sync"
	"unicode"
)

// decompositions has a line for each character of Unicode that stands for others: itself, then those.
//
//go:embed decompositions.txt
var decompositions string

var decomposition = sync.OnceValue(func() map[rune][]rune {
	all := map[rune][]rune{}
	for line := range strings.Lines(decompositions) {
		runes := []rune(strings.TrimSuffix(line, "\n"))
		all[runes[0]] = runes[1:]
	}
	return all
})

// The syllables of Hangul are computed: 28 of them for each pair of a first and a second letter, of which there are 21.
const (
	syllables, syllableEnd     = 0xAC00, 0xD7A3
	firsts, seconds, thirds    = 0x1100, 0x1161, 0x11A7
	syllablesASecond, secondsA = 28, 21
)

// Decomposed returns a text in a form that is the same for all texts that Unicode holds for equal, such as "é" in one
// character or two: input boxes may change one into the other.
func Decomposed(text string) string {
	if strings.IndexFunc(text, func(r rune) bool { return r > unicode.MaxASCII }) < 0 {
		return text
	}
	var out []rune
	for _, r := range text {
		switch parts := decomposition()[r]; {
		case parts != nil:
			out = append(out, parts...)
		case r >= syllables && r <= syllableEnd:
			n := r - syllables
			out = append(out, firsts+n/(syllablesASecond*secondsA), seconds+n/syllablesASecond%secondsA)
			if third := n % syllablesASecond; third > 0 {
				out = append(out, thirds+third)
			}
		default:
			out = append(out, r)
		}
	}
	for begin := 0; begin < len(out); begin++ {
		end := begin
		for end < len(out) && unicode.Is(unicode.Mn, out[end]) {
			end++
		}
		slices.Sort(out[begin:end]) // the order of marks of a letter means nothing
		begin = max(begin, end-1)
	}
	return string(out)
}
