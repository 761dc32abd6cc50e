package cli

import (
	"fmt"
	"strings"
	"time"

	"paw/config/lazyregexp"
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
	Box     Box
	Draft   string // text in a filled box, "" where it cannot be read as a whole
	Works   bool   // the screen says that a turn runs; many screens do not say so
	Dialog  string // question of a dialog that replaces the box, such as "asks whether to trust the folder"; "" for no dialog
	Listed  bool   // the dialog is one of the CLI itself, and its answers can be read; set by CLI.Screen
	Limited bool   // the screen says that a usage limit is reached
	Fresh   bool   // no conversation is shown and the next prompt begins one; most CLIs show no sign of that
	Mode    string // the CLI's name for the mode or agent that would take a prompt, "" where none is shown
}

// String puts the screen in one line: `empty`, `filled "the draft"`, `dialog "asks you to log in"`
// or `unseen`, followed by `works`, `limited` or `fresh`.
func (s Screen) String() string {
	if s.Works {
		s.Works = false
		return s.String() + " works"
	}
	if s.Limited {
		s.Limited = false
		return s.String() + " limited"
	}
	if s.Fresh {
		s.Fresh = false
		return s.String() + " fresh"
	}
	switch {
	case s.Dialog != "":
		return fmt.Sprintf("dialog %q", s.Dialog)
	case s.Box == BoxFilled:
		return fmt.Sprintf("filled %q", s.Draft)
	case s.Box == BoxUnseen:
		return "unseen"
	}
	return string(s.Box)
}

// Question is a question that a CLI asks in a turn, read from the CLI's screen.
type Question struct {
	Text    string   // question in one line, such as "asks for permission: npm test"
	Options []Option // all visible options, in their order
	// Deaf is how long the CLI ignores keys after it has asked.
	Deaf time.Duration
	// Confirms means that the question asks to confirm the answer just given, which counts only
	// after this one.
	Confirms bool
	// Paged means that the question is one of several pages that are submitted together.
	Paged bool
	// Outside means that the CLI itself asks, outside of any turn, and that no hook tells of it.
	Outside bool
	// Onward and Back are the keys that select the next and the previous option, and Enter takes
	// the selected one. Both are "" where each option has a key of its own.
	Onward, Back string
}

// Option is one answer that a question offers.
type Option struct {
	Label    string // text of the option on the screen, without its number
	About    string // text that the CLI adds below, "" for none
	Key      string // tmux name of the key that takes the option at once; "" where the option has to be selected first
	Selected bool
}

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
	case saysText.MatchString(o.Label):
		return MeansText
	case saysNo.MatchString(o.Label), strings.EqualFold(o.Label, "n"):
		return MeansNo
	case saysAlways.MatchString(o.Label + " " + o.About):
		if saysYes.MatchString(o.Label) || strings.HasPrefix(o.Label, "Allow") {
			return MeansAlways
		}
	case saysYes.MatchString(o.Label):
		return MeansYes
	}
	return MeansOther
}
