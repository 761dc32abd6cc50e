package agent

import (
	"strings"

	"paw/config/lazyregexp"
)

// dialog is one that a CLI shows in place of its input box.
type dialog struct {
	shows *lazyregexp.Regexp
	words string // what paw says of it; "$1" is the first group of the expression
}

// asks makes a dialog of an expression, in which ^ and $ are the ends of lines.
func asks(shows, words string) dialog { return dialog{lazyregexp.New("(?m)" + shows), words} }

// namedIn is what the first dialog that text shows asks, "" when it shows none of them.
func namedIn(text string, all []dialog) string {
	for _, d := range all {
		if found := d.shows.FindStringSubmatchIndex(text); found != nil {
			words := d.shows.ExpandString(nil, d.words, text, found)
			return oneLine(strings.Join(strings.Fields(string(words)), " "))
		}
	}
	return ""
}

// textOf is the text of rows, line by line.
func textOf(rows []row) string {
	var text strings.Builder
	for _, r := range rows {
		text.WriteString(r.String() + "\n")
	}
	return text.String()
}

// ending is the last n rows of a screen that have text.
func ending(rows []row, n int) []row {
	end := len(rows)
	for end > 0 && len(rows[end-1]) == 0 {
		end--
	}
	begin := end
	for ; begin > 0 && n > 0; begin-- {
		if len(rows[begin-1]) > 0 {
			n--
		}
	}
	return rows[begin:end]
}
