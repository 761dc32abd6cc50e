package main

import (
	"strings"

	"github.com/rivo/uniseg"
)

// ellipsis stands for what a line has no room for.
const ellipsis = "…"

// columns is how many columns of a terminal text takes: wide characters take two, accents that join others none.
func columns(text string) int { return uniseg.StringWidth(text) }

// cutTo is text in at most width columns, with an ellipsis where some of it is left out. It cuts between characters as
// people see them.
func cutTo(text string, width int) string {
	if columns(text) <= width {
		return text
	}
	if width <= 0 {
		return ""
	}
	head, _ := headOf(text, width-1)
	return head + ellipsis
}

// headOf divides text after as many characters as fit into width columns.
func headOf(text string, width int) (head, rest string) {
	used, rest, state := 0, text, -1
	for rest != "" {
		_, after, w, next := uniseg.FirstGraphemeClusterInString(rest, state)
		if used+w > width {
			break
		}
		used, rest, state = used+w, after, next
	}
	return text[:len(text)-len(rest)], rest
}

// padTo is text followed by spaces up to width columns.
func padTo(text string, width int) string {
	return text + strings.Repeat(" ", max(width-columns(text), 0))
}

// wrapTo is text in at most most lines of width columns, broken at spaces where there are some; the last line is cut
// when there is more.
func wrapTo(text string, width, most int) []string {
	var lines []string
	for text = strings.TrimSpace(text); text != ""; {
		if len(lines) == most-1 || columns(text) <= width {
			return append(lines, cutTo(text, width))
		}
		head, rest := headOf(text, width)
		if head == "" { // a character wider than the line
			return append(lines, cutTo(text, width))
		}
		if space := strings.LastIndexByte(head, ' '); space > 0 && !strings.HasPrefix(rest, " ") {
			head, rest = head[:space], head[space:]+rest
		}
		lines, text = append(lines, strings.TrimRight(head, " ")), strings.TrimLeft(rest, " ")
	}
	return lines
}
