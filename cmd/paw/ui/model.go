// Package ui is the desk: one screen that says which agents need the user and what is new, and with
// keys to act on both. The package is a view: it shows what Paw returns, acts by running commands
// of paw, and stores nothing. Update changes the Model by a message, View draws the Model, and
// neither reads anything else. Start reading with board.go, which says what is shown, then model.go
// and keys.go. No other package imports the terminal library.
package ui

import (
	"context"
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"paw/cmd/paw/ui/field"
	"paw/config/display"
)

// Options configures the desk.
type Options struct {
	Colour bool
	All    bool            // start with all sessions of the machine
	News   <-chan struct{} // receives from the moment when Paw.Changed may report true
}

// tab is one view of the selected agent.
type tab int

const (
	tabPane tab = iota
	tabTurns
	tabDiff
	tabLog
)

var tabNames = [...]string{tabPane: "pane", tabTurns: "turns", tabDiff: "diff", tabLog: "log"}

// Model is the state of the desk. Update returns the next Model, View draws the Model.
type Model struct {
	paw Paw
	ctx context.Context
	palette
	measure

	roster        roster
	width, height int
	now           time.Time
	begun         bool   // a Look has succeeded
	failed        string // error of the last Look, "" if the Look succeeded
	all           bool

	digit   string // the last digit that was typed, at digitAt
	digitAt time.Time
	top     int  // the first line of the list that is shown
	large   bool // the detail fills the screen
	tab     tab

	doing  map[string]Doing // by the agent's key
	screen screen
	page   page // for the tabs turns, diff and log
	scope  scope

	focus   bool    // keys go to the page
	run     *run    // the command whose output is shown
	later   []*run  // commands whose output came while the user read another one's
	behind  []*run  // commands that run on, although the user has left their output
	last    int     // number of the last command or page that was requested
	running int     // number of commands that run
	done    int     // number of commands that have ended
	past    []*run  // the last commands that have ended, with their output
	events  []Event // what has happened, the oldest first
	ask     *ask
	drafts  map[string]string // comments that the user has begun, by the agent's key and the line
	sending sending
	help    bool
	helpTop int // first line of the help that is shown
	note    note
}

// ask is a question to the user, shown below the list or above the detail: a text, a line, or one
// key answers it. set changes its text.
type ask struct {
	title   string
	keys    string // explains the keys, in the line at the bottom
	text    field.Text
	several bool              // the text may have several lines
	lines   []string          // shown below the title
	choose  map[string]string // the answer that each key stands for; nil where the user writes a text
	plan    string            // how a line of the output begins that there is something to ask about, "" for any output
	strict  bool              // other keys than those of answers, Esc, q and Ctrl-c do nothing; where false, such keys cancel
	about   string            // key of the agent that asks, "" where the desk asks
	keep    func(text string) // called with the text when the user cancels, with "" when he answers; nil where a draft is not kept
	empty   bool              // an empty text counts as an answer
	changed func(answer string)
	done    func(answer string) tea.Cmd
}

// run is a command of paw whose output the detail shows.
type run struct {
	number  int
	words   []string
	lines   []string
	begun   time.Time
	took    time.Duration
	over    bool
	code    int
	top     int
	next    *ask // asked after the command has ended with exit code 0; nil for no question
	cancel  func()
	pending string
}

// sending holds the prompts that are being sent, by the key of the agent whose drafts they are. Until
// a prompt has arrived it stands in front of the stored draft, so that no end of the desk loses it.
type sending map[string][]string

// screen is the last picture of an agent's pane.
type screen struct {
	key   string
	lines []string
	why   string // why the pane could not be read
}

// note is a line in the foot that says what has happened.
type note struct {
	text  string
	bad   bool
	until time.Time
}

// noteTime is how long a note stays.
const noteTime = 6 * time.Second

// New returns a desk before the first Look.
func New(ctx context.Context, paw Paw, o Options) *Model {
	return &Model{
		paw: paw, ctx: ctx, palette: palette{colour: o.Colour}, all: o.All, width: 80, height: 24, now: time.Now(),
		roster: roster{numbers: map[string]int{}, outlooks: map[string]Forecast{}, marks: map[string]bool{}}, drafts: map[string]string{}, sending: sending{},
	}
}

// The messages of the watcher.
type (
	boardMsg struct {
		board Board
		err   error
		now   time.Time
	}
	screenMsg struct {
		key, text, why string
	}
	doingMsg struct {
		doing map[string]Doing
		now   time.Time
	}
	outlookMsg struct {
		session  string
		outlooks map[string]Forecast
	}
	clockMsg time.Time
)

// laterMsg is the continuation of a lookup that later has made.
type laterMsg func() tea.Cmd

// later returns a command that calls look, and then next with the result; an error becomes a note.
func later[T any](m *Model, look func(ctx context.Context, paw Paw) (T, error), next func(found T) tea.Cmd) tea.Cmd {
	paw, ctx := m.paw, m.ctx
	return func() tea.Msg {
		found, err := look(ctx, paw)
		return laterMsg(func() tea.Cmd {
			if err != nil {
				return m.say(true, "%s", display.FirstLine(err.Error()))
			}
			return next(found)
		})
	}
}

// workAgain is how often the changes of the selected agent are read again while the agent's turn
// runs.
const workAgain = 20 * time.Second

// current returns the selected agent, with the marks of marked.
func (m *Model) current() (Agent, bool) {
	i := m.roster.index()
	if i < 0 {
		return Agent{}, false
	}
	return m.marked(m.roster.rows[i]), true
}

// marked changes the agent's Mark and Ended whenever a command of the desk has ended, and the Mark
// of the selected agent also every workAgain while a turn runs.
func (m *Model) marked(a Agent) Agent {
	a.Mark, a.Ended = fmt.Sprint(a.Mark, "-", m.done), fmt.Sprint(a.Ended, "-", m.done)
	if a.Group == Working && a.Key() == m.roster.selected {
		a.Mark = fmt.Sprint(a.Mark, "-", m.now.Unix()/int64(workAgain/time.Second))
	}
	return a
}

// asks asks the user a question. It returns no command, as say.
func (m *Model) asks(a *ask) tea.Cmd {
	m.ask = a
	return nil
}

// say shows a note. It returns no command, so that what a key does can end with it.
func (m *Model) say(bad bool, format string, args ...any) tea.Cmd {
	m.note = note{text: fmt.Sprintf(format, args...), bad: bad, until: m.now.Add(noteTime)}
	return nil
}
