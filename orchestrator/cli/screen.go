package cli

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"paw/config/lazyregexp"
	"paw/session"
	"paw/session/turn"
)

// Screenshot is the content of a CLI's pane at one moment.
type Screenshot struct {
	Text             string // lines from the top, with colours and attributes as escape sequences
	Width, Height    int
	CursorX, CursorY int // column and row of the cursor, counted from 0
	CursorShown      bool
}

// Box is the state of a CLI's input box.
type Box string

// The states of an input box. A screen on which no input box is recognized has BoxUnseen.
const (
	BoxUnseen Box = ""
	BoxEmpty  Box = "empty"  // a prompt that is pasted now stands alone in the box
	BoxFilled Box = "filled" // the box contains text that may be the user's
)

// Screen holds what can be told with certainty from a screenshot. The zero value is an unrecognized
// screen.
type Screen struct {
	Box    Box
	Draft  string // text in a filled box, "" where it cannot be read as a whole
	Works  bool   // the screen says that a turn runs; many screens do not say so
	Dialog string // question of a dialog that replaces the box, such as "asks whether to trust the folder"; "" for no dialog
	// Question is the dialog with its answers: a question in a turn, or one that the CLI itself asks with a list that the
	// driver knows. It is nil for menus, for all other dialogs, and where the options cannot be read.
	Question *Question
	Stopped  bool   // the CLI has stopped itself, by Ctrl-Z, and goes on at a SIGCONT
	Fresh    bool   // no conversation is shown and the next prompt begins one; most CLIs show no sign of that
	Mode     string // the CLI's name for the mode or agent that would take a prompt, "" where none is shown
}

// Listed reports whether the dialog is one of the CLI itself, and its answers can be read.
func (s Screen) Listed() bool { return s.Question != nil && s.Question.Outside }

// String puts the screen in one line: `empty`, `filled "the draft"`, `dialog "asks you to log in"`
// or `unseen`, followed by `works` or `fresh`.
func (s Screen) String() string {
	text := string(cmp.Or(s.Box, "unseen"))
	switch {
	case s.Dialog != "":
		text = fmt.Sprintf("dialog %q", s.Dialog)
	case s.Box == BoxFilled:
		text = fmt.Sprintf("filled %q", s.Draft)
	}
	for _, one := range []struct {
		is   bool
		word string
	}{{s.Fresh, " fresh"}, {s.Works, " works"}} {
		if one.is {
			text += one.word
		}
	}
	return text
}

// Question is a question that a CLI asks, read from the CLI's screen.
type Question struct {
	Text    string   // question in one line, such as "asks for permission: npm test"
	Details string   // all that the one line leaves out of what is asked, in lines; "" where the CLI's screen has it
	Options []Option // all visible options, in their order
	// Deaf is how long the CLI ignores keys after it has asked.
	Deaf time.Duration
	// Paged means that the question is one of several pages that are submitted together.
	Paged bool
	// Submit is the key that goes on where several options may be ticked: the key of an option ticks it, or takes the tick away.
	// It is "" where one option is the answer.
	Submit string
	// Outside means that the CLI itself asks, outside of any turn, and that no hook tells of it.
	Outside bool
}

// ByArrows has the arrow keys select the options, and Enter take one, in place of a key for each.
func (q *Question) ByArrows() {
	for i := range q.Options {
		q.Options[i].Key = ""
	}
}

// Option is one answer that a question offers.
type Option struct {
	Label    string // text of the option on the screen, without its number
	Name     string // the CLI's own words for it, where paw puts others before them
	About    string // text that the CLI adds below, "" for none
	Key      string // tmux name of the key that takes the option at once; "" where the option has to be selected first
	Selected bool
	Box      string // box to tick before the label, EmptyBox while it is not ticked; "" for none
}

// EmptyBox is the box of an option that is not ticked.
const EmptyBox = "[ ]"

// Meaning classifies an option with one word for all CLIs.
type Meaning string

// The meanings of options.
const (
	MeansYes    Meaning = "yes"    // for this time only
	MeansAlways Meaning = "always" // from now on without a question
	MeansNo     Meaning = "no"
	MeansOther  Meaning = "" // any other answer: the user has to name the option by its number or its words
	MeansText   Meaning = "text"
)

var (
	saysText   = lazyregexp.New(`(?i)^(type (something|your own)|enter a custom|other \(type)`)
	saysNo     = lazyregexp.New(`(?i)^(no|reject|deny)(,|\s*\(|$)`)
	saysAlways = lazyregexp.New(`(?i)\balways\b|don.t ask again|\b(for|during) th(is|e) session\b|\bfuture sessions\b|auto[- ]?(accept|approve)|allow all\b|\baccept edits\b`)
	saysYes    = lazyregexp.New(`(?i)^(yes|allow once|y|confirm|submit answers)(,|\s*\(|$)`)
)

// Means classifies an option by its label. An unclear label is MeansOther.
func (o Option) Means() Meaning {
	switch {
	case saysText().MatchString(o.Label):
		return MeansText
	case saysNo().MatchString(o.Label), strings.EqualFold(o.Label, "n"):
		return MeansNo
	case saysAlways().MatchString(o.Label + " " + o.About):
		if saysYes().MatchString(o.Label) || strings.HasPrefix(o.Label, "Allow") {
			return MeansAlways
		}
	case saysYes().MatchString(o.Label):
		return MeansYes
	}
	return MeansOther
}

// Observed is the state of a conversation according to the CLI's own record. A record does not
// change when the CLI is killed: the caller has to find out whether the CLI still runs.
type Observed struct {
	Known    bool // the record says whether the CLI works; else Busy and Waiting have no meaning
	Busy     bool
	Waiting  bool   // the CLI waits for the user, at a dialog
	Question string // text of the dialog, as far as the record has it
	Vague    bool   // the record has only the kind of the dialog
	Late     bool   // the record gets the answer to a dialog only when what was allowed has ended
	// Ended tells how the open turn ended (KindEnd, KindError or KindInterrupt), nil when the
	// record has no end of it.
	Ended *turn.Event
	// Later has the turns that began after the open one, or after the last one where none is open,
	// and that no hook reports: a KindPrompt each, followed by its end if it has one.
	Later []turn.Event
	// Joined is a prompt that the open turn took while it ran and that the model has not answered
	// yet: a hook that reports this prompt now begins no turn.
	Joined string
	// Working lists the conversations that work for the open turn, of a CLI that runs several at a
	// time.
	Working []string
	// Live means that a running process keeps the record up to date: it is right also where a hook
	// is newer.
	Live   bool
	Leaves bool // the program is about to end, or has
	// Windows has the limits of the subscription as the CLI last told them.
	Windows []session.Window
	Folder  string         // folder in which the CLI works, "" where the record does not say
	Away    int            // pid of a process outside of the agent's pane that has the conversation, 0 for none
	At      time.Time      // time of the end if the turn ended and the CLI rests, else since when the state holds
	Source  session.Source // record (what the CLI keeps about its processes) or transcript
}

// AtWork reports whether the record says that the CLI works or waits for the user.
func (o Observed) AtWork() bool { return o.Known && (o.Busy || o.Waiting) }

// Ready lists the signs by which a CLI shows that it takes typed input: each of Event and Box that
// is set has to hold. With neither, there is no sign.
type Ready struct {
	Event  bool          // the first KindSessionStart is a sign
	Box    bool          // CLI.Screen recognizes the input box: nothing is typed before the box is seen empty
	Silent bool          // the only sign that a working CLI has queued a prompt is that the box is empty again
	Settle time.Duration // pause between a paste and Enter
	// Clear lists keys, by their tmux names, that together delete a line or more of the input box and do
	// nothing to an empty one; none where there are no such keys.
	Clear []string
}
