package main

import (
	"fmt"
	"io"
	"strings"
	"sync"

	"paw/config/display"
)

// terminalSize returns the columns and rows of the terminal of standard output.
func (p *printer) terminalSize() (width, height int) {
	out := p.stdout
	if writer, is := out.(inFront); is {
		out = writer.behind()
	}
	return sizeOf(out)
}

// lineBelow is a line at the end of standard error, which is removed before anything else is
// printed.
type lineBelow struct {
	out   *printer
	shown string
}

// show draws the line, cut to the terminal.
func (l *lineBelow) show(text string) {
	width, _ := l.out.terminalSize()
	if text = columns.Cut(text, width-1); text != l.shown {
		fmt.Fprint(l.out.stderr, "\r"+text+"\x1b[K")
	}
	l.shown = text
}

// clear removes the line.
func (l *lineBelow) clear() {
	if l.shown != "" {
		fmt.Fprint(l.out.stderr, "\r\x1b[K")
	}
	l.shown = ""
}

// enterScreen switches to the alternate screen and hides the cursor; leave undoes both, once.
func (p *printer) enterScreen() (leave func()) {
	_, _ = io.WriteString(p.stdout, "\x1b[?1049h\x1b[?25l")
	return sync.OnceFunc(func() { _, _ = io.WriteString(p.stdout, "\x1b[?25h\x1b[?1049l") })
}

// drawScreen draws lines over the last ones, in one write to prevent flicker. If there are more
// lines than rows, the last row counts the lines that are left out.
func (p *printer) drawScreen(lines []string, height int) error {
	if over := len(lines) - height; over > 0 {
		lines = append(lines[:height-1:height-1], fmt.Sprintf("%s %d more lines", display.Ellipsis, over+1))
	}
	_, err := io.WriteString(p.stdout, "\x1b[H"+strings.Join(lines, "\x1b[K\r\n")+"\x1b[K\x1b[J")
	return err
}
