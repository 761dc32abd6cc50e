package landing

import (
	"fmt"
	"paw/config/display"
	"paw/orchestrator/errs"
	"paw/orchestrator/turns"
	"strconv"
	"strings"
	"unicode"
)

// oneLine returns the first line of a text by somebody else, without control characters. Of a
// heading in Markdown it returns the words; "#13" is the number of an issue and stays.
func oneLine(text string) string {
	line := strings.TrimLeft(display.Printable(display.FirstLine(strings.ToValidUTF8(text, "?"))), " ")
	if words := strings.TrimLeft(line, "#"); words == "" || words[0] == ' ' {
		return strings.TrimLeft(words, " ")
	}
	return line
}

// few names the first files and counts the others.
func few[F any](files []F, most int) string {
	var names []string
	for _, one := range files[:min(len(files), most)] {
		names = append(names, onOneLine(fmt.Sprint(one)))
	}
	if more := len(files) - most; more > 0 {
		names = append(names, errs.Counted(more, "other file"))
	}
	return strings.Join(names, ", ")
}

// onOneLine quotes a file name that contains control characters.
func onOneLine(name string) string {
	if strings.ContainsFunc(name, unicode.IsControl) {
		return strconv.Quote(name)
	}
	return name
}

// ranges formats the numbers of turns: "1-4", "2", "1-2,5".
func ranges(list []turns.Turn) string {
	var parts []string
	for i := 0; i < len(list); {
		k := i
		for k+1 < len(list) && list[k+1].Number == list[k].Number+1 {
			k++
		}
		part := strconv.Itoa(list[i].Number)
		if k > i {
			part += "-" + strconv.Itoa(list[k].Number)
		}
		parts, i = append(parts, part), k+1
	}
	return strings.Join(parts, ",")
}

func turnWords(turns string) string {
	if strings.ContainsAny(turns, "-,") {
		return "turns " + turns
	}
	return "turn " + turns
}

// numbersIn parses numbers in the format of ranges.
func numbersIn(words string) (numbers []int) {
	for part := range strings.SplitSeq(words, ",") {
		first, last, several := strings.Cut(part, "-")
		from, err := strconv.Atoi(first)
		if err != nil {
			continue
		}
		to := from
		if several {
			to, _ = strconv.Atoi(last)
		}
		for n := from; n <= to; n++ {
			numbers = append(numbers, n)
		}
	}
	return numbers
}

// namedPaths limits the files that a message names.
const namedPaths = 5
