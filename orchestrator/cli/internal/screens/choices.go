package screens

import (
	"strconv"
	"strings"

	"paw/config/lazyregexp"
	"paw/orchestrator/cli"
)

// choice is a line of a numbered list, with the mark of the selected one before it.
var choice = lazyregexp.New(`^(?:(\S) +)?(\d)\. +(\S.*)$`)

// below is what stands below a list: keys, and how much of it a low pane hides.
var below = lazyregexp.New(`(?i)^(↑ \d+ more|↑/↓|esc to|(press )?enter\b)`)

// Choices are the options of the last numbered list on the rows: from 1 on, without a gap, one of them selected by one of
// the marks. It has none where a list is cut off at its begin. Frames around the list are left out.
func Choices(rows []Row, marks string) []cli.Option {
	var list []cli.Option
	open := false // what comes belongs to the last option
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
		list = append(list, cli.Option{Label: m[3], Key: m[2], Selected: m[1] != ""})
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
