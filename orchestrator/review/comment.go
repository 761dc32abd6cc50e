// Package review turns comments on lines of a diff into one prompt. It reads and writes no files.
//
// Begin with Comment, then Comments, which finds the commented lines.
package review

import (
	"fmt"
	"slices"
	"strings"

	"paw/session/turn"
)

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
