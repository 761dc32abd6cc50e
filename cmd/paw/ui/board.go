package ui

import (
	"context"
	"io"
	"strings"
	"time"
)

// Group says what an agent asks of the user. The desk lists the groups in the order of their
// values.
type Group int

// The groups of the list.
const (
	NeedsYou Group = iota // the agent waits for an answer, has failed or crashed, or its work conflicts
	ToReview              // the agent has finished turns that the user has not seen
	Working
	Quiet
)

var groupNames = [...]string{NeedsYou: "NEEDS YOU", ToReview: "TO REVIEW", Working: "WORKING", Quiet: "QUIET"}

// Agent is one row of the desk. Every text is one line without control characters.
type Agent struct {
	Session, Name string
	Number        int    // belongs to one agent as long as the session lives, 0 for none
	Parent        string // the agent of the session that started this one, "" where the user did
	CLI, Branch   string
	Group         Group
	Urgency       int    // orders a group: the lowest comes first
	State         string // in words
	Colour        string // SGR code of the state's colour, such as 33;1
	Since         time.Time
	Turn          string // number of the last turn, with an ellipsis while the turn runs
	About         string // the question, why the agent has its state, or the prompt
	Prompt        string // prompt of the last turn
	Asks          bool   // the agent waits with the question in About
	Cut           bool   // the last turn was cut, and the agent waits for a prompt
	Failed        bool   // the last turn has failed
	Exited        bool   // the CLI has ended by itself, and the pane shows what it has left
	Dead          bool   // the tmux session that the agent ran in is gone
	Runs          bool   // the CLI is at work in a turn
	Pull          string // address of the pull request, "" for none
	Pane          string // id of the tmux pane, "" for none
	Mark          string // changes whenever the agent's work may have changed
	Ended         string // changes whenever a turn has ended
	Lands         string // changes whenever the forecast for the agent may have changed; "" where only Ended tells
	Far           bool   // the agent runs on another machine; Session is then HOST:SESSION
	Away          bool   // the other machine is not reached: the row is as it was at Since

	depth int // in the list: 0, or 1 more than the parent's
}

// Key returns SESSION/AGENT, which commands take as the name of an agent.
func (a Agent) Key() string { return a.Session + "/" + a.Name }

// Board is what the desk lists at one moment.
type Board struct {
	Agents   []Agent
	Place    string   // says whose sessions are listed: "all sessions", a repository or a folder
	Queues   []string // one line for each session with a queue
	Problems []string
	Events   []Event // what has happened lately, as far as the look shows it
}

// Event is something that has happened.
type Event struct {
	At   time.Time
	Text string
	Bad  bool
}

// Doing is what an agent's CLI does now, as the CLI writes it into the file of the conversation. It is zero where
// that file tells nothing.
type Doing struct {
	What  string    // the last tool call, else the model's last sentence
	Since time.Time // when What began
	Tool  bool      // What is a tool call without a result
	Last  time.Time // when the CLI last wrote its record
}

// Forecast says what would happen if an agent's work landed now.
type Forecast struct {
	Target string   // the branch to land in
	Files  []string // the files that conflict with Target
	Others []string // the agents whose work conflicts with this agent's
	Lines  string   // how many would be added and deleted, such as "+3 -1"; "" where there is nothing to land
}

// Question is what an agent asks, as the agent's CLI shows it.
type Question struct {
	ID      string
	Text    string
	Options []Option // in the order of their numbers, from 1
	Several bool     // options are ticked
}

// State is a snapshot of an agent's work.
type State struct {
	Commit string
	Turn   int // the last turn that had finished before the snapshot
}

// Comment is a review comment on an agent's work that was not sent yet.
type Comment struct {
	Place string // PATH or PATH:LINE-LINE, "" for all of the work
	Text  string
	Stale bool   // the lines have changed since the comment was written
	Line  int    // line of the diff, from 0; -1 where the diff does not have the place
	ID    string // changes with the comment
}

// Option is one answer to a Question.
type Option struct {
	Label string
	Means string // yes, no or always; "" for any other answer
}

// Paw is everything that the desk reads and does. Several goroutines may call the methods at once.
type Paw interface {
	// Look returns all agents as they are now.
	Look(ctx context.Context) (Board, error)
	// Changed reports whether paw has written anything since the last Look. Changed is cheap enough
	// to be called every beat.
	Changed() bool
	// ShowAll makes Look return all sessions of the machine or, with false, those of the place
	// where the desk was opened.
	ShowAll(all bool)
	// Screen returns what an agent's pane shows, with colours.
	Screen(ctx context.Context, a Agent) (string, error)
	// Doing returns what agents in a turn do, by key. Doing is cheap enough to be called each second.
	Doing(ctx context.Context, agents []Agent) map[string]Doing
	// Forecasts returns the forecasts for the agents of a session, by the agent's name.
	Forecasts(ctx context.Context, session string) (map[string]Forecast, error)
	// State takes a snapshot of an agent's work, for commands that are to act on exactly that work.
	State(ctx context.Context, a Agent) (State, error)
	// Highlight returns a diff with colours for the syntax of its lines, or the diff as it is.
	Highlight(ctx context.Context, diff string, dark bool) string
	// Question returns what an agent asks and the answers. The error says why the desk cannot
	// answer for the user.
	Question(ctx context.Context, a Agent) (Question, error)
	// Comment keeps a comment on lines of a diff without styles, counted from 0, and returns the
	// place of the comment.
	Comment(ctx context.Context, a Agent, diff string, first, last int, text string) (place string, err error)
	// Comments returns the comments on an agent's work that were not sent yet, with their lines in
	// such a diff.
	Comments(ctx context.Context, a Agent, diff string) ([]Comment, error)
	// ChangeComment replaces the text of a comment; an empty text deletes the comment.
	ChangeComment(ctx context.Context, a Agent, old Comment, text string) error
	// Draft returns the prompt that the user has begun for the agent with this key, "" for none.
	Draft(key string) string
	// KeepDraft stores a prompt that the user has begun, so that the next desk has it too; an empty
	// text deletes the prompt.
	KeepDraft(key, text string) error
	// CLIs returns the names of the installed CLIs.
	CLIs() []string
	// Run runs a command of paw without a terminal, writes its output to out, and returns the exit
	// code.
	Run(ctx context.Context, out io.Writer, words ...string) int
	// Attach shows an agent's pane on the terminal until the user leaves it. The desk ends as well
	// if over is true.
	Attach(ctx context.Context, a Agent) (over bool, err error)
	// Edit opens a text in the user's editor, and returns the text after the editor has ended.
	Edit(ctx context.Context, text string, stdin io.Reader, stdout, stderr io.Writer) (string, error)
}

// matches reports whether the row contains every word of a filter.
func (a Agent) matches(filter string) bool {
	row := strings.ToLower(strings.Join([]string{a.Key(), a.CLI, a.State, a.About, a.Prompt, a.Branch, groupNames[a.Group]}, " "))
	for _, word := range strings.Fields(strings.ToLower(filter)) {
		if !strings.Contains(row, word) {
			return false
		}
	}
	return true
}

// stateFlag makes a command act on the given snapshot of an agent's work, which is the one that the
// user saw.
const stateFlag = "--state"
