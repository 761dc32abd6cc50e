package cli

import "fmt"

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
	Mode    string // the CLI's own name for what a prompt would be done by, "" where it shows none
}

// String is the screen in one line: `empty`, `filled "the draft"`, `dialog "asks you to log in"` or `unseen`, and `works`
// or `limited` behind that.
func (s Screen) String() string {
	if s.Works {
		s.Works = false
		return s.String() + " works"
	}
	if s.Limited {
		s.Limited = false
		return s.String() + " limited"
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
