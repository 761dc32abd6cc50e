package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"paw/config/display"
	"paw/orchestrator"
	"paw/orchestrator/app"
	"paw/session"
)

// isTerminal reports whether w is a terminal, also behind prose or a pager.
func isTerminal(w any) bool { return terminalOf(w) != nil }

// terminalOf returns the terminal that w is, or that is behind prose or a pager; nil for none.
func terminalOf(w any) *os.File {
	switch out := w.(type) {
	case *prose:
		return out.terminal
	case *pager:
		return out.terminal
	case *os.File:
		if term.IsTerminal(int(out.Fd())) {
			return out
		}
	}
	return nil
}

// written is a file or device as standard output. It remembers the first failure, as on a full
// disk: most of what is printed is printed without a look at the error.
type written struct {
	*os.File
	failed error
}

// remembering returns standard output as written if it is a file or a device, and as it is otherwise: a
// write into a pipe that has no reader ends paw.
func remembering(stdout io.Writer) io.Writer {
	f, is := stdout.(*os.File)
	if !is || isTerminal(f) {
		return stdout
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() && info.Mode()&os.ModeCharDevice == 0 {
		return stdout
	}
	return &written{File: f}
}

func (w *written) Write(text []byte) (int, error) {
	n, err := w.File.Write(text)
	w.failed = cmp.Or(w.failed, err)
	return n, err
}

func (w *written) WriteString(text string) (int, error) { return w.Write([]byte(text)) }

// forChild returns the file behind written, for a program that is to write there itself.
func forChild(w io.Writer) io.Writer {
	if file, is := w.(*written); is {
		return file.File
	}
	return w
}

// narrowest is the least width for which lines are made: a narrower terminal wraps them.
const narrowest = 40

// sizeOf returns the columns and rows of a terminal; 80 and 24 if out is none.
func sizeOf(out io.Writer) (width, height int) {
	width, height = 80, 24
	if f := terminalOf(out); f != nil {
		if w, h, err := term.GetSize(int(f.Fd())); err == nil && w > 0 && h > 0 {
			width, height = w, h
		}
	}
	return max(width, narrowest), height
}

// printer prints for people or, with --json, for programs.
type printer struct {
	stdout, stderr io.Writer
	env            []string
	json           bool
	colours        *bool  // whether output is coloured; nil until asked
	colourFlag     string // --color: auto, always or never
	noPager        bool
	notes          []string // notes for the JSON, see note
}

func (p *printer) addJSON(cmd *cobra.Command) {
	cmd.Flags().BoolVarP(&p.json, "json", "j", false, "print one JSON object, for programs")
}

// note tells the user what would otherwise be noticed too late: on standard error, or with --json
// in the object.
func (p *printer) note(text string) {
	if p.json {
		p.notes = append(p.notes, text)
		return
	}
	const begin = "paw: note:"
	fmt.Fprintf(p.stderr, "%s %s\n", p.paintError(begin, display.Grey), p.said(begin, display.Printable(text)))
}

// stateColours are the ANSI colours of states. Words carry the meaning; colours only repeat it.
var stateColours = map[string]string{
	"active": display.Green, "running": display.Green, "alive": display.Green, "resumed": display.Green, "idle": display.Cyan, "completed": display.Cyan,
	"waiting_input": display.OnYellow, "waiting_children": display.Yellow, "suspended": display.Yellow, "stopped": display.Yellow, "fresh": display.Yellow,
	"limited": display.Yellow + ";1", "error": display.Red + ";1", "refused": display.Red + ";1", "unknown": display.Magenta, "head": display.Grey,
}

// colourOf names the colour of an agent's state. A usage limit and an interrupted turn have their
// own colour.
func colourOf(st session.AgentStatus) string {
	if st.Limit != nil || st.CutTurn != 0 {
		return "limited"
	}
	return string(st.State)
}

// columns measures text for a terminal that was not asked how it measures.
const columns = display.Graphemes

func (p *printer) colour(text, state string) string {
	return p.paint(text, stateColours[state])
}

// paint gives a text an ANSI style, if output is coloured.
func (p *printer) paint(text, code string) string {
	if code == "" || text == "" || !p.coloured() {
		return text
	}
	return p.styled(text, code)
}

// styled gives a text an ANSI style that the terminal knows.
func (p *printer) styled(text, code string) string {
	return "\x1b[" + display.For(lookUp(p.env, "TERM"), code) + "m" + text + "\x1b[0m"
}

// coloured reports whether output is coloured. It looks at the terminal once.
func (p *printer) coloured() bool {
	if p.colours == nil {
		on := wantsColour(p.colourFlag, isTerminal(p.stdout), func(name string) string { return lookUp(p.env, name) })
		p.colours = &on
	}
	return *p.colours
}

// wantsColour decides whether output is coloured. The flag counts first, then NO_COLOR
// (no-color.org), CLICOLOR_FORCE and CLICOLOR (bixense.com/clicolors), then the terminal.
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

// lookUp returns the value of a variable in an environment; of several the last one.
func lookUp(env []string, name string) string {
	value := ""
	for _, kv := range env {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			value = v
		}
	}
	return value
}

// shortened replaces the user's home directory in a path by ~.
func shortened(path string) string {
	dir, err := os.UserHomeDir()
	if err == nil && dir != "/" && strings.HasPrefix(path, dir+"/") {
		return "~" + path[len(dir):]
	}
	return path
}

// forReading returns w, or for a terminal a writer that removes what could control it: CLIs pass on
// what files and web pages contain.
func forReading(w io.Writer) io.Writer {
	if isTerminal(w) {
		return printable{w}
	}
	return w
}

// printable writes texts as display.Printable shows them. Each text consists of whole lines.
type printable struct{ w io.Writer }

func (p printable) Write(text []byte) (int, error) {
	if _, err := io.WriteString(p.w, display.Printable(string(text))); err != nil {
		return 0, err
	}
	return len(text), nil
}

func (p *printer) paintError(text, code string) string {
	if !wantsColour(p.colourFlag, isTerminal(p.stderr), func(name string) string { return lookUp(p.env, name) }) {
		return text
	}
	return p.styled(text, code)
}

func (p *printer) terminalSize() (width, height int) { return sizeOf(p.stdout) }

// lineBelow is a line at the end of standard error, which is removed before anything else is
// printed.
type lineBelow struct {
	out   *printer
	shown string
}

func (l *lineBelow) show(text string) {
	width, _ := l.out.terminalSize()
	if text = columns.Cut(text, width-1); text != l.shown {
		fmt.Fprint(l.out.stderr, "\r"+text+"\x1b[K")
	}
	l.shown = text
}

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

// pager writes to the user's pager.
type pager struct {
	io.Writer
	terminal *os.File // where the pager shows it
	left     bool     // the user has left the pager before the end
}

func (p *pager) Write(text []byte) (int, error) {
	n, err := p.Writer.Write(text)
	p.left = p.left || err != nil
	return n, err
}

// paged runs show with the user's pager between paw and the terminal, by git's rules. If the user
// leaves the pager early, the output ends without an error.
func (p *printer) paged(ctx context.Context, h *app.App, show func() error) error {
	before, terminal := p.stdout, terminalOf(p.stdout)
	if p.noPager || p.json || terminal == nil || lookUp(p.env, "TERM") == "dumb" {
		return show()
	}
	started := orchestrator.StartPager(ctx, h, p.pagerEnvironment(), terminal, p.stderr)
	if started == nil {
		return show()
	}
	signal.Ignore(os.Interrupt) // Ctrl-C is for the pager, which would outlive paw on the same terminal
	p.coloured()                // ask the terminal before the pager takes its place
	reader := &pager{Writer: started, terminal: terminal}
	p.stdout = reader
	err := show()
	p.stdout = before
	started.Wait()
	if reader.left {
		return nil
	}
	return err
}

// pagerEnvironment adds the variables that git sets for a pager: less ends if the text fits on the
// screen, and shows colours.
func (p *printer) pagerEnvironment() []string {
	env := slices.Clone(p.env)
	for _, kv := range []string{"LESS=FRX", "LV=-c"} {
		if name, _, _ := strings.Cut(kv, "="); lookUp(env, name) == "" {
			env = append(env, kv)
		}
	}
	return env
}
