package plain

import (
	"errors"
	"io"
	"os"
	"strings"
	"syscall"
	"time"

	"paw/session/history"
)

// escapeDelay separates the Escape key from an escape sequence that the terminal sends for another
// key.
const escapeDelay = 100 * time.Millisecond

// leaveGrace is how long a program that ends waits for its turn.
const leaveGrace = 5 * time.Second

// Dialogue is an agent in conversation with its user. One goroutine owns it and the screen.
type Dialogue struct {
	*terminal
	Name     string // of the agent, before what it says
	Record   *Record
	Begin    func(prompt string) *Turn
	Commands map[string]string    // prompts that begin no turn, with what is said instead; "" ends the program
	Orders   chan func()          // called by the dialogue, between two keys
	Ignores  func(os.Signal) bool // signals that do nothing
	PutsBack bool                 // a prompt that is interrupted before any answer is put back into the input line
	Chunks   <-chan []byte        // what is typed
	Code     int                  // exit code, used when the program is to end

	stop     chan struct{}
	decoder  decoder
	line     string // input line; on the screen when no turn runs
	queue    []string
	turn     *Turn // running turn; its channels are nil when no turn runs
	question Question
	asking   bool
	silent   bool // the running turn has printed nothing yet
	warned   bool // the last key was Ctrl-C at an empty prompt
	closed   bool // the terminal has ended
	leave    bool
	left     *Exit // what ends the program after the running turn, nil for nothing
}

// NewDialogue opens a dialogue, which shows nothing yet. Close restores the mode of the terminal. If in is no terminal, nothing is read
// from it, and Talk returns after the last prompt that it was given.
func NewDialogue(name string, r *Record, in io.Reader, out io.Writer) *Dialogue {
	d := &Dialogue{terminal: openTerminal(in, out), Name: name, Record: r, turn: &Turn{}, stop: make(chan struct{}), Orders: make(chan func())}
	if d.raw {
		d.Chunks = readChunks(in, d.stop)
	}
	return d
}

// Close gives the terminal back.
func (d *Dialogue) Close() {
	close(d.stop)
	d.close()
}

// Talk talks with the user until the program is to end, and returns the exit code.
func (d *Dialogue) Talk(prompt string, signals <-chan os.Signal) int {
	d.replay()
	if prompt = strings.TrimSpace(prompt); prompt != "" {
		d.queue = []string{prompt}
	}
	d.next()
	for !d.leave {
		d.step(signals)
	}
	d.Print("\n")
	return d.Code
}

// Tell prints a notice above the input line.
func (d *Dialogue) Tell(text string) {
	if d.busy() {
		d.show(d.spoken(text))
		return
	}
	d.Print("\r\x1b[K" + d.spoken(text))
	d.next()
}

// Give begins a turn, or queues the prompt behind the running one.
func (d *Dialogue) Give(prompt string) {
	if d.busy() {
		d.enqueue(prompt)
		return
	}
	d.Print("\r\x1b[K")
	d.queue = append(d.queue, prompt)
	d.next()
}

// Answer takes the key with that index for an answer to the question with that id, if it is open.
func (d *Dialogue) Answer(id string, n int) {
	if d.asking && d.question.ID == id && n < len(d.question.Keys) {
		d.answer(n)
	}
}

// Leave ends the program, after the turn that runs.
func (d *Dialogue) Leave(err Exit) {
	if d.left = &err; !d.busy() {
		d.finished(err)
	}
}

func (d *Dialogue) spoken(text string) string { return spoken(d.Name, text) }

// replay prints the messages of a resumed conversation.
func (d *Dialogue) replay() {
	for _, e := range Joined(d.Record.resumed) {
		switch {
		case e.Type == TypeQueued:
			d.Print(spoken("queued", e.Content))
		case e.Type == TypeTool:
			d.Print(toolLine(e.Content))
		case e.Role == history.RoleUser:
			d.Print(spoken("you", e.Content))
		case e.Role == history.RoleAssistant:
			d.Print(d.spoken(e.Content))
		case e.Event == Interrupted:
			d.Print(d.spoken("interrupted"))
		case e.Event == Failed:
			d.Print(d.spoken("error: " + e.Error))
		}
	}
}

// step handles the next key, output of the turn or signal.
func (d *Dialogue) step(signals <-chan os.Signal) {
	if len(d.decoder.keys) > 0 {
		k := d.decoder.keys[0]
		d.decoder.keys = d.decoder.keys[1:]
		d.press(k)
		return
	}
	chunks := d.Chunks
	if d.closed {
		chunks = nil
	}
	var settled <-chan time.Time
	if len(d.decoder.sequence) > 0 {
		settled = time.After(escapeDelay)
	}
	select {
	case chunk, ok := <-chunks:
		d.decoder.feed(chunk)
		if d.closed = !ok; d.closed { // it was lost
			d.signal(syscall.SIGHUP)
		}
	case <-settled:
		d.decoder.settle()
	case do := <-d.Orders:
		do()
	case said := <-d.turn.Said:
		d.silent = false
		switch text := d.spoken(said.Text); {
		case said.Tool:
			d.show(toolLine(said.Text))
		case said.More:
			d.show(strings.Repeat(" ", len(d.Name)+2) + strings.TrimPrefix(text, d.Name+": "))
		default:
			d.show(text)
		}
	case d.question = <-d.turn.Asked:
		d.wipe()
		d.asking = true
		d.Print(d.question.prompt())
	case err := <-d.turn.Done:
		d.finished(err)
	case s := <-signals:
		d.signal(s)
	}
}

// show prints text while a turn runs, above the input line or the question.
func (d *Dialogue) show(text string) {
	if d.asking {
		d.Print("\n" + text + d.question.prompt())
		return
	}
	d.wipe()
	d.Print(text + Visible(d.line))
}

// wipe removes the input line from the screen while a turn runs, if it fits into one row.
func (d *Dialogue) wipe() {
	if d.line != "" {
		d.Print("\r\x1b[K")
	}
}

func (d *Dialogue) busy() bool { return d.turn.Done != nil }

// next begins the first queued turn, or shows the prompt mark.
func (d *Dialogue) next() {
	if len(d.queue) == 0 {
		d.Print("> " + Visible(d.line))
		d.leave = !d.raw
		return
	}
	prompt := d.queue[0]
	d.queue = d.queue[1:]
	d.Print("> " + Visible(prompt) + "\n" + Visible(d.line))
	d.submit(prompt)
}

func (d *Dialogue) submit(prompt string) {
	switch said, known := d.Commands[prompt]; {
	case known && said == "":
		d.leave = true
	case known:
		d.Print(d.spoken(said))
		d.next()
	default:
		d.turn, d.silent = d.Begin(prompt), true
	}
}

// finished shows the end of a turn that failed or was interrupted, and goes on with the next
// prompt.
func (d *Dialogue) finished(err error) {
	prompt := d.turn.Prompt
	d.turn = &Turn{}
	d.wipe()
	if d.asking {
		d.asking = false
		d.Print("\n")
	}
	if d.left != nil {
		err = *d.left
	}
	var exit Exit
	switch {
	case errors.As(err, &exit):
		d.leave, d.Code = true, exit.Code
		if exit.Why != "" {
			d.Print(d.spoken("error: " + exit.Why))
		}
		return
	case errors.As(err, new(Signal)):
		d.Print(d.spoken("interrupted"))
		if d.PutsBack && d.silent && d.line == "" {
			d.line = prompt
		}
	case err != nil:
		d.Print(d.spoken("error: " + err.Error()))
	}
	d.next()
}

// signal interrupts the turn on SIGINT; after any other signal the program ends, once the turn has
// ended.
func (d *Dialogue) signal(s os.Signal) {
	switch {
	case s == syscall.SIGINT:
		d.press(key{special: keyInterrupt})
		return
	case d.Ignores(s):
		return
	}
	end := Signal{s.(syscall.Signal)}
	if d.busy() {
		d.turn.Cancel(end)
		select {
		case _ = <-d.turn.Done: //nolint:staticcheck // only its end matters
		case <-time.After(leaveGrace): // it was to end before, and does not
		}
	}
	d.leave, d.Code = true, end.Code()
}
