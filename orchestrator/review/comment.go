// Package review makes one prompt of comments on the lines of a diff. It reads and writes nothing.
//
// Begin with Comment, then Patch, which finds the lines that somebody has commented.
package review

import (
	"fmt"
	"slices"
	"strings"

	"paw/session/turn"
)

// Comment is what the user says about some lines of what an agent has done.
type Comment struct {
	Path    string `json:"path"`  // "" for a comment on all of it
	First   int    `json:"first"` // numbers of its lines, from 1; 0 for a comment on the file
	Last    int    `json:"last"`
	Removed bool   `json:"removed,omitempty"` // the lines are no longer there: the numbers are those of the state before
	// Excerpt are the lines as they were, which say what is meant also when they have changed.
	Excerpt string `json:"excerpt,omitempty"`
	Text    string `json:"text"`
	Commit  string `json:"commit,omitempty"` // state that was commented
}

// Place names what a comment is about: "src/a.go:3-5", "src/a.go", "" for all of it.
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

// Stale reports whether the lines of a comment are others by now. now is the content of the file, exists whether there is
// one. Of removed lines, and of a whole file that is there, nobody can tell.
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

// Since says what has become of what a stale comment is about. Of a file without an excerpt only its end is noticed.
func (c Comment) Since() string {
	if c.Excerpt == "" {
		return "it is no longer there"
	}
	return "these lines have changed since"
}

// Without are the comments of a list but for those that were sent. Each of these takes away one that is the same.
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

// Prompt is the prompt of some comments; stale says of each whether its lines have changed since.
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

// fenceFor is a fence that does not stand in a text.
func fenceFor(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence
}
