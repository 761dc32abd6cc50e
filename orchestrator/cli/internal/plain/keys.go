package plain

import (
	"bytes"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"paw/config/display"
	"paw/orchestrator/cli/internal/questions"
)

// key is typed or pasted text, or one of the special keys below.
type key struct {
	special byte // 0 for text
	text    string
}

const (
	keyInterrupt = 0x03 // Ctrl-C
	keyEnd       = 0x04 // Ctrl-D
	keyEnter     = '\r'
	keyClear     = 0x15 // Ctrl-U
	keyPaste     = 0x16 // stands for a paste, in a key with text; the byte itself means nothing
	keyEscape    = 0x1b
	keyBackspace = 0x7f
)

// What a terminal puts around what it pastes.
const (
	pasteBegin = "\x1b[200~"
	pasteEnd   = "\x1b[201~"
)

// decoder turns the bytes of a terminal into keys, however the bytes are split into chunks.
type decoder struct {
	sequence []byte // an incomplete escape sequence
	pasting  bool
	paste    []byte
	keys     []key // complete keys that nobody has read yet
}

func (d *decoder) feed(chunk []byte) {
	for _, b := range chunk {
		switch {
		case d.pasting:
			d.inPaste(b)
		case len(d.sequence) > 0:
			d.inSequence(b)
		default:
			d.plain(b)
		}
	}
}

// settle ends the wait for the rest of an escape sequence: the byte was the Escape key.
func (d *decoder) settle() {
	if len(d.sequence) > 0 {
		d.sequence = nil
		d.add(keyEscape, "")
	}
}

// inPaste collects a paste and normalises its line ends: terminals send line feeds or carriage
// returns.
func (d *decoder) inPaste(b byte) {
	d.paste = append(d.paste, b)
	if text, ended := bytes.CutSuffix(d.paste, []byte(pasteEnd)); ended {
		d.add(keyPaste, strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(string(text)))
		d.pasting, d.paste = false, nil
	}
}

func (d *decoder) inSequence(b byte) {
	first := len(d.sequence) == 1
	switch {
	case first && (b == '[' || b == 'O'), !first && d.sequence[1] == '[' && b >= ' ' && b < '@':
		d.sequence = append(d.sequence, b)
	case first, b < ' ': // the Escape key, directly followed by another key
		d.settle()
		d.plain(b)
	default: // arrow and function keys are ignored
		d.pasting = string(d.sequence)+string(b) == pasteBegin
		d.sequence = nil
	}
}

func (d *decoder) plain(b byte) {
	switch {
	case b == keyEscape:
		d.sequence = []byte{b}
	case b == '\b':
		d.add(keyBackspace, "")
	case b == keyEnter, b == keyInterrupt, b == keyEnd, b == keyClear, b == keyBackspace:
		d.add(b, "")
	case b >= ' ', b == '\t', b == '\n':
		d.add(0, string([]byte{b}))
	}
}

// add appends a key; consecutive text is joined.
func (d *decoder) add(special byte, text string) {
	if n := len(d.keys); n > 0 && special == 0 && d.keys[n-1].special == 0 {
		d.keys[n-1].text += text
		return
	}
	d.keys = append(d.keys, key{special, text})
}

// readChunks sends what it reads from in until in ends, then closes the channel. Closing stop makes
// it give up; a read in progress cannot be cancelled and lasts until the input or the program ends.
func readChunks(in io.Reader, stop <-chan struct{}) <-chan []byte {
	chunks := make(chan []byte)
	go func() {
		defer close(chunks)
		for {
			buffer := make([]byte, 4096)
			n, err := in.Read(buffer)
			select {
			case chunks <- buffer[:n]:
			case <-stop:
				return
			}
			if err != nil {
				return
			}
		}
	}()
	return chunks
}

// terminal is the agent's output.
type terminal struct {
	out   io.Writer
	raw   bool // it is a terminal: keys arrive one by one, and line ends need a carriage return
	close func()
}

// IsTerminal reports whether in is a terminal, not a pipe or a file.
func IsTerminal(in io.Reader) bool {
	f, ok := in.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// openTerminal switches a terminal to raw mode with bracketed paste. Any other input is not read.
func openTerminal(in io.Reader, out io.Writer) *terminal {
	t := &terminal{out: out, close: func() {}}
	if !IsTerminal(in) {
		return t
	}
	f := in.(*os.File)
	before, err := term.MakeRaw(int(f.Fd()))
	if err != nil {
		return t
	}
	t.raw = true
	t.Print("\x1b[?2004h")
	t.close = func() {
		t.Print("\x1b[?2004l")
		_ = term.Restore(int(f.Fd()), before)
	}
	return t
}

// Print writes text and ignores errors: an agent may survive its terminal.
func (t *terminal) Print(text string) {
	if t.raw {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	_, _ = io.WriteString(t.out, text)
}

// Visible replaces the control characters of a text, so that they do nothing to the terminal.
func Visible(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 || display.Reorders(r) {
			return '·'
		}
		return r
	}, text)
}

// spoken formats a message: on lines of its own, all but the first indented.
func spoken(who, text string) string {
	return who + ": " + strings.ReplaceAll(Visible(text), "\n", "\n"+strings.Repeat(" ", len(who)+2)) + "\n"
}

// toolLine formats a call of a tool.
func toolLine(title string) string { return Visible("· "+questions.Title(title)) + "\n" }
