// Package review turns comments on lines of a diff into one prompt. It reads and writes no files.
//
// Begin with Comment, then Comments, which finds the commented lines.
package review

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"paw/config/lazyregexp"
	"paw/session/turn"
)

// ForEditor returns a patch for the user to comment in an editor: with instructions at its top, and
// without binary data and index lines.
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

// EditedError is a line in an edited patch that is neither from the patch nor a comment.
type EditedError struct {
	Number int
	Line   string
}

func (e *EditedError) Error() string {
	return fmt.Sprintf("line %d is neither of the patch nor a comment, which begins with >: %q", e.Number, e.Line)
}

// Comments finds the comments that the user wrote into a text of ForEditor. Lines may be deleted;
// any other change is an *EditedError. A comment is about the line above it; the excerpt has up to
// two more lines of the same kind.
func Comments(text, edited string) ([]Comment, error) {
	lines := placesOf(text)
	var found []Comment
	at := -1 // index of the last line that was found in text
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
			continue // an editor added the line, or removed the space of an empty context line
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

// place is a line of a patch with its position.
type place struct {
	text   string
	path   string // path of the file, "" before the first file
	number int    // line number in the new file or, for a removed line, in the old one; 0 for other lines
	kind   byte   // '+', '-' or ' '; 0 for lines outside of hunks
	hunk   int
	gone   bool // the file was deleted
}

var hunkHead = lazyregexp.New(`^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@`)

func placesOf(text string) []place {
	var all []place
	path, was, is, hunk, gone := "", 0, 0, 0, false
	leftOld, leftNew := 0, 0 // remaining lines of the hunk
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
			path, gone = "", false
			if _, after, ok := strings.Cut(line, " b/"); ok {
				path = after
			}
			one.path = path
		case strings.HasPrefix(line, "deleted file mode ") && len(all) > 0:
			gone = true
			all[len(all)-1].gone = true // the line with the names of the file
		case strings.HasPrefix(line, "+++ "):
			if named, ok := strings.CutPrefix(unquoted(line[4:]), "b/"); ok {
				path, one.path = named, named
			}
		case strings.HasPrefix(line, "--- "):
			if named, ok := strings.CutPrefix(unquoted(line[4:]), "a/"); ok {
				path, one.path = named, named
			}
		case strings.HasPrefix(line, "@@ "):
			if m := hunkHead().FindStringSubmatch(line); m != nil {
				was, is = atoi(m[1]), atoi(m[3])
				leftOld, leftNew = atoi(cmp.Or(m[2], "1")), atoi(cmp.Or(m[4], "1"))
				hunk++
			}
		}
		one.hunk, one.gone = hunk, gone
		all = append(all, one)
	}
	return all
}

// unquoted decodes a file name in a patch: git quotes names with unusual characters, and adds a tab
// to names with spaces.
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

const excerptLines = 3

// commentAt returns a comment on the line with index at.
func commentAt(lines []place, at int) Comment {
	if at < 0 {
		return Comment{}
	}
	here, first := lines[at], at
	for here.kind != 0 && first > 0 && at-first < excerptLines-1 && lines[first-1].hunk == here.hunk && (lines[first-1].kind == '-') == (here.kind == '-') && lines[first-1].kind != 0 {
		first--
	}
	return about(lines[first : at+1])
}

// On returns a comment on lines of a patch, counted from 0. It is about lines of the new file, or
// of the old one if all are removed lines, or about the file or the whole work where none is a line
// of a file. Lines of other hunks than the last line's are ignored.
func On(patch string, first, last int, text string) Comment {
	lines, c := placesOf(patch), Comment{}
	if last = min(last, len(lines)-1); last >= 0 {
		c = about(lines[max(min(first, last), 0) : last+1])
	}
	c.Text = text
	return c
}

// about returns a comment on lines, without its text.
func about(lines []place) Comment {
	last := lines[len(lines)-1]
	c := Comment{Path: last.path, Removed: true}
	var here []place
	for _, l := range lines {
		if l.kind != 0 && l.hunk == last.hunk {
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
		excerpt = append(excerpt, strings.TrimPrefix(l.text, string(l.kind))) // an editor removes the space of an empty context line
	}
	if len(here) == 0 {
		c.Removed = last.gone
	}
	c.Excerpt = strings.Join(excerpt, "\n")
	return c
}

// Lines are where comments stand in a patch, counted from 0: the last line that each is about, the
// first one of its file where it is about that, and of the patch where it is about all of it. It is
// -1 where the patch does not have what was commented.
func Lines(patch string, list []Comment) []int {
	lines := placesOf(patch)
	found := make([]int, len(list))
	for i, c := range list {
		found[i] = slices.IndexFunc(lines, func(l place) bool {
			if l.path != c.Path || c.First == 0 {
				return l.path == c.Path
			}
			excerpt := strings.Split(c.Excerpt, "\n")
			return l.number == c.Last && l.kind != 0 && (l.kind == '-') == c.Removed && l.text[1:] == excerpt[len(excerpt)-1]
		})
	}
	return found
}

// Comment is a comment of the user on lines of an agent's work.
type Comment struct {
	Path    string `json:"path"`  // "" for a comment on the whole work
	First   int    `json:"first"` // first and last line, counted from 1; 0 for a comment on the file
	Last    int    `json:"last"`
	Removed bool   `json:"removed,omitempty"` // the lines, or the file, were removed: the numbers are those in the old file
	// Excerpt has the lines as they were when commented.
	Excerpt string `json:"excerpt,omitempty"`
	Text    string `json:"text"`
	Commit  string `json:"commit,omitempty"` // commit that was commented
}

// Place formats what a comment is about: "src/a.go:3-5", "src/a.go", or "" for the whole work.
func (c Comment) Place() string {
	place := c.Path
	switch {
	case c.Path == "" || c.First == 0:
	case c.First == c.Last:
		place += fmt.Sprintf(":%d", c.First)
	default:
		place += fmt.Sprintf(":%d-%d", c.First, c.Last)
	}
	if c.Removed {
		place += " (removed)"
	}
	return place
}

// Stale reports whether the commented lines have changed. now is the present content of the file,
// exists whether the file exists. Comments on removed lines, and on a whole file that exists, are
// never stale.
func (c Comment) Stale(now string, exists bool) bool {
	switch {
	case c.Path == "" || c.Removed:
		return false
	case !exists:
		return true
	case c.First == 0 || c.Excerpt == "":
		return false
	}
	lines := strings.Split(now, "\n")
	want := strings.Split(c.Excerpt, "\n")
	if c.First < 1 || c.First-1+len(want) > len(lines) {
		return true
	}
	for i, line := range want {
		if strings.TrimSuffix(lines[c.First-1+i], "\r") != strings.TrimSuffix(line, "\r") {
			return true
		}
	}
	return false
}

// Since describes the change that makes a comment stale. Without an excerpt only the deletion of
// the file is noticed.
func (c Comment) Since() string {
	if c.Excerpt == "" {
		return "it is no longer there"
	}
	return "these lines have changed since"
}

// Without removes sent comments from a list; each removes one equal comment.
func Without(list, sent []Comment) []Comment {
	sent = slices.Clone(sent)
	var left []Comment
	for _, c := range list {
		if i := slices.Index(sent, c); i >= 0 {
			sent = slices.Delete(sent, i, i+1)
		} else {
			left = append(left, c)
		}
	}
	return left
}

// Prompt formats comments as a prompt; stale reports whether the lines of a comment have changed.
func Prompt(comments []Comment, stale func(Comment) bool) string {
	var b strings.Builder
	b.WriteString(turn.ReviewLine(len(comments)) + "\n")
	for i, c := range comments {
		fmt.Fprintf(&b, "\n%d.", i+1)
		if place := c.Place(); place != "" {
			b.WriteString(" " + place)
		}
		if stale(c) {
			b.WriteString(" (" + c.Since())
			if c.Excerpt != "" {
				b.WriteString("; this is what they were")
			}
			b.WriteString(")")
		}
		b.WriteString("\n")
		if c.Excerpt != "" {
			fence := fenceFor(c.Excerpt)
			b.WriteString(fence + "\n" + c.Excerpt + "\n" + fence + "\n")
		}
		b.WriteString(strings.TrimSpace(c.Text) + "\n")
	}
	return b.String()
}

// fenceFor returns a Markdown fence that does not occur in a text.
func fenceFor(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence
}
