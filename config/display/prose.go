package display

import (
	"strings"

	"paw/config/lazyregexp"
)

// Broken wraps the lines of a text that are longer than width. The rest of a line is indented to
// the line's second column if there is one, else by hang columns more than the line.
func Broken(text string, width, hang int) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		content := strings.TrimSuffix(line, "\n")
		if plainWidth(content) <= width {
			out.WriteString(line)
			continue
		}
		indent := len(content) - len(strings.TrimLeft(content, " ")) + hang
		if two := Graphemes.Width(twoColumns().FindString(Strip(content))); two > 0 && two <= width/2 {
			indent = two
		}
		out.WriteString(strings.Join(sentence(content, width, strings.Repeat(" ", indent)), "\n"))
		out.WriteString(line[len(content):])
	}
	return out.String()
}

// twoColumns matches a line up to its second column.
var twoColumns = lazyregexp.New(`^ *\S+(?: \S+)*  +`)

// sentence wraps a line between words, before a command and never within it. A command that is too
// long is left to the terminal, so that it can be pasted whole.
func sentence(line string, width int, indent string) (lines []string) {
	words := strings.Split(line, " ")
	from, used := 0, plainWidth(words[0])
	end := func(to int) {
		lines = append(lines, strings.Join(words[from:to], " "))
		words[to] = indent + words[to]
		from, used = to, plainWidth(words[to])
	}
	for i := 1; i < len(words); i++ {
		w := plainWidth(words[i]) + 1
		if used+w <= width || strings.TrimSpace(strings.Join(words[from:i], "")) == "" {
			used += w
			continue
		}
		command := i
		for command > from && !beginsCommand(words[command]) {
			command--
		}
		if command == from && beginsCommand(words[from]) {
			break
		}
		if command == from {
			command = i
		}
		end(command)
		i = command
	}
	return append(lines, strings.Join(words[from:], " "))
}

// beginsCommand reports whether a word, which may be indented, is a program that hints and plans name.
func beginsCommand(word string) bool {
	word = strings.TrimLeft(word, " ")
	return word == "paw" || word == "git"
}

func plainWidth(text string) int { return Graphemes.Width(Strip(text)) }
