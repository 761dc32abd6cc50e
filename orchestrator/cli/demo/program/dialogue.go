package program

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"paw/orchestrator/cli"
	"paw/session/history"
)

// escapeDelay separates the Escape key from an escape sequence that the terminal sends for another
// key.
const escapeDelay = 100 * time.Millisecond

// dialogue is the agent in conversation with its user. One goroutine owns it and the screen.
type dialogue struct {
	*agent
	*terminal
	decoder decoder
	line    string // input line; on the screen when no turn runs
	queue   []string
	turn    *turn // running turn; its channels are nil when no turn runs
	asking  bool
	silent  bool // the running turn has printed nothing yet
	warned  bool // the last key was Ctrl-C at an empty prompt
	closed  bool // the input has ended
	leave   bool
	code    int // exit code, used when leave is set
}

// interactive talks with the user until the program is to end, and returns the exit code.
func (a *agent) interactive(begin Entry, o options, signals <-chan os.Signal, in io.Reader, out io.Writer) int {
	t := openTerminal(in, out)
	defer t.close()
	stop := make(chan struct{})
	defer close(stop)
	chunks := readChunks(in, stop)

	d := &dialogue{agent: a, terminal: t, decoder: decoder{lines: !t.raw}, turn: &turn{}}
	if o.asks && !d.trusted(chunks, signals) {
		return d.code
	}
	a.emit(begin) // pasted prompts are taken from here on
	if cli.Getenv(a.env, "DEMO_DEAF") == "1" {
		d.deaf(chunks)
	}
	t.print("demo agent in " + a.dir + "\nconversation " + a.conversation.id + "\n")
	if t.raw {
		t.print("Type anything; /help shows what else I can do.\n")
	}
	d.replay()
	if prompt := strings.TrimSpace(o.prompt); prompt != "" {
		d.queue = []string{prompt}
	}
	d.next()
	for !d.leave {
		d.step(chunks, signals)
	}
	t.print("\n")
	return d.code
}

// trusted asks whether to trust the folder. Other CLIs ask that in a new folder, before they report
// anything.
func (d *dialogue) trusted(chunks <-chan []byte, signals <-chan os.Signal) bool {
	d.print("Do you trust the files in this folder? [y/n] ")
	for {
		select {
		case chunk, ok := <-chunks:
			if !ok || bytes.ContainsAny(chunk, "nN\x03\x1b") {
				d.print("n\n")
				return false
			}
			if bytes.ContainsAny(chunk, "yY") {
				d.print("y\n")
				return true
			}
		case s := <-signals:
			if !d.ignores(s) {
				d.code = signalError{s.(syscall.Signal)}.code()
				return false
			}
		}
	}
}

// emptyScreen is how long the screen stays empty before everything is drawn anew.
const emptyScreen = 500 * time.Millisecond

// deaf shows an input line, loses the first paste, and draws everything anew.
func (d *dialogue) deaf(chunks <-chan []byte) {
	d.print("> ")
	for chunk := range chunks {
		if bytes.HasSuffix(chunk, []byte(pasteEnd)) {
			break
		}
	}
	d.print("\x1b[2J\x1b[H")
	time.Sleep(emptyScreen)
}

// replay prints the messages of a resumed conversation.
func (d *dialogue) replay() {
	for _, e := range d.conversation.resumed {
		switch {
		case e.Role == history.RoleUser:
			d.print(spoken("you", e.Content))
		case e.Role == history.RoleAssistant:
			d.print(spoken("demo", e.Content))
		case e.Event == interrupted:
			d.print(spoken("demo", "interrupted"))
		case e.Event == failed:
			d.print(spoken("demo", "error: "+e.Error))
		}
	}
}

// step handles the next key, output of the turn or signal.
func (d *dialogue) step(chunks <-chan []byte, signals <-chan os.Signal) {
	// Input that is no terminal waits while a turn runs, so that a script's answers reach the
	// questions that they are for.
	listening := d.raw || !d.busy() || d.asking
	if listening && len(d.decoder.keys) > 0 {
		k := d.decoder.keys[0]
		d.decoder.keys = d.decoder.keys[1:]
		d.press(k)
		return
	}
	if listening && d.closed && !d.raw {
		d.endOfInput()
		return
	}
	if !listening || d.closed {
		chunks = nil
	}
	var settled <-chan time.Time
	if len(d.decoder.sequence) > 0 {
		settled = time.After(escapeDelay)
	}
	select {
	case chunk, ok := <-chunks:
		d.closed = !ok
		d.decoder.feed(chunk)
		if d.closed && d.raw { // a terminal that ends was lost
			d.signal(syscall.SIGHUP)
		}
	case <-settled:
		d.decoder.settle()
	case text := <-d.turn.said:
		d.silent = false
		d.show(spoken("demo", text))
	case question := <-d.turn.asked:
		d.asking = true
		d.show(question + " [y/n] ")
	case err := <-d.turn.done:
		d.finished(err)
	case s := <-signals:
		d.signal(s)
	}
}

// show prints text while a turn runs, above the input line.
func (d *dialogue) show(text string) {
	d.wipe()
	d.print(text)
	if d.raw && !d.asking {
		d.print(visible(d.line))
	}
}

// wipe removes the input line from the screen while a turn runs, if it fits into one row.
func (d *dialogue) wipe() {
	if d.raw && d.line != "" {
		d.print("\r\x1b[K")
	}
}

func (d *dialogue) busy() bool { return d.turn.done != nil }

// next begins the first queued turn, or shows the prompt mark.
func (d *dialogue) next() {
	if len(d.queue) == 0 {
		d.print("> " + visible(d.line))
		return
	}
	prompt := d.queue[0]
	d.queue = d.queue[1:]
	d.print("> " + visible(prompt) + "\n")
	if d.raw {
		d.print(visible(d.line))
	}
	d.submit(prompt)
}

func (d *dialogue) submit(prompt string) {
	switch prompt {
	case "/exit":
		d.leave = true
	case "/help":
		d.print(spoken("demo", help))
		d.next()
	default:
		d.turn, d.silent = d.begin(prompt), true
	}
}

// finished shows the end of a turn that failed or was interrupted, and goes on with the next
// prompt.
func (d *dialogue) finished(err error) {
	prompt := d.turn.prompt
	d.turn = &turn{}
	d.wipe()
	if d.asking {
		d.asking = false
		d.print("\n")
	}
	var exit exitRequest
	switch {
	case errors.As(err, &exit):
		d.leave, d.code = true, exit.code
		return
	case errors.As(err, new(signalError)):
		d.print(spoken("demo", "interrupted"))
		if d.silent && d.line == "" && cli.Getenv(d.env, "DEMO_PUT_BACK") == "1" {
			d.line = prompt
		}
	case err != nil:
		d.print(spoken("demo", "error: "+err.Error()))
	}
	d.next()
}

// signal interrupts the turn on SIGINT; after any other signal the program ends, once the turn has
// ended.
func (d *dialogue) signal(s os.Signal) {
	switch {
	case s == syscall.SIGINT:
		d.press(key{special: keyInterrupt})
		return
	case d.ignores(s):
		return
	}
	end := signalError{s.(syscall.Signal)}
	if d.busy() {
		d.turn.cancel(end)
		_ = <-d.turn.done //nolint:staticcheck // only its end matters
	}
	d.leave, d.code = true, end.code()
}

// endOfInput refuses an open question, submits an unfinished line, or else ends the program.
func (d *dialogue) endOfInput() {
	switch {
	case d.asking:
		d.answer(false)
	case d.line != "":
		d.press(key{special: keyEnter})
	default:
		d.leave = true
	}
}

func (d *dialogue) press(k key) {
	if d.asking {
		d.pressInDialog(k)
		return
	}
	warned := d.warned
	d.warned = false
	switch k.special {
	case 0, keyPaste:
		d.line += k.text
		if d.raw {
			d.print(visible(k.text))
		}
	case keyEnter:
		d.enter()
	case keyBackspace:
		_, size := utf8.DecodeLastRuneInString(d.line)
		d.edit(d.line[:len(d.line)-size])
	case keyClear:
		d.edit("")
	case keyEscape:
		d.interrupt()
	case keyInterrupt:
		switch {
		case d.interrupt():
		case warned:
			d.leave = true
		default:
			d.warned = true
			d.print("\npress Ctrl-C again to leave\n> ")
		}
	case keyEnd:
		d.leave = !d.busy() && d.line == ""
	}
}

// enter submits the input line: at once, or queued while a turn runs.
func (d *dialogue) enter() {
	prompt := strings.TrimSpace(d.line)
	if d.busy() {
		d.wipe()
	}
	d.line = ""
	switch {
	case d.busy() && prompt != "":
		d.queue = append(d.queue, prompt)
		d.print(spoken("queued", prompt))
	case d.busy():
	case prompt == "":
		d.print("\n> ")
	default:
		d.print("\n")
		d.submit(prompt)
	}
}

// edit replaces the input line. It may span several rows: it is printed again below, which works
// without knowing the width.
func (d *dialogue) edit(line string) {
	switch {
	case line == d.line:
	case !d.busy():
		d.print("\n> " + visible(line))
	case d.raw:
		d.wipe()
		d.print(visible(line))
	}
	d.line = line
}

// interrupt ends the running turn, or else empties the input line; false when there was neither.
func (d *dialogue) interrupt() bool {
	if d.busy() {
		d.turn.cancel(signalError{syscall.SIGINT})
		return true
	}
	typed := d.line != ""
	d.edit("")
	return typed
}

// pressInDialog accepts y, n and the keys that interrupt; it ignores others, as the dialogs of
// other agents do.
func (d *dialogue) pressInDialog(k key) {
	switch {
	case k.special == keyEscape, k.special == keyInterrupt:
		d.interrupt()
	case k.special == 0 && strings.ContainsRune("yY", rune(k.text[0])):
		d.answer(true)
	case k.special == 0 && strings.ContainsRune("nN", rune(k.text[0])):
		d.answer(false)
	}
}

func (d *dialogue) answer(granted bool) {
	d.asking = false
	d.print(letter(granted) + "\n")
	d.turn.answers <- granted
}
