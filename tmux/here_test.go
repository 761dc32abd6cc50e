package tmux

import "testing"

// TestHere: the terminal that is moved is the one in which the user acts, and none for a program that has only inherited the
// variables of a pane.
func TestHere(t *testing.T) {
	panes := []seat{{name: "%1", session: "$1", pid: 100, tty: 7}, {name: "%2", session: "$2", pid: 200, tty: 8}, {name: "%2", session: "$3", pid: 200, tty: 8},
		{name: "%3", session: "$6", pid: 400, tty: 9}}
	clients := []seat{
		{name: "old", session: "$1", activity: 10}, {name: "new", session: "$1", activity: 20}, {name: "control", session: "$1", activity: 30, control: true},
		{name: "linked", session: "$3", activity: 5}, {name: "other", session: "$4", activity: 99}, {name: "iterm", session: "$5", activity: 1, control: true},
	}
	in := func(pane, session string, parents []int, ttys ...uint64) caller {
		return caller{server: 50, session: session, pane: pane, parents: parents, ttys: ttys}
	}
	handed := in("%1", "$1", []int{9, 50})
	handed.client = "old"
	keyed := in("%1", "$1", []int{300, 101, 100, 50}, 12)
	keyed.client = "old"
	gone := handed
	gone.client = "left"
	for name, c := range map[string]struct {
		at     caller
		client string
		in     where
	}{
		"in a pane":                              {in("%1", "$1", []int{101, 100, 50}, 7), "new", inside},
		"in a pane, without a terminal":          {in("%1", "$1", []int{101, 100, 50}), "new", inside},
		"on its terminal, its parents are gone":  {in("%1", "$1", nil, 7), "new", inside},
		"in a pane of two sessions":              {in("%2", "$2", []int{200, 50}, 8), "linked", inside},
		"in an editor that a pane started":       {in("%1", "$1", []int{300}, 12), "", outside},
		"in an editor in front of a pane":        {in("%1", "$1", []int{300, 101, 100, 50}, 12), "new", unsure},
		"there, where nobody shows the pane":     {in("%3", "$6", []int{300, 401, 400, 50}, 12), "", outside},
		"there, by a key that tells its client":  {keyed, "old", inside},
		"in an editor whose pane is closed":      {in("%9", "$1", []int{300}, 12), "", outside},
		"in a popup":                             {in("", "$1", []int{301, 50}, 12), "new", inside},
		"in a popup of a session of one client":  {in("", "$4", []int{301, 50}, 12), "other", inside},
		"by a key, which tells its pane":         {in("%2", "$1", []int{301, 50}), "linked", inside},
		"by a key, which tells its client":       {handed, "old", inside},
		"by a key of a client that has left":     {gone, "new", inside},
		"in a pane that only iTerm shows":        {in("", "$5", []int{301, 50}), "iterm", inside},
		"in a pane that nobody shows":            {in("", "$6", []int{301, 50}), "", inside},
		"in a terminal beside tmux":              {caller{}, "", outside},
		"with variables of a server that is not": {caller{session: "$1", pane: "%1"}, "", outside},
	} {
		if client, in := c.at.here(panes, clients); client != c.client || in != c.in {
			t.Errorf("%s: %q, %d; want %q, %d", name, client, in, c.client, c.in)
		}
	}
}
