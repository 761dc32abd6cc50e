package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"paw/config/display"
	"paw/config/lazyregexp"
	"paw/session"
)

// isTerminal reports whether a file is a terminal, or the pager on one.
func isTerminal(w any) bool {
	switch w.(type) {
	case *pager, *prose:
		return true
	}
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// printer prints for people, and as JSON for programs.
type printer struct {
	stdout, stderr io.Writer
	env            []string
	json           bool
	colours        *bool  // nil until asked
	colourFlag     string // auto, always or never
	noPager        bool
	notes          []string // for --json, see note
}

// addJSON gives a command the --json flag.
func (p *printer) addJSON(cmd *cobra.Command) {
	cmd.Flags().BoolVarP(&p.json, "json", "j", false, "print one JSON object, for programs")
}

// note tells what the user would otherwise find out too late: on stderr, or with
// --json as a part of the object.
func (p *printer) note(text string) {
	if p.json {
		p.notes = append(p.notes, text)
		return
	}
	const begin = "paw: note:"
	fmt.Fprintf(p.stderr, "%s %s\n", p.paintError(begin, display.Grey), p.said(begin, display.Printable(text)))
}

// printJSON prints v as one line.
func (p *printer) printJSON(v any) error { return writeJSON(p.stdout, v) }

// writeJSON writes v as one line without any control character: some terminals obey DEL and U+0080 to U+009F, which
// JSON may have as they are.
func writeJSON(w io.Writer, v any) error {
	var line bytes.Buffer
	encoder := json.NewEncoder(&line)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return err
	}
	_, err := io.WriteString(w, controlCharacter.ReplaceAllStringFunc(line.String(), func(c string) string {
		r, _ := utf8.DecodeRuneInString(c)
		return fmt.Sprintf(`\u%04x`, r)
	}))
	return err
}

var controlCharacter = lazyregexp.New(`[\x{7f}-\x{9f}]`)

// orNull is nil for nothing: null in JSON.
func orNull[T comparable](value T) *T {
	var nothing T
	if value == nothing {
		return nil
	}
	return &value
}

// stateColours are the ANSI colours of states, on terminals only; the words
// carry the meaning.
var stateColours = map[string]string{
	"active": display.Green, "running": display.Green, "alive": display.Green, "resumed": display.Green, "idle": display.Cyan, "completed": display.Cyan,
	"waiting_input": display.OnYellow, "waiting_children": display.Yellow, "suspended": display.Yellow, "stopped": display.Yellow, "fresh": display.Yellow,
	"limited": display.Yellow + ";1", "error": display.Red + ";1", "refused": display.Red + ";1", "unknown": display.Magenta, "head": display.Grey,
}

// colourOf names the colour of a state: a limit and a turn that was cut have one of their own.
func colourOf(st session.AgentStatus) string {
	if st.Limit != nil || st.CutTurn != 0 {
		return "limited"
	}
	return string(st.State)
}

// columns is the way to count columns on a terminal that has not been asked.
const columns = display.Graphemes

// colour paints text in the colour of a state, where output is coloured.
func (p *printer) colour(text, state string) string {
	return p.paint(text, stateColours[state])
}

// paint gives text a colour by its ANSI code, where output is coloured.
func (p *printer) paint(text, code string) string {
	if code == "" || text == "" || !p.coloured() {
		return text
	}
	return p.styled(text, code)
}

// styled is text in a style, as the terminal knows it.
func (p *printer) styled(text, code string) string {
	return "\x1b[" + display.For(lookUp(p.env, "TERM"), code) + "m" + text + "\x1b[0m"
}

// coloured tells whether output is coloured; it asks the terminal once.
func (p *printer) coloured() bool {
	if p.colours == nil {
		on := wantsColour(p.colourFlag, isTerminal(p.stdout), func(name string) string { return lookUp(p.env, name) })
		p.colours = &on
	}
	return *p.colours
}

// wantsColour decides whether output is coloured: the flag first, then NO_COLOR (no-color.org), CLICOLOR_FORCE and CLICOLOR
// (bixense.com/clicolors), and only terminals that know colours.
func wantsColour(flag string, terminal bool, getenv func(string) string) bool {
	force := getenv("CLICOLOR_FORCE")
	switch {
	case flag == "always":
		return true
	case flag == "never" || getenv("NO_COLOR") != "":
		return false
	case force != "" && force != "0":
		return true
	}
	return terminal && getenv("CLICOLOR") != "0" && getenv("TERM") != "dumb"
}

// lookUp is the value of a variable in a list of them, the last one where it is there twice.
func lookUp(env []string, name string) string {
	value := ""
	for _, kv := range env {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			value = v
		}
	}
	return value
}

// shortened is a path with ~ for the home directory of the user.
func shortened(path string) string {
	dir, err := os.UserHomeDir()
	if err == nil && dir != "/" && strings.HasPrefix(path, dir+"/") {
		return "~" + path[len(dir):]
	}
	return path
}

// forReading is w, on a terminal without what would command it: a CLI passes on what files and web pages say.
func forReading(w io.Writer) io.Writer {
	if isTerminal(w) {
		return printable{w}
	}
	return w
}

// printable writes texts, each of them whole lines, as display.Printable shows them.
type printable struct{ w io.Writer }

func (p printable) Write(text []byte) (int, error) {
	if _, err := io.WriteString(p.w, display.Printable(string(text))); err != nil {
		return 0, err
	}
	return len(text), nil
}
