package screens

import (
	"strconv"
	"strings"

	"paw/config/lazyregexp"
	"paw/orchestrator/cli"
	"paw/orchestrator/cli/internal/questions"
)

// Dialog recognizes a dialog that a CLI shows in place of its input box.
type Dialog struct {
	shows  lazyregexp.Regexp
	words  string // paw's words for the dialog; "$1" is the first group of the expression
	inTurn bool   // the model asks, and not the CLI itself
	listed bool   // the CLI itself asks, with a numbered list
}

// Asks makes a Dialog from an expression, in which ^ and $ match at line ends.
func Asks(shows, words string) Dialog {
	return Dialog{shows: lazyregexp.New("(?m)" + shows), words: words}
}

// AsksInTurn is like Asks, for a question of a turn: a permission, or a question of the model.
func AsksInTurn(shows, words string) Dialog {
	d := Asks(shows, words)
	d.inTurn = true
	return d
}

// AsksByList is like Asks, for a dialog whose numbered answers paw may take for the user.
func AsksByList(shows, words string) Dialog {
	d := Asks(shows, words)
	d.listed = true
	return d
}

// AskedIn returns a screen with the first dialog that matches text, which has these options, if any.
// Where the CLI itself asks, the arrow keys select and Enter takes an option: not all of those lists
// take digits.
func AskedIn(text string, all []Dialog, options []cli.Option) cli.Screen {
	for _, d := range all {
		found := d.shows().FindStringSubmatchIndex(text)
		if found == nil {
			continue
		}
		words := string(d.shows().ExpandString(nil, d.words, text, found))
		seen := cli.Screen{Dialog: questions.Title(strings.Join(strings.Fields(words), " "))}
		if options != nil && (d.inTurn || d.listed) { // others can only be answered in the pane
			seen.Question = &cli.Question{Text: seen.Dialog, Options: options, Outside: d.listed}
		}
		if seen.Listed() {
			seen.Question.ByArrows()
		}
		return seen
	}
	return cli.Screen{}
}

// TextOf joins rows to a text.
func TextOf(rows []Row) string {
	var text strings.Builder
	for _, r := range rows {
		text.WriteString(r.String() + "\n")
	}
	return text.String()
}

// Ending returns the rows from the n-th last one that has text to the last one.
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

// choice matches a line of a numbered list, with the mark of the selected one before it.
var choice = lazyregexp.New(`^(?:(\S) +)?(\d)\. +(\S.*)$`)

// below matches lines below a list: a button, keys, and the number of hidden lines.
var below = lazyregexp.New(`(?i)^((submit|next)$|↑ \d+ more|↑/↓|esc to|(press )?enter\b)`)

// Choices returns the options of the last numbered list on the rows: numbered from 1 without a gap,
// exactly one of them marked as selected. It returns nil where the list's start is cut off. Frames
// around the list are ignored.
func Choices(rows []Row, marks string) []cli.Option {
	var list []cli.Option
	open := false // following lines belong to the last option
	for _, r := range rows {
		line := strings.Trim(r.String(), " \u00a0│┃█")
		m := choice().FindStringSubmatch(line)
		if m == nil || m[1] != "" && !strings.Contains(marks, m[1]) {
			open = open && line != "" && strings.Trim(line, "─╌╭╮╰╯") != "" && !below().MatchString(line)
			if open {
				last := &list[len(list)-1]
				last.About = strings.TrimSpace(last.About + " " + line)
			}
			continue
		}
		number, _ := strconv.Atoi(m[2])
		switch number {
		case 1:
			list = nil
		case len(list) + 1:
		default:
			list = nil
			open = false
			continue
		}
		label, about, _ := strings.Cut(m[3], "  ")
		list = append(list, cli.Option{Label: label, About: strings.TrimSpace(about), Key: m[2], Selected: m[1] != ""})
		open = true
	}
	selected := 0
	for _, o := range list {
		if o.Selected {
			selected++
		}
	}
	if len(list) < 2 || selected != 1 {
		return nil
	}
	return list
}
