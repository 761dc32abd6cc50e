package ui

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"paw/config/display"
)

// Options say how the desk looks.
type Options struct {
	Colour bool
	All    bool            // it begins with all sessions of the machine
	News   <-chan struct{} // received from when Paw.Changed may report true from now on
}

// tab is what is shown of the selected agent.
type tab int

const (
	tabPane tab = iota
	tabTurns
	tabDiff
	tabLog
)

var tabNames = [...]string{tabPane: "pane", tabTurns: "turns", tabDiff: "diff", tabLog: "log"}

// Model is everything that the desk shows. Update makes the next one, View draws it.
type Model struct {
	paw Paw
	ctx context.Context
	palette
	measure

	width, height int
	board         Board
	rows          []Agent // those that the filter leaves, in the order in which they are shown
	now           time.Time
	begun         bool   // there was a look
	failed        string // why the last look told nothing
	all           bool

	filter   string
	selected string          // key of the selected agent
	chosen   bool            // the user has pressed a key: until then the first row is selected
	marks    map[string]bool // agents that the next key is for, by key
	numbers  map[string]int  // of the agents of several sessions, by key, as long as the desk is open
	digit    string          // the last one that was typed, at digitAt
	digitAt  time.Time
	top      int  // first line of the list that is shown
	large    bool // the detail has the whole screen
	tab      tab

	lines    map[string]Lines // by key of the agent
	outlooks map[string]Forecast
	screen   screen
	page     page // of the tabs turns, diff and log
	scope    scope

	focus   bool   // keys are for the page
	run     *run   // the command whose output is shown
	later   []*run // those that came while it was read
	last    int    // number of the last command or page that was asked for
	running int    // commands that have not ended
	done    int    // commands that have
	ask     *ask
	drafts  map[string]string // comments that were not kept, by the agent's key and the line
	help    bool
	note    note
}

// screen is what the pane of an agent showed last.
type screen struct {
	key   string
	lines []string
	why   string // it could not be had
}

// note is one line that tells what has happened.
type note struct {
	text  string
	bad   bool
	until time.Time
}

// noteTime is how long a note is shown.
const noteTime = 6 * time.Second

// New is a desk before anything was looked at.
func New(ctx context.Context, paw Paw, o Options) Model {
	return Model{
		paw: paw, ctx: ctx, palette: palette{o.Colour}, all: o.All, width: 80, height: 24, now: time.Now(),
		numbers: map[string]int{}, lines: map[string]Lines{}, outlooks: map[string]Forecast{}, drafts: map[string]string{},
	}
}

// The messages of the watcher and of commands.
type (
	boardMsg struct {
		board Board
		err   error
		now   time.Time
	}
	screenMsg struct {
		key, text, why string
	}
	linesMsg struct {
		key string
		Lines
	}
	outlookMsg struct {
		session  string
		outlooks map[string]Forecast
	}
	clockMsg time.Time
)

// laterMsg goes on with what was found meanwhile.
type laterMsg func(m Model) (tea.Model, tea.Cmd)

// later looks something up beside the screen, and goes on with what it finds; that it cannot be had is said.
func later[T any](m Model, look func(ctx context.Context, paw Paw) (T, error), next func(m Model, found T) (tea.Model, tea.Cmd)) tea.Cmd {
	paw, ctx := m.paw, m.ctx
	return func() tea.Msg {
		found, err := look(ctx, paw)
		return laterMsg(func(m Model) (tea.Model, tea.Cmd) {
			if err != nil {
				m.say(true, "%s", display.FirstLine(err.Error()))
				return m, nil
			}
			return next(m, found)
		})
	}
}

// Init does nothing: the watcher has looked before the first frame.
func (m Model) Init() tea.Cmd { return nil }

// Update is the model after a message.
func (m Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case tea.ModeReportMsg:
		m.measure = widthsAfter(m.measure, msg)
	case boardMsg:
		return m.looked(msg)
	case screenMsg:
		m.screen = screen{key: msg.key, why: msg.why, lines: cleaner{m.measure, m.colour}.lines(msg.text)}
	case linesMsg:
		m.lines = with(m.lines, msg.key, msg.Lines)
	case outlookMsg:
		for name, o := range msg.outlooks {
			m.outlooks = with(m.outlooks, msg.session+"/"+name, o)
		}
		m.arrange("")
	case clockMsg:
		m.now = time.Time(msg)
	case pageMsg:
		m.page.take(m, msg)
		return m, m.readNotes()
	case notesMsg:
		if msg.number == m.page.number {
			m.page.notes = msg.notes
		}
	case outputMsg:
		var wait tea.Cmd
		m.run, wait = m.run.take(m, msg)
		return m, wait
	case doneMsg:
		return m.ran(msg)
	case laterMsg:
		return msg(m)
	case tea.PasteMsg:
		if m.ask != nil {
			m.ask = m.ask.with(m.ask.text.insert(msg.Content))
		}
	case tea.MouseClickMsg:
		return m.clicked(msg)
	case tea.MouseWheelMsg:
		return m.wheeled(msg)
	case tea.KeyPressMsg:
		return m.pressed(msg)
	}
	return m, nil
}

// with is a map with one value changed: models that were drawn before keep theirs.
func with[V any](old map[string]V, key string, value V) map[string]V {
	changed := make(map[string]V, len(old)+1)
	for k, v := range old {
		changed[k] = v
	}
	changed[key] = value
	return changed
}

// looked takes in what all agents do now.
func (m Model) looked(msg boardMsg) (tea.Model, tea.Cmd) {
	m.now = msg.now
	if msg.err != nil {
		m.failed = display.FirstLine(msg.err.Error())
		return m, nil
	}
	next := m.neighbour()
	m.board, m.failed, m.begun = msg.board, "", true
	m.number()
	m.arrange(next)
	m.dropQuestion()
	return m, m.freshen()
}

// number gives each agent of several sessions a number when it is seen first: those of their sessions are not unique.
func (m *Model) number() {
	if !m.severalSessions() {
		return
	}
	for _, a := range m.board.Agents {
		if m.numbers[a.Key()] == 0 {
			m.numbers = with(m.numbers, a.Key(), len(m.numbers)+1)
		}
	}
}

// numberOf is the number of an agent, by which a digit selects it wherever it stands.
func (m Model) numberOf(a Agent) int {
	if m.severalSessions() {
		return m.numbers[a.Key()]
	}
	return a.Number
}

// neighbour is the agent that is selected when the selected one goes.
func (m Model) neighbour() string {
	agents := m.rows
	i := m.index(agents)
	if i < 0 {
		return ""
	}
	if i+1 < len(agents) {
		return agents[i+1].Key()
	}
	return agents[max(i-1, 0)].Key()
}

// arrange puts the agents that the filter leaves in order, and keeps one selected: that of now, whom the user looks at, also
// when the filter would not leave it. It follows whatever they depend on.
func (m *Model) arrange(neighbour string) {
	m.rows = nil
	for _, a := range m.board.Agents {
		if a = m.judged(a); a.matches(m.filter) || a.Key() == m.selected {
			m.rows = append(m.rows, a)
		}
	}
	slices.SortStableFunc(m.rows, func(a, b Agent) int {
		if a.Group != b.Group {
			return int(a.Group - b.Group)
		}
		if a.Urgency != b.Urgency || a.Group > ToReview {
			return a.Urgency - b.Urgency
		}
		return a.Since.Compare(b.Since) // whoever waits longest comes first
	})
	m.rows = nested(m.rows)
	if m.index(m.rows) < 0 {
		m.selected = neighbour
	}
	if m.index(m.rows) < 0 || !m.chosen {
		m.selected = ""
		if len(m.rows) > 0 {
			m.selected = m.rows[0].Key()
		}
	}
}

// nested puts children behind their parents where both are in one group, and says how deep.
func nested(rows []Agent) []Agent {
	type family struct {
		group           Group
		session, parent string
	}
	there := map[family]bool{}
	for _, a := range rows {
		there[family{a.Group, a.Session, a.Name}] = true
	}
	children := map[family][]Agent{}
	for _, a := range rows {
		of := family{a.Group, a.Session, a.Parent}
		if a.Parent == "" || a.Parent == a.Name || !there[of] {
			of.session, of.parent = "", ""
		}
		children[of] = append(children[of], a)
	}
	in := make([]Agent, 0, len(rows))
	var add func(of family, depth int)
	add = func(of family, depth int) {
		for _, a := range children[of] {
			a.depth = depth
			in = append(in, a)
			add(family{a.Group, a.Session, a.Name}, depth+1)
		}
	}
	for g := range groupNames {
		add(family{group: Group(g)}, 0)
	}
	return in
}

// narrow shows only the agents that a filter leaves. The one that is selected stays so if it is one of them.
func (m *Model) narrow(filter string) {
	was := m.selected
	m.filter, m.selected = filter, ""
	m.arrange("")
	if i := slices.IndexFunc(m.rows, func(a Agent) bool { return a.Key() == was }); i >= 0 {
		m.selected = was
	}
}

// judged is an agent that needs the user when its finished work conflicts with the branch that it is to land in.
func (m Model) judged(a Agent) Agent {
	o := m.outlooks[a.Key()]
	if len(o.Files) > 0 && (a.Group == ToReview || a.Group == Quiet) {
		a.Group, a.Colour, a.Urgency = NeedsYou, red, conflictUrgency
		a.About = fmt.Sprintf("conflicts with %s: %s", o.Target, strings.Join(o.Files, ", "))
	}
	return a
}

// conflictUrgency puts work that conflicts behind questions and errors.
const conflictUrgency = 100

// index is the place of the selected agent, -1 when it is not there.
func (m Model) index(agents []Agent) int {
	return slices.IndexFunc(agents, func(a Agent) bool { return a.Key() == m.selected })
}

// workAgain is how often the work of an agent that the user looks at is looked at again while it is in a turn.
const workAgain = 20 * time.Second

// current is the selected agent.
func (m Model) current() (Agent, bool) {
	agents := m.rows
	i := m.index(agents)
	if i < 0 {
		return Agent{}, false
	}
	return m.marked(agents[i]), true
}

// marked is an agent with marks that commands of the desk and, for the selected one, time change, too.
func (m Model) marked(a Agent) Agent {
	a.Mark, a.Ended = fmt.Sprint(a.Mark, "-", m.done), fmt.Sprint(a.Ended, "-", m.done)
	if a.Group == Working && a.Key() == m.selected {
		a.Mark = fmt.Sprint(a.Mark, "-", m.now.Unix()/int64(workAgain/time.Second))
	}
	return a
}

// say shows a note for a while.
func (m *Model) say(bad bool, format string, args ...any) {
	m.note = note{text: fmt.Sprintf(format, args...), bad: bad, until: m.now.Add(noteTime)}
}

// title is the title of the terminal's window, which says how many agents need the user.
func (m Model) title() string {
	if n := m.counts()[NeedsYou]; n > 0 {
		return fmt.Sprintf("paw: %d wait", n)
	}
	return "paw"
}

// View draws the desk.
func (m Model) View() tea.View {
	var v tea.View
	if m.begun {
		v.Content = strings.Join(m.draw(), "\n")
	}
	v.AltScreen, v.MouseMode, v.WindowTitle = true, tea.MouseModeCellMotion, m.title()
	if x, y, shown := m.cursor(); shown {
		v.Cursor = tea.NewCursor(x, y)
	}
	return v
}
