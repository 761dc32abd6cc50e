package cli

import (
	"fmt"
	"strings"
	"time"

	"paw/config/lazyregexp"
)

// Screenshot is what the pane of a CLI shows at one moment.
type Screenshot struct {
	Text             string // the lines from the top, with colours and attributes as escape sequences
	Width, Height    int
	CursorX, CursorY int // from 0
	CursorShown      bool
}

// Box is the state of a CLI's input box.
type Box string

// The states of an input box. A screen on which no input box is recognized has BoxUnseen.
const (
	BoxUnseen Box = ""
	BoxEmpty  Box = "empty"  // a prompt that is pasted now stands alone in it
	BoxFilled Box = "filled" // somebody's text stands in it
)

// Screen is what a screenshot shows for certain. The zero value is a screen that is not recognized: nothing follows from
// it.
type Screen struct {
	Box     Box
	Draft   string // the text in a filled box, "" where it cannot be read whole
	Works   bool   // it says that it works on a turn; many a screen leaves that out
	Dialog  string // what a dialog asks in place of the box, such as "asks whether to trust the folder"; "" for no dialog
	Limited bool   // it says that a usage limit is reached
	Fresh   bool   // it shows no conversation, and the next prompt begins one; most CLIs do not tell
	Mode    string // the CLI's own name for what a prompt would be done by, "" where it shows none
}

// String is the screen in one line: `empty`, `filled "the draft"`, `dialog "asks you to log in"` or `unseen`, and `works`,
// `limited` or `fresh` behind that.
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

// Question is what a CLI asks in a turn, as its screen shows it.
type Question struct {
	Text    string   // in one line, such as "asks for permission: npm test"
	Options []Option // all that can be seen, in their order
	// Deaf is for how long after it was asked the CLI takes no keys.
	Deaf time.Duration
	// Confirms says that it is asked about an answer that was just given, which counts only after this one.
	Confirms bool
	// Paged says that it is one of several that are asked one after the other: all of them are asked once.
	Paged bool
	// Onward and Back are the keys that select the next option and the one before; Enter takes the selected one. "" where
	// each option has a key.
	Onward, Back string
}

// Option is one answer that a question offers.
type Option struct {
	Label    string // as the CLI shows it, without its number
	About    string // what the CLI adds below, "" for nothing
	Key      string // that takes it at once, as tmux names keys; "" where it has to be selected first
	Selected bool
}

// Meaning is what an option says, in one word for all CLIs.
type Meaning string

// The meanings of options.
const (
	MeansYes    Meaning = "yes"    // this once
	MeansAlways Meaning = "always" // and without a question from now on
	MeansNo     Meaning = "no"
	MeansOther  Meaning = "" // none of these: it has to be named by its number or its words
	MeansText   Meaning = "text"
)

var (
	saysText   = lazyregexp.New(`(?i)^(type (something|your own)|enter a custom|other \(type)`)
	saysNo     = lazyregexp.New(`(?i)^(no|reject|deny)(,|\s*\(|$)`)
	saysAlways = lazyregexp.New(`(?i)\balways\b|don.t ask again|\b(for|during) th(is|e) session\b|auto[- ]?(accept|approve)|allow all\b|\baccept edits\b`)
	saysYes    = lazyregexp.New(`(?i)^(yes|allow once|y|confirm|submit answers)(,|\s*\(|$)`)
)

// Means is what the words of an option say. What is not clear is MeansOther.
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
