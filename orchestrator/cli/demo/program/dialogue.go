package program

import (
	"bytes"
	"io"
	"os"
	"syscall"

	"paw/orchestrator/cli"
	"paw/orchestrator/cli/internal/plain"
)

// interactive talks with the user until the program is to end, and returns the exit code.
func (a *agent) interactive(begin plain.Entry, o options, signals <-chan os.Signal, in io.Reader, out io.Writer) int {
	d := plain.NewDialogue("demo", a.record, in, out)
	defer d.Close()
	d.Begin = func(prompt string) *plain.Turn { return plain.NewTurn(prompt, (&work{agent: a}).run) }
	d.Commands, d.Ignores = map[string]string{"/help": help, "/exit": ""}, a.ignores
	d.PutsBack = cli.Getenv(a.env, "DEMO_PUT_BACK") == "1"
	if o.asks && !a.trusted(d, signals) {
		return d.Code
	}
	a.record.Emit(begin) // pasted prompts are taken from here on
	d.Print("demo agent in " + a.dir + "\nconversation " + a.record.ID + "\nType anything; /help shows what else I can do.\n")
	return d.Talk(o.prompt, signals)
}

// trusted asks whether to trust the folder. Other CLIs ask that in a new folder, before they report
// anything.
func (a *agent) trusted(d *plain.Dialogue, signals <-chan os.Signal) bool {
	d.Print(plain.Trust + " [y/n] ")
	for {
		select {
		case chunk, ok := <-d.Chunks:
			if !ok || bytes.ContainsAny(chunk, "nN\x03\x1b") {
				d.Print("n\n")
				return false
			}
			if bytes.ContainsAny(chunk, "yY") {
				d.Print("y\n")
				return true
			}
		case s := <-signals:
			if !a.ignores(s) {
				d.Code = plain.Signal{Signal: s.(syscall.Signal)}.Code()
				return false
			}
		}
	}
}
