package screens

import (
	"strconv"
	"strings"

	"paw/config/lazyregexp"
	"paw/orchestrator/cli"
)

// choice matches a line of a numbered list, with the mark of the selected one before it.
var choice = lazyregexp.New(`^(?:(\S) +)?(\d)\. +(\S.*)$`)

// below matches lines below a list: keys, and the number of hidden lines.
var below = lazyregexp.New(`(?i)^(↑ \d+ more|↑/↓|esc to|(press )?enter\b)`)

// ByList returns the question of a dialog with a list of options. Where the CLI itself asks, the arrow
// keys select and Enter takes an option: not all of those lists take digits.
func ByList(text string, outside bool, options []cli.Option) cli.Question {
	q := cli.Question{Text: text, Options: options, Outside: outside}
	if !outside {
		return q
	}
	for i := range q.Options {
		q.Options[i].Key = ""
	}
	q.Onward, q.Back = "Down", "Up"
	return q
}

// Choices returns the options of the last numbered list on the rows: numbered from 1 without a gap,
// exactly one of them marked as selected. It returns nil where the list's start is cut off. Frames
// around the list are ignored.
func Choices(rows []Row, marks string) []cli.Option {
	var list []cli.Option
	open := false // following lines belong to the last option
	for _, r := range rows {
		line := strings.Trim(r.String(), " \u00a0│┃█")
		m := choice.FindStringSubmatch(line)
		if m == nil || m[1] != "" && !strings.Contains(marks, m[1]) {
			open = open && line != "" && strings.Trim(line, "─╌╭╮╰╯") != "" && !below.MatchString(line)
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
