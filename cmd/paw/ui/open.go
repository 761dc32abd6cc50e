package ui

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"golang.org/x/sys/unix"

	"paw/config/display"
)

// framesPerSecond limits how often the screen is drawn. The first frame, too, waits for the next of
// these moments.
const framesPerSecond = 25

// Open shows the desk on a terminal until the user leaves or ctx ends. Open cancels whatever it has
// begun before it returns.
func Open(ctx context.Context, paw Paw, o Options, stdin io.Reader, stdout io.Writer, env []string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w := &watcher{paw: paw, now: time.Now, news: o.News, poked: make(chan struct{}, 1), busy: make(chan struct{}, 1)}
	program := tea.NewProgram(desk{New(ctx, paw, o), w}, tea.WithContext(ctx), tea.WithInput(stdin), tea.WithOutput(stdout), tea.WithEnvironment(env),
		tea.WithFPS(framesPerSecond), tea.WithoutSignalHandler())
	w.send = program.Send
	var failed atomic.Pointer[error]
	go func() { // the first Look runs while the library prepares the terminal
		first, cost := w.look(ctx)
		if first.err != nil {
			failed.Store(&first.err)
			program.Quit()
			return
		}
		w.send(first)
		go w.screens(ctx)
		go w.forecast(ctx)
		go w.follow(ctx)
		w.lookOn(ctx, cost)
	}()
	go func() {
		if hungUp(ctx, stdin) {
			cancel()
		}
	}()
	_, err := program.Run()
	if why := failed.Load(); why != nil {
		return *why
	}
	if ctx.Err() != nil { // a signal or a hang-up is not an error
		return nil
	}
	return err
}

// desk is the Model as the terminal library has it. After each message it tells the watcher what is
// shown.
type desk struct {
	*Model
	watcher *watcher
}

// Init starts nothing, since the watcher makes the first Look.
func (d desk) Init() tea.Cmd { return tea.RequestBackgroundColor }

func (d desk) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	cmd := d.Model.Update(msg)
	d.watcher.want(d.wanted())
	if _, key := msg.(tea.KeyPressMsg); key {
		d.watcher.poke()
	}
	return d, cmd
}

// wanted returns what the watcher has to read for the current picture.
func (m *Model) wanted() wanted {
	l := m.layout()
	var w wanted
	current, there := m.current()
	if there && m.tab == tabPane && l.detail.height > 0 && !m.help && m.run == nil {
		w.screen = m.roster.rows[m.roster.index()]
	}
	if l.list.height == 0 {
		if there {
			w.rows = []Agent{current}
		}
		return w
	}
	w.seconds = m.run != nil && !m.run.over || m.note.text != ""
	lines := m.frame().listLines(l.list.width, l.list.height)
	top := m.frame().topFor(lines, l.list.height)
	for y := top; y < min(top+l.list.height, len(lines)); y++ {
		if i := lines[y].agent; i >= 0 && (y == top || lines[y-1].agent != i) {
			a := m.marked(m.roster.rows[i])
			w.rows = append(w.rows, a)
			if a.Runs {
				w.working = append(w.working, a)
			}
			w.seconds = w.seconds || m.now.Sub(a.Since) < time.Minute
		}
	}
	return w
}

// widthsAfter returns how to count columns after the terminal has answered whether it knows mode
// 2027, grapheme clusters.
func widthsAfter(now measure, report tea.ModeReportMsg) measure {
	if report.Mode != ansi.ModeUnicodeCore {
		return now
	}
	switch report.Value {
	case ansi.ModeReset, ansi.ModeSet, ansi.ModePermanentlySet:
		return display.Graphemes
	default:
		return now
	}
}

// hangUpMillis is how often hungUp checks ctx while the terminal is there.
const hangUpMillis = 1000

// hungUp waits until the terminal behind input has gone, and returns false if ctx ends first or if
// input cannot be polled. Neither a signal nor a read tells: SIGHUP goes only to the leader of the
// terminal's session, and su and sudo do not pass SIGHUP on; a read from a terminal that has gone
// returns no bytes, like one from a terminal without input.
func hungUp(ctx context.Context, input io.Reader) bool {
	file, ok := input.(interface{ Fd() uintptr })
	if !ok {
		return false
	}
	for ctx.Err() == nil {
		fds := []unix.PollFd{{Fd: int32(file.Fd())}}
		_, err := unix.Poll(fds, hangUpMillis)
		switch {
		case err != nil && !errors.Is(err, unix.EINTR), fds[0].Revents&unix.POLLNVAL != 0:
			return false
		case fds[0].Revents&(unix.POLLHUP|unix.POLLERR) != 0:
			return true
		}
	}
	return false
}

// Update changes the desk by a message.
func (m *Model) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
		return m.freshen()
	case tea.BackgroundColorMsg:
		m.dark = m.colour && msg.IsDark()
	case tea.ModeReportMsg:
		m.measure = widthsAfter(m.measure, msg)
	case boardMsg:
		return m.looked(msg)
	case screenMsg:
		m.screen = screen{key: msg.key, why: msg.why, lines: m.cleaned(msg.text)}
	case doingMsg:
		m.doing, m.now = msg.doing, msg.now
	case outlookMsg:
		for name, o := range msg.outlooks {
			m.roster.outlooks[msg.session+"/"+name] = o
		}
		m.roster.arrange("")
	case clockMsg:
		m.now = time.Time(msg)
	case pageMsg:
		m.page.take(m, msg)
		return m.readNotes()
	case notesMsg:
		if msg.number == m.page.number {
			m.page.notes = msg.notes
		}
	case outputMsg:
		return m.take(msg)
	case doneMsg:
		return m.ran(msg)
	case laterMsg:
		return msg()
	case tea.PasteMsg:
		if m.ask != nil {
			m.ask.set(m.ask.text.Insert(msg.Content))
		}
	case tea.MouseClickMsg:
		return m.clicked(msg)
	case tea.MouseWheelMsg:
		return m.wheeled(msg)
	case tea.KeyPressMsg:
		return m.pressed(msg)
	}
	return nil
}

// looked takes the result of a Look.
func (m *Model) looked(msg boardMsg) tea.Cmd {
	m.now = msg.now
	if msg.err != nil {
		m.failed = display.FirstLine(msg.err.Error())
		return nil
	}
	next := m.roster.neighbour()
	m.roster.board, m.failed, m.begun = msg.board, "", true
	happened(m, msg.board.Events...)
	m.roster.number()
	m.roster.arrange(next)
	m.dropQuestion()
	return m.freshen()
}

// View draws the desk.
func (m *Model) View() tea.View {
	var v tea.View
	if m.begun {
		v.Content = strings.Join(m.frame().draw(), "\n")
	}
	v.AltScreen, v.MouseMode, v.WindowTitle = true, tea.MouseModeCellMotion, m.roster.title()
	if x, y, shown := m.frame().cursor(); shown {
		v.Cursor = tea.NewCursor(x, y)
	}
	return v
}
