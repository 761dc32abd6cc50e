package ui

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"paw/cmd/paw/ui/field"
	"paw/cmd/paw/ui/output"
	"paw/config/display"
)

type (
	// outputMsg carries output of a command; rest delivers the following messages.
	outputMsg struct {
		number int
		text   string
		rest   <-chan tea.Msg
	}
	// doneMsg says that a command has ended.
	doneMsg struct {
		number int
		words  []string
		code   int
		text   string
		took   time.Duration
	}
)

// printed is a writer that sends what a command prints to the desk, until the desk ends.
type printed struct {
	number int
	to     chan tea.Msg
	desk   context.Context
	all    strings.Builder
}

func (p *printed) Write(text []byte) (int, error) {
	p.all.Write(text)
	p.pass(outputMsg{p.number, string(text), p.to})
	return len(text), nil
}

func (p *printed) pass(msg tea.Msg) {
	select {
	case p.to <- msg:
	case <-p.desk.Done():
	}
}

// command returns a tea.Cmd that runs a command of paw under the number m.last, and a function that
// interrupts it.
func (m *Model) command(words ...string) (cmd tea.Cmd, cancel func()) {
	m.last++
	m.running++
	number, paw, desk := m.last, m.paw, m.ctx
	ctx, cancel := context.WithCancel(desk)
	return func() tea.Msg {
		to := make(chan tea.Msg)
		out := &printed{number: number, to: to, desk: desk}
		go func() {
			begun := time.Now()
			code := paw.Run(ctx, out, words...)
			cancel()
			out.pass(doneMsg{number, words, code, out.all.String(), time.Since(begun)})
		}()
		return <-to
	}, cancel
}

// quietly runs a command without showing its output as it comes. One line of output becomes a note;
// longer output is shown at the end.
func (m *Model) quietly(words ...string) tea.Cmd {
	cmd, _ := m.command(words...)
	m.say(false, "%s …", title(words))
	return cmd
}

// openly runs a command and shows the output as it comes; next is asked after exit code 0.
func (m *Model) openly(next *ask, words ...string) tea.Cmd {
	cmd, cancel := m.command(append([]string{"--color", m.colourFlag()}, words...)...)
	m.run = &run{number: m.last, words: words, begun: m.now, next: next, cancel: cancel}
	m.help, m.note = false, note{}
	return cmd
}

// take adds output to the run that is shown. Output of other runs is dropped.
func (m *Model) take(msg outputMsg) tea.Cmd {
	if r := m.run; r != nil && r.number == msg.number {
		text := r.pending + msg.text
		end := strings.LastIndexByte(text, '\n') + 1
		r.pending = text[end:]
		r.lines = append(r.lines, m.cleaned(text[:end])...)
	}
	return func() tea.Msg { return <-msg.rest }
}

// cleaned returns the lines of what a program has printed for a terminal.
func (m *Model) cleaned(text string) []string {
	return output.Cleaner{Measure: m.measure, Colour: m.colour}.Lines(text)
}

// ran takes the end of a command. The page is requested again, since the command
// may have changed what it shows.
func (m *Model) ran(msg doneMsg) tea.Cmd {
	m.running, m.done = m.running-1, m.done+1
	unsent := m.sent(msg.words, msg.code == 0)
	fresh := m.freshen()
	if m.run != nil && m.run.number == msg.number {
		r := m.run
		r.over, r.code, r.took = true, msg.code, msg.took
		r.lines = append(r.lines, m.cleaned(r.pending)...)
		remember(m, r)
		if msg.code == 0 && r.next != nil && m.ask == nil && r.hasLine(r.next.plan) {
			m.ask = r.next
		}
		return fresh
	}
	left := slices.IndexFunc(m.behind, func(r *run) bool { return r.number == msg.number })
	planned := left >= 0 && m.behind[left].next != nil
	if left >= 0 {
		m.behind = slices.Delete(m.behind, left, left+1)
	}
	words := msg.words
	if len(words) > 2 && words[0] == "--color" {
		words = words[2:]
	}
	text := strings.TrimRight(msg.text, "\n")
	if unsent != "" {
		text += "\n\nThis was not sent:\n\n" + unsent
	}
	lines := m.cleaned(text)
	ended := &run{number: msg.number, words: words, lines: lines, over: true, code: msg.code, took: msg.took}
	remember(m, ended)
	switch {
	case planned: // nobody waits for the plan any more
	case left >= 0 && msg.code != 0: // its output would cover what the user looks at
		m.say(true, "%s: %s; @ shows its output", title(words), ended.end())
	case left >= 0 && len(lines) > 0:
		m.say(false, "%s", display.Strip(lines[0]))
	case len(lines) == 0 && msg.code == 0:
		m.say(false, "%s: done", title(words))
	case len(lines) <= 1:
		m.say(msg.code != 0, "%s", display.Strip(strings.Join(lines, "")))
	default:
		m.show(ended)
	}
	return fresh
}

// show shows the output of a command that has ended, or puts it behind the output that the user
// reads now.
func (m *Model) show(r *run) {
	if m.run == nil {
		m.run, m.note = r, note{} // replaces the note that the command runs
		return
	}
	m.later = append(m.later, r)
	m.say(r.code != 0, "%s", display.Strip(r.lines[0]))
}

// leaveRun closes the output of a command, and shows the next one that waits.
func (m *Model) leaveRun() {
	if !m.run.over {
		m.behind = append(m.behind, m.run)
	}
	if m.run = nil; len(m.later) > 0 {
		m.run, m.later = m.later[0], m.later[1:]
	}
}

// leave ends the desk. While a command runs, leave asks first, since the end of the desk interrupts
// the command.
func (m *Model) leave() tea.Cmd {
	if m.running == 0 {
		return tea.Quit
	}
	return m.asks(sure("a command still runs: leave, and interrupt it?", "leave", func() tea.Cmd { return tea.Quit }))
}

// hasLine reports whether a line of the output has a beginning.
func (r *run) hasLine(begin string) bool {
	return slices.ContainsFunc(r.lines, func(line string) bool { return strings.HasPrefix(display.Strip(line), begin) })
}

func (m *Model) scrollRun(by int) {
	at := m.layout().detail
	last := len(m.run.wrapped(m, at.width)) - max(at.height-2, 1)
	m.run.top = max(min(m.run.top+by, last), 0)
}

// failure returns a command that failed before it was run.
func (m *Model) failure(err error, words ...string) *run {
	return &run{words: words, over: true, code: 1, lines: m.cleaned(err.Error())}
}

// title returns a command as a user would type it, with long words cut.
func title(words []string) string {
	const longest = 40
	shown := []string{"paw"}
	for i, word := range words {
		if word == stateFlag || i > 0 && words[i-1] == stateFlag {
			continue // the desk adds this flag, a user would not
		}
		word = strings.Join(strings.Fields(word), " ")
		if r := []rune(word); len(r) > longest {
			word = string(r[:longest]) + display.Ellipsis
		}
		if strings.Contains(word, " ") || word == "" {
			word = `"` + word + `"`
		}
		shown = append(shown, word)
	}
	return strings.Join(shown, " ")
}

// view draws the command and the end of its output or, once it has ended, the part that the user
// has scrolled to.
func (r *run) view(m *Model, width, height int) []string {
	state, style := "running "+Age(m.now.Sub(r.begun)), green
	switch {
	case r.over && r.code == 0:
		state, style = fmt.Sprintf("done in %.1fs", r.took.Seconds()), green
	case r.over:
		state, style = r.end(), red
	}
	head := m.Fill(m.paint("$ "+title(r.words), bold), max(width-m.Width(state)-2, 0)) + "  " + m.paint(state, style)
	lines := []string{m.Cut(head, width), m.paint(strings.Repeat("─", width), dim)}
	room := max(height-len(lines), 0)
	shown := r.wrapped(m, width)
	top := max(min(r.top, len(shown)-room), 0)
	if !r.over {
		top = max(len(shown)-room, 0)
	}
	for i := top; i < min(top+room, len(shown)); i++ {
		lines = append(lines, shown[i])
	}
	return lines
}

// wrapped returns the lines of the output, with lines longer than width broken so that hints can be
// read in full.
func (r *run) wrapped(m *Model, width int) []string {
	var lines []string
	patch := r.words[0] == "diff"
	for _, line := range r.lines {
		plain := display.Strip(line)
		if patch && strings.HasPrefix(plain, "index ") {
			continue
		}
		if m.Width(line) <= width {
			lines = append(lines, line)
			continue
		}
		indent := plain[:len(plain)-len(strings.TrimLeft(plain, " "))]
		parts := m.Wrap(plain, width-len(indent), 20)
		for i := range parts {
			parts[i] = indent + parts[i]
		}
		lines = append(lines, restyled(line, parts)...)
	}
	return lines
}

// restyled begins each part of a broken line with the line's first style, and ends each part
// without style.
func restyled(line string, parts []string) []string {
	begin := display.Escape(line)
	if begin == "" {
		return parts
	}
	for i, part := range parts {
		parts[i] = begin + part + "\x1b[m"
	}
	return parts
}

// onTerminal is a tea.ExecCommand that calls a function with the terminal.
type onTerminal struct {
	do             func(stdin io.Reader, stdout, stderr io.Writer) error
	stdin          io.Reader
	stdout, stderr io.Writer
}

func (o *onTerminal) Run() error            { return o.do(o.stdin, o.stdout, o.stderr) }
func (o *onTerminal) SetStdin(r io.Reader)  { o.stdin = r }
func (o *onTerminal) SetStdout(w io.Writer) { o.stdout = w }
func (o *onTerminal) SetStderr(w io.Writer) { o.stderr = w }

// left goes on when the desk has the terminal back.
func (m *Model) left(over bool, err error) tea.Cmd {
	if err != nil {
		m.show(m.failure(err, "attach", m.roster.selected))
		return nil
	}
	if over {
		return m.leave()
	}
	return nil
}

// editCmd opens a text in the user's editor.
func (m *Model) editCmd(draft string) tea.Cmd {
	result := ""
	edit := func(stdin io.Reader, stdout, stderr io.Writer) (err error) {
		result, err = m.paw.Edit(m.ctx, draft, stdin, stdout, stderr)
		return err
	}
	return tea.Exec(&onTerminal{do: edit}, func(err error) tea.Msg {
		return laterMsg(func() tea.Cmd { return m.edited(result, err) })
	})
}

// edited puts the text from the editor into the question.
func (m *Model) edited(text string, err error) tea.Cmd {
	switch {
	case err != nil:
		m.say(true, "%s", display.FirstLine(err.Error()))
	case m.ask != nil:
		m.ask.set(field.Of(strings.TrimRight(text, "\n")))
	}
	return nil
}

// end says how a command has ended that did not do all of it. Exit code 8 is a conflict, as in paw help exit-codes.
func (r *run) end() string {
	if r.code == 8 {
		return "conflicts"
	}
	return fmt.Sprintf("exit code %d", r.code)
}

// remember keeps the output of a command that has ended. A failure is an event, too.
func remember(m *Model, r *run) {
	m.past = append(m.past, r)
	m.past = m.past[max(len(m.past)-mostPast, 0):]
	if r.code != 0 {
		happened(m, Event{At: m.now, Text: title(r.words) + ": " + r.end(), Bad: true})
	}
}

// showPast shows the output of the last command or, where that is shown, of the one before.
func showPast(m *Model, _ Agent) tea.Cmd {
	if len(m.past) == 0 {
		return m.say(false, "no command has run yet")
	}
	i := slices.Index(m.past, m.run)
	if i < 0 {
		i = len(m.past)
	}
	m.run = m.past[(i-1+len(m.past))%len(m.past)]
	return nil
}
