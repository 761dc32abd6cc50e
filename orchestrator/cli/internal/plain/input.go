package plain

import (
	"strings"
	"syscall"
	"unicode/utf8"
)

func (d *Dialogue) press(k key) {
	if d.asking {
		d.pressInDialog(k)
		return
	}
	warned := d.warned
	d.warned = false
	switch k.special {
	case 0, keyPaste:
		d.line += k.text
		d.Print(Visible(k.text))
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
			d.Print("\npress Ctrl-C again to leave\n> ")
		}
	case keyEnd:
		d.leave = !d.busy() && d.line == ""
	}
}

// enter submits the input line: at once, or queued while a turn runs.
func (d *Dialogue) enter() {
	prompt := strings.TrimSpace(d.line)
	if d.busy() {
		d.wipe()
	}
	d.line = ""
	switch {
	case d.busy() && prompt != "":
		d.enqueue(prompt)
	case d.busy():
	case prompt == "":
		d.Print("\n> ")
	default:
		d.Print("\n")
		d.submit(prompt)
	}
}

// enqueue keeps a prompt until the running turn has ended.
func (d *Dialogue) enqueue(prompt string) {
	d.queue = append(d.queue, prompt)
	d.Record.Append(Entry{Type: TypeQueued, Content: prompt})
	d.show(spoken("queued", prompt))
}

// edit replaces the input line. It may span several rows: it is printed again below, which works
// without knowing the width.
func (d *Dialogue) edit(line string) {
	switch {
	case line == d.line:
	case !d.busy():
		d.Print("\n> " + Visible(line))
	default:
		d.wipe()
		d.Print(Visible(line))
	}
	d.line = line
}

// interrupt ends the running turn, or else empties the input line; false when there was neither.
func (d *Dialogue) interrupt() bool {
	if d.busy() {
		d.turn.Cancel(Signal{syscall.SIGINT})
		return true
	}
	typed := d.line != ""
	d.edit("")
	return typed
}

// pressInDialog accepts the keys of the question and those that interrupt; it ignores others, as the
// dialogs of other agents do.
func (d *Dialogue) pressInDialog(k key) {
	switch k.special {
	case keyEscape, keyInterrupt:
		d.interrupt()
	case 0:
		if n := strings.Index(d.question.Keys, strings.ToLower(k.text[:1])); n >= 0 {
			d.answer(n)
		}
	}
}

// answer takes the key with that index.
func (d *Dialogue) answer(n int) {
	d.asking = false
	d.Print(d.question.Keys[n:n+1] + "\n")
	d.turn.Answers <- n
}
