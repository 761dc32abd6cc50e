package tmux

import (
	"fmt"

	"paw/config/lazyregexp"
)

const defaultWidth, defaultHeight = 220, 60

// NewSession describes a tmux session for Create.
type NewSession struct {
	Name       string // name of the tmux session: letters, digits, _ and -
	PawSession string // value of the session option @paw_session
	PawID      string // value of the session option @paw_id, "" for none
	Dir        string // absolute path; windows that the user opens start here
	// Width and Height are the size of the terminal that will attach, in columns and lines; 0 means
	// 220x60.
	Width, Height int
	Layout        string // "" means LayoutTiled
	// Counts adds the number of agents in each state to the status line. Bell rings when an agent
	// begins to wait for the user. Mouse turns the mouse on, unless the server has read a
	// configuration file.
	Counts, Bell, Mouse bool
	Agents              []AgentPane
}

// Layouts of NewSession.
const (
	LayoutTiled   = "tiled"   // all agents in one window, as long as each pane is usable
	LayoutWindows = "windows" // each agent in a window of its own
)

var pawID = lazyregexp.New(`^[A-Za-z0-9-]+$`)

var sessionName = lazyregexp.New(`^[A-Za-z0-9_][A-Za-z0-9_-]*$`)

func (s *NewSession) check() error {
	if !sessionName.MatchString(s.Name) {
		return fmt.Errorf("tmux session %q: not a valid name", s.Name)
	}
	if !isWord(s.PawSession) {
		return fmt.Errorf("session %q: not a valid name", s.PawSession)
	}
	if s.PawID != "" && !pawID.MatchString(s.PawID) {
		return fmt.Errorf("session %s: %q is not an id", s.PawSession, s.PawID)
	}
	if len(s.Agents) == 0 {
		return fmt.Errorf("tmux session %s: no agents", s.Name)
	}
	if err := checkAgents(s.Agents); err != nil {
		return err
	}
	if s.Width <= 0 || s.Height <= 0 {
		s.Width, s.Height = defaultWidth, defaultHeight
	}
	return checkLayout(&s.Layout)
}

func checkLayout(layout *string) error {
	switch *layout {
	case "":
		*layout = LayoutTiled
	case LayoutTiled, LayoutWindows:
	default:
		return fmt.Errorf("layout %q: neither %s nor %s", *layout, LayoutTiled, LayoutWindows)
	}
	return nil
}
