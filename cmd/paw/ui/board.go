package ui

import (
	"context"
	"io"
	"strings"
	"time"
)

// Group says what an agent asks of the user. The desk shows them in this order.
type Group int

// The groups.
const (
	NeedsYou Group = iota // waits for an answer, has failed, crashed, or its work conflicts
	ToReview              // has finished turns that the user has not seen
	Working
	Quiet
)

var groupNames = [...]string{NeedsYou: "NEEDS YOU", ToReview: "TO REVIEW", Working: "WORKING", Quiet: "QUIET"}

// Agent is one row of the desk. All texts are one line that can be printed as it is.
type Agent struct {
	Session, Name string
	Number        int    // of one agent as long as its session lives, 0 for none
	Parent        string // the agent of the session that started it, "" for the user
	CLI, Branch   string
	Group         Group
	Urgency       int    // within the group; the lowest comes first
	State         string // as people read it
	Colour        string // code of the state's colour (SGR), such as 33;1
	Since         time.Time
	Turn          string // number of the last turn, with an ellipsis while it is under way
	About         string // what it asks, why its state is what it is, or its prompt
	Prompt        string // of the last turn
	Asks          bool   // About is a question that it waits with
	Cut           bool   // its last turn was cut, and it waits for somebody to say how to go on
	Failed        bool   // its last turn has failed
	Pull          string // address of its pull request, "" for none
	Pane          string // id of its pane in tmux, "" when there is none
	Mark          string // another one when its work may have changed
	Ended         string // another one when a turn has ended
	Far           bool   // it runs on another machine: its session is HOST:SESSION
	Away          bool   // that machine is not reached: all this is as it was at Since

	depth int // of a child below its parents in the list
}

// Key names the agent on this machine, as commands take it.
func (a Agent) Key() string { return a.Session + "/" + a.Name }

// Board is what the desk shows at one moment.
type Board struct {
	Agents   []Agent
	Place    string   // whose sessions these are
	Queues   []string // how the queues of sessions stand, a line each
	Problems []string
}

// Lines are how many lines an agent has added and deleted, and what that took.
type Lines struct {
	Added, Deleted int
	Tokens, Usage  string // that its models took: all in one number, and in words; "" where nothing says
}

// Forecast names the branch and the agents that the work of an agent would collide with if the work landed now.
type Forecast struct {
	Target string   // the branch it would land in
	Files  []string // that collide with the target
	Others []string // agents whose work collides with its own
}

// Question is what an agent waits with, as its CLI shows it.
type Question struct {
	ID      string
	Text    string
	Options []Option // the number of one is its place, from 1
}

// State is what an agent has done at one moment.
type State struct {
	Commit string
	Turn   int // the last one that had finished by then
}

// Comment is a review comment on an agent's work that was not sent to the agent yet.
type Comment struct {
	Place string // "" for all of the work
	Text  string
	Stale bool   // its lines have changed since
	Line  int    // of the diff, from 0; -1 where the diff does not have it
	ID    string // another one when it is changed
}

// Option is one answer that a CLI offers.
type Option struct {
	Label string
	Means string // yes, no or always; "" for anything else
}

// Paw is what the desk asks of paw. All of it may be called from several goroutines at once.
type Paw interface {
	// Look tells how all agents are now.
	Look(ctx context.Context) (Board, error)
	// Changed reports whether something was written down since the last look. It costs next to nothing.
	Changed() bool
	// ShowAll makes Look tell of all sessions of the machine, or of this place again.
	ShowAll(all bool)
	// Screen is what the pane of an agent shows, with its colours.
	Screen(ctx context.Context, a Agent) (string, error)
	// Lines counts what an agent has changed since its base, and what its models took.
	Lines(ctx context.Context, a Agent) (Lines, error)
	// Forecasts returns the forecasts for all agents of a session, by name.
	Forecasts(ctx context.Context, session string) (map[string]Forecast, error)
	// State is what an agent has done by now. Commands take it, to do what they do with just that.
	State(ctx context.Context, a Agent) (State, error)
	// Question is what an agent asks, with the answers that it offers. The error says why it cannot be answered from here.
	Question(ctx context.Context, a Agent) (Question, error)
	// Comment keeps a comment on lines of a diff without styles, counted from 0, and tells which place it is about.
	Comment(ctx context.Context, a Agent, diff string, first, last int, text string) (place string, err error)
	// Place names lines of such a diff that are there, or a file of it, as paw blame takes them.
	Place(diff string, first, last int) (string, error)
	// Comments are the comments on an agent's work that were not sent yet, with where they stand in such a diff.
	Comments(ctx context.Context, a Agent, diff string) ([]Comment, error)
	// ChangeComment gives a comment another text; without one it is forgotten.
	ChangeComment(ctx context.Context, a Agent, old Comment, text string) error
	// Draft is the prompt for an agent, by its key, that the user turned away from, "" for none.
	Draft(key string) string
	// KeepDraft keeps such a prompt, for the next desk as well; an empty one is none.
	KeepDraft(key, text string) error
	// CLIs are the names of the CLIs that are installed.
	CLIs() []string
	// Run runs a command of paw without a terminal. What it prints goes to out; the result is its exit code.
	Run(ctx context.Context, out io.Writer, words ...string) int
	// Attach shows the agent's pane on the terminal until the user leaves it. over tells that the desk is to end with it.
	Attach(ctx context.Context, a Agent) (over bool, err error)
	// Edit lets the user change a text in his editor, on the terminal.
	Edit(ctx context.Context, text string, stdin io.Reader, stdout, stderr io.Writer) (string, error)
}

// matches reports whether every word of a filter is somewhere in the row.
func (a Agent) matches(filter string) bool {
	row := strings.ToLower(strings.Join([]string{a.Key(), a.CLI, a.State, a.About, a.Prompt, a.Branch, groupNames[a.Group]}, " "))
	for _, word := range strings.Fields(strings.ToLower(filter)) {
		if !strings.Contains(row, word) {
			return false
		}
	}
	return true
}
