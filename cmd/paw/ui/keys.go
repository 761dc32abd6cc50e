package ui

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"paw/cmd/paw/ui/field"
)

// pressed takes a key. helpFor lists the keys for the user.
func (m *Model) pressed(key tea.KeyPressMsg) tea.Cmd {
	word := key.String()
	m.roster.chosen = true
	if word == "alt+esc" { // Esc pressed twice arrives as one key
		word = "esc"
		key = tea.KeyPressMsg{Code: tea.KeyEscape}
	}
	var cmd tea.Cmd
	switch {
	case word == "ctrl+z":
		return tea.Suspend
	case word == "ctrl+l":
		return tea.ClearScreen
	case m.ask != nil:
		cmd = m.answered(key)
	case m.help:
		m.inHelp(word)
		return nil
	case m.run != nil:
		cmd = m.inOutput(word)
	case m.focus:
		cmd = m.inPage(word)
	default:
		cmd = m.inList(word)
	}
	if page := m.freshen(); page != nil {
		cmd = tea.Batch(cmd, page)
	}
	m.top = m.topNow()
	return cmd
}

// inHelp takes a key while the help is shown: it scrolls what is longer than the screen, any other key ends it.
func (m *Model) inHelp(word string) {
	at := m.layout().detail
	most := len(m.frame().helpView(at.width)) - at.height
	by := map[string]int{"j": 1, "down": 1, "k": -1, "up": -1, "pgdown": at.height, "space": at.height, "pgup": -at.height}[word]
	if m.help = by != 0 && most > 0; m.help {
		m.helpTop = min(max(m.helpTop+by, 0), most)
	}
}

// topNow returns the first line of the list to show, so that the selected agent is seen.
func (m *Model) topNow() int {
	l := m.layout()
	if l.list.height == 0 {
		return m.top
	}
	return m.frame().topFor(m.frame().listLines(l.list.width, l.list.height), l.list.height)
}

// inList takes a key that goes to the list.
func (m *Model) inList(word string) tea.Cmd {
	m.note = note{}
	if strings.Trim(word, "0123456789") != "" {
		m.digit = ""
	}
	switch word {
	case "q", "ctrl+c":
		return m.leave()
	case "?", "f1":
		m.help, m.helpTop = true, 0
	case "esc":
		if !m.large && m.roster.filter == "" {
			clear(m.roster.marks)
		}
		m.large = false
		m.roster.narrow("")
	case "j", "down":
		m.roster.step(1)
	case "k", "up":
		m.roster.step(-1)
	case "home":
		m.roster.selectAt(0)
	case "G", "end":
		m.roster.selectAt(len(m.roster.rows) - 1)
	case "tab":
		m.roster.nextGroup()
	case "0", "1", "2", "3", "4", "5", "6", "7", "8", "9":
		m.selectNumber(word)
	case "n":
		m.nextThatNeedsYou()
	case "z":
		m.large = !m.large
	case "space":
		m.mark()
	case "left", "right", "h":
		m.nextTab(word)
	case "pgdown", "ctrl+d", "J":
		m.page.scroll(m.pageHeight()/2, m.pageHeight())
	case "pgup", "ctrl+u", "K":
		m.page.scroll(-m.pageHeight()/2, m.pageHeight())
	case "p":
		m.tab = tabPane
	case "/":
		return m.asks(askFilter(m))
	case "A":
		m.all = !m.all
		m.paw.ShowAll(m.all)
		m.say(false, "%s", map[bool]string{true: "all sessions of this machine", false: "the sessions of this place"}[m.all])
	case "S":
		return m.askStart()
	case "Q":
		return showQueue(m)
	default:
		if a, ok := m.current(); ok {
			return m.act(word, a)
		}
	}
	return nil
}

// askFilter asks for a text that the shown agents have to contain.
func askFilter(m *Model) *ask {
	return &ask{title: "show only", keys: "Enter filters · Esc clears", text: field.Of(m.roster.filter), empty: true,
		changed: m.roster.narrow, done: m.roster.take}
}

// nextTab shows the tab to the right, or else to the left, of the current tab, and wraps around.
func (m *Model) nextTab(word string) {
	step := len(tabNames) - 1
	if word == "right" {
		step = 1
	}
	m.tab = (m.tab + tab(step)) % tab(len(tabNames))
}

// acts are the keys that act on the selected agent.
var acts = map[string]func(m *Model, a Agent) tea.Cmd{
	"enter": goToPane, "*": markGroup, "=": compare, "a": questionCmd, "s": askPrompt, "g": askGoOn, "C": commentsCmd, "m": markAllSeen, "L": planLanding, "U": planUndo,
	"x": askStop, "i": askInterrupt, "@": showPast, "R": askRecover, "r": askRewind, "+": askAdd,
	"t": func(m *Model, _ Agent) tea.Cmd { return turnTo(m, tabTurns) },
	"o": func(m *Model, _ Agent) tea.Cmd { m.page.cursor = 0; return turnTo(m, tabLog) },
	"d": func(m *Model, a Agent) tea.Cmd {
		m.scope = scope{unseen: a.Group == ToReview}
		return turnTo(m, tabDiff)
	},
	"l": func(m *Model, a Agent) tea.Cmd { return m.openly(nil, "forecast", "--session", a.Session) },
	"u": func(m *Model, a Agent) tea.Cmd {
		return m.asks(sure(fmt.Sprintf("bring what has landed into the worktree of %s?", a.Name), "update", func() tea.Cmd {
			return m.openly(nil, "update", a.Key())
		}))
	},
	"F": func(m *Model, a Agent) tea.Cmd {
		return m.asks(sure(fmt.Sprintf("ask %s to bring in the branch that its work conflicts with, and to resolve that?", a.Name), "ask",
			func() tea.Cmd { return m.quietly("send", a.Key(), "--conflict") }))
	},
}

// act takes a key that acts on the selected agent.
func (m *Model) act(word string, a Agent) tea.Cmd {
	if do := acts[word]; do != nil {
		return do(m, a)
	}
	return m.unknownKey(word)
}

// turnTo shows a tab, and gives it the keys.
func turnTo(m *Model, t tab) tea.Cmd {
	m.tab, m.focus = t, true
	return nil
}

// goToPane shows the agent's pane, or asks to bring back an agent without one.
func goToPane(m *Model, a Agent) tea.Cmd {
	if a.Pane == "" && !a.Far {
		return m.asks(askBack(m, a, fmt.Sprintf("%s is %s: bring it back?", a.Name, a.State), "s", "y"))
	}
	return attachCmd(m, a)
}

// showQueue lists the queued tasks of the selected agent's session.
func showQueue(m *Model) tea.Cmd {
	words := []string{"queue"}
	if a, ok := m.current(); ok {
		words = append(words, a.Session)
	}
	return m.openly(nil, words...)
}

// askStart asks for the agents of a new session and for a prompt, and starts the session.
func (m *Model) askStart() tea.Cmd {
	return m.askAgents("start a session here", "", "", func(items, prompt string) tea.Cmd {
		return m.openly(nil, withPrompt([]string{"start", "--detach", "--cli", items}, prompt)...)
	})
}

// digitTime is how soon after a digit the next digit continues the same number.
const digitTime = time.Second

// selectNumber selects the agent with the number that was typed. A digit soon after another one
// makes a number of two digits, if an agent has that number; else the digit counts alone.
func (m *Model) selectNumber(digit string) {
	typed := digit
	if m.now.Sub(m.digitAt) <= digitTime {
		typed = m.digit + digit
	}
	m.digit, m.digitAt = digit, m.now
	for _, text := range []string{typed, digit} {
		n, _ := strconv.Atoi(text)
		for _, a := range m.roster.rows {
			if n > 0 && m.roster.numberOf(a) == n {
				m.roster.choose(a)
				return
			}
		}
	}
	m.say(true, "no agent that is shown has the number %s", digit)
}

// nextThatNeedsYou selects the next agent that needs the user or, if no agent does, the next with
// work to review.
func (m *Model) nextThatNeedsYou() {
	agents := m.roster.rows
	at := m.roster.index()
	for _, g := range []Group{NeedsYou, ToReview} {
		for i := range agents {
			next := agents[(at+1+i)%len(agents)]
			if next.Group == g {
				m.tab = tabPane
				m.roster.choose(next)
				return
			}
		}
	}
	m.say(false, "nobody needs you")
}

// inOutput takes a key while the output of a command is shown.
func (m *Model) inOutput(word string) tea.Cmd {
	switch word {
	case "esc", "q", "enter":
		m.leaveRun()
		return nil
	case "@":
		if m.run.over {
			return showPast(m, Agent{})
		}
	case "ctrl+c":
		if m.run.over {
			m.leaveRun()
		} else {
			m.run.cancel()
		}
		return nil
	}
	if by := scrollKey(word, max(m.layout().detail.height-2, 1)); by != 0 && word != "space" && word != "g" { // space and g act on agents
		m.scrollRun(by)
		return nil
	}
	if next := m.run.next; next != nil && !m.run.over && next.choose[word] != "" { // an answer to a plan that is not there yet
		return nil
	}
	if m.leaveRun(); m.run != nil { // the output of another command is shown next
		return nil
	}
	if m.focus {
		return m.inPage(word)
	}
	return m.inList(word)
}

// unknownKey shows a note that a key does nothing, since the user expects the key to do something.
func (m *Model) unknownKey(word string) tea.Cmd {
	return m.say(false, "%s does nothing here; ? lists the keys", word)
}

// clicked selects the row, the tab or the line of the page under the mouse.
func (m *Model) clicked(click tea.MouseClickMsg) tea.Cmd {
	l := m.layout()
	m.roster.chosen = true
	if click.Button != tea.MouseLeft || m.ask != nil {
		return nil
	}
	if l.detail.has(click.X, click.Y) && !m.help && m.run == nil {
		m.clickedDetail(l.detail, click.X, click.Y)
		return m.freshen()
	}
	if !l.list.has(click.X, click.Y) {
		return nil
	}
	lines := m.frame().listLines(l.list.width, l.list.height)
	y := m.frame().topFor(lines, l.list.height) + click.Y - l.list.y
	if y < len(lines) && lines[y].agent >= 0 {
		m.roster.selectAt(lines[y].agent)
		m.top = m.topNow()
	}
	return m.freshen()
}

// clickedDetail shows the tab at x, or moves the cursor to the line of the page at y.
func (m *Model) clickedDetail(at area, x, y int) {
	if y == at.y {
		left := at.x + at.width
		for t := len(tabNames) - 1; t >= 0; t-- {
			left -= len(tabNames[t])
			if x >= left && x < left+len(tabNames[t]) {
				m.tab = tab(t)
				m.focus = m.focus && m.tab != tabPane
			}
			left-- // the space between two names
		}
		return
	}
	height := m.pageHeight()
	if line := y - (at.y + at.height - height); m.tab != tabPane && line >= 0 && m.page.top+line < len(m.page.lines) {
		m.page.cursor, m.focus = m.page.top+line, true
	}
}

// wheelLines is how many lines one turn of the wheel scrolls.
const wheelLines = 3

// wheeled scrolls what is under the mouse; over the list, the selection moves.
func (m *Model) wheeled(wheel tea.MouseWheelMsg) tea.Cmd {
	step := wheelLines
	m.roster.chosen = true
	switch wheel.Button {
	case tea.MouseWheelUp:
		step = -wheelLines
	case tea.MouseWheelDown:
	default:
		return nil
	}
	l := m.layout()
	switch {
	case l.list.has(wheel.X, wheel.Y) && m.ask != nil: // the question is about the selected agent, so the selection stays
	case l.list.has(wheel.X, wheel.Y):
		m.roster.step(step / wheelLines)
		m.top = m.topNow()
		return m.freshen()
	case l.detail.has(wheel.X, wheel.Y) && m.run != nil:
		m.scrollRun(step)
	case l.detail.has(wheel.X, wheel.Y):
		m.page.scroll(step, m.pageHeight())
	}
	return nil
}
