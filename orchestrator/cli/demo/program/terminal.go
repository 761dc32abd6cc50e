package program

import (
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// terminal is what the agent shows itself on.
type terminal struct {
	out   io.Writer
	raw   bool // keys arrive one by one, and line ends need a carriage return
	close func()
}

// openTerminal switches a terminal to raw mode with bracketed paste. Anything else than a terminal is read by lines.
func openTerminal(in io.Reader, out io.Writer) *terminal {
	t := &terminal{out: out, close: func() {}}
	f, ok := in.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return t
	}
	before, err := term.MakeRaw(int(f.Fd()))
	if err != nil {
		return t
	}
	t.raw = true
	t.print("\x1b[?2004h")
	t.close = func() {
		t.print("\x1b[?2004l")
		_ = term.Restore(int(f.Fd()), before)
	}
	return t
}

// print shows text. Errors are of no interest: a terminal that is gone must not end an agent that is to outlive it.
func (t *terminal) print(text string) {
	if t.raw {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	_, _ = io.WriteString(t.out, text)
}

// visible replaces control characters, which pasted text may hold, so that they do nothing to the terminal.
func visible(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r == 0x7f {
			return '·'
		}
		return r
	}, text)
}

// spoken is what someone said, on lines of its own, all but the first indented.
func spoken(who, text string) string {
	return who + ": " + strings.ReplaceAll(text, "\n", "\n"+strings.Repeat(" ", len(who)+2)) + "\n"
}
