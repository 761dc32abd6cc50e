package screens

import (
	"strings"

	"paw/config/lazyregexp"
	"paw/orchestrator/cli/internal/questions"
)

// Dialog is one that a CLI shows in place of its input box.
type Dialog struct {
	shows  *lazyregexp.Regexp
	words  string // what paw says of it; "$1" is the first group of the expression
	inTurn bool   // the model wants to know it, and not the CLI itself
}

// Asks makes a dialog of an expression, in which ^ and $ are the ends of lines.
func Asks(shows, words string) Dialog {
	return Dialog{shows: lazyregexp.New("(?m)" + shows), words: words}
}

// AsksInTurn is Asks for a question of a turn: a permission, or what the model wants to know.
func AsksInTurn(shows, words string) Dialog {
	d := Asks(shows, words)
	d.inTurn = true
	return d
}

// NamedIn is what the first dialog that text shows asks, "" when it shows none of them.
func NamedIn(text string, all []Dialog) string {
	words, _ := firstIn(text, all)
	return words
}

// AskedIn is NamedIn where the first dialog is a question of a turn, else "".
func AskedIn(text string, all []Dialog) string {
	words, inTurn := firstIn(text, all)
	if !inTurn {
		return ""
	}
	return words
}

func firstIn(text string, all []Dialog) (words string, inTurn bool) {
	for _, d := range all {
		if found := d.shows.FindStringSubmatchIndex(text); found != nil {
			words := d.shows.ExpandString(nil, d.words, text, found)
			return questions.Title(strings.Join(strings.Fields(string(words)), " ")), d.inTurn
		}
	}
	return "", false
}

// TextOf is the text of rows, line by line.
func TextOf(rows []Row) string {
	var text strings.Builder
	for _, r := range rows {
		text.WriteString(r.String() + "\n")
	}
	return text.String()
}

// Ending is the last n rows of a screen that have text.
func Ending(rows []Row, n int) []Row {
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
