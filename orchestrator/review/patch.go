package review

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"paw/config/lazyregexp"
)

// ForEditor is a patch as the user comments on it: without what nobody reads, and with how it is done at its top.
func ForEditor(patch, about string) string {
	var b strings.Builder
	for line := range strings.Lines("Comments on " + about + ":\n" +
		"below a line, write what you have to say in lines that begin with >.\n" +
		"All comments are sent together, as one prompt. Without a comment nothing is sent.\n") {
		b.WriteString("# " + line)
	}
	binary := false
	for line := range strings.Lines(patch) {
		switch {
		case strings.HasPrefix(line, "GIT binary patch"):
			binary = true
			b.WriteString("Binary file\n")
		case strings.HasPrefix(line, "diff --git "):
			binary = false
		}
		if !binary && !strings.HasPrefix(line, "index ") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// EditedError is a line that was neither in the patch nor a comment.
type EditedError struct {
	Number int
	Line   string
}

func (e *EditedError) Error() string {
	return fmt.Sprintf("line %d is neither of the patch nor a comment, which begins with >: %q", e.Number, e.Line)
}

// Comments finds what the user wrote into a text of ForEditor. Lines of it may be gone; what was changed otherwise is
// *EditedError. Each comment is about the line above it, with up to two more of the same kind before that for its excerpt.
func Comments(text, edited string) ([]Comment, error) {
	lines := placesOf(text)
	var found []Comment
	at := -1 // index of the line of text that was read last
	var open *Comment
	for number, line := range strings.Split(edited, "\n") {
		line = strings.TrimSuffix(line, "\r")
		if said, is := strings.CutPrefix(line, ">"); is {
			if open == nil {
				found = append(found, commentAt(lines, at))
				open = &found[len(found)-1]
			}
			open.Text += strings.TrimPrefix(said, " ") + "\n"
			continue
		}
		open = nil
		if strings.TrimSpace(line) == "" {
			continue // of an editor, or an empty line that lost its blank
		}
		next := at + 1
		for next < len(lines) && strings.TrimRight(lines[next].text, " \t\r") != strings.TrimRight(line, " \t") {
			next++
		}
		if next == len(lines) {
			return nil, &EditedError{Number: number + 1, Line: line}
		}
		at = next
	}
	for i := range found {
		found[i].Text = strings.TrimSpace(found[i].Text)
	}
	return slices.DeleteFunc(found, func(c Comment) bool { return c.Text == "" }), nil
}

// place is a line of a patch, and where it stands.
type place struct {
	text   string
	path   string // of the file, "" above the first one
	number int    // in the file as it is or, of a removed line, was; 0 for none of the file
	kind   byte   // '+', '-' or ' ', 0 for none of the file
	hunk   int
}

var hunkHead = lazyregexp.New(`^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@`)

// placesOf reads a patch.
func placesOf(text string) []place {
	var all []place
	path, was, is, hunk := "", 0, 0, 0
	leftOld, leftNew := 0, 0 // lines of the hunk that are to come
	for _, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		one := place{text: line, path: path}
		inHunk := leftOld > 0 || leftNew > 0
		switch {
		case inHunk && strings.HasPrefix(line, "+"):
			one.kind, one.number, is, leftNew = '+', is, is+1, leftNew-1
		case inHunk && strings.HasPrefix(line, "-"):
			one.kind, one.number, was, leftOld = '-', was, was+1, leftOld-1
		case inHunk && !strings.HasPrefix(line, `\`):
			one.kind, one.number = ' ', is
			is, was, leftOld, leftNew = is+1, was+1, leftOld-1, leftNew-1
		case strings.HasPrefix(line, "diff --git "):
			path = ""
			if _, after, ok := strings.Cut(line, " b/"); ok {
				path = after
			}
			one.path = path
		case strings.HasPrefix(line, "+++ "):
			if named, ok := strings.CutPrefix(unquoted(line[4:]), "b/"); ok {
				path, one.path = named, named
			}
		case strings.HasPrefix(line, "--- "):
			if named, ok := strings.CutPrefix(unquoted(line[4:]), "a/"); ok {
				path, one.path = named, named
			}
		case strings.HasPrefix(line, "@@ "):
			if m := hunkHead.FindStringSubmatch(line); m != nil {
				was, is = atoi(m[1]), atoi(m[2])
				leftOld, leftNew = hunkLengths(line)
				hunk++
			}
		}
		one.hunk = hunk
		all = append(all, one)
	}
	return all
}

// unquoted is the name of a file as git writes it: in quotes where it has odd characters, with a tab behind it where it
// has blanks.
func unquoted(name string) string {
	name = strings.TrimSuffix(name, "\t")
	if plain, err := strconv.Unquote(name); err == nil {
		return plain
	}
	return name
}

func atoi(digits string) int {
	n, _ := strconv.Atoi(digits)
	return n
}

// hunkLengths are how many lines a hunk has of the state before and after it.
func hunkLengths(head string) (before, after int) {
	length := func(word string) int {
		_, n, found := strings.Cut(word, ",")
		if !found {
			return 1
		}
		return atoi(n)
	}
	fields := strings.Fields(head)
	return length(fields[1]), length(fields[2])
}

// excerptLines is how many lines an excerpt has at most.
const excerptLines = 3

// commentAt is a comment on the line at an index.
func commentAt(lines []place, at int) Comment {
	if at < 0 {
		return Comment{}
	}
	here := lines[at]
	if here.kind == 0 {
		return Comment{Path: here.path}
	}
	first := at
	for first > 0 && at-first < excerptLines-1 && lines[first-1].hunk == here.hunk && (lines[first-1].kind == '-') == (here.kind == '-') && lines[first-1].kind != 0 {
		first--
	}
	var excerpt []string
	for _, l := range lines[first : at+1] {
		text := ""
		if l.text != "" { // a blank of the patch that an editor took
			text = l.text[1:]
		}
		excerpt = append(excerpt, text)
	}
	return Comment{Path: here.path, First: lines[first].number, Last: here.number, Removed: here.kind == '-', Excerpt: strings.Join(excerpt, "\n")}
}

// On is a comment on lines of a patch, which are counted from 0. It is about what stands in the file now unless all of them
// are removed ones, and about the file or all of it where none is a line of one. Lines of another hunk than the last are left out.
func On(patch string, first, last int, text string) Comment {
	lines := placesOf(patch)
	last = min(last, len(lines)-1)
	if last < 0 {
		return Comment{Text: text}
	}
	c := Comment{Path: lines[last].path, Text: text, Removed: true}
	var here []place
	for _, l := range lines[max(min(first, last), 0) : last+1] {
		if l.kind != 0 && l.hunk == lines[last].hunk {
			here = append(here, l)
			c.Removed = c.Removed && l.kind == '-'
		}
	}
	var excerpt []string
	for _, l := range here {
		if l.kind == '-' && !c.Removed {
			continue
		}
		if c.First == 0 {
			c.First = l.number
		}
		c.Last = l.number
		excerpt = append(excerpt, strings.TrimPrefix(l.text, string(l.kind)))
	}
	c.Removed, c.Excerpt = c.Removed && len(here) > 0, strings.Join(excerpt, "\n")
	return c
}
