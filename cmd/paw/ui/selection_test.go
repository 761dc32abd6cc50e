package ui

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"paw/config/display"
)

// The selected agent stays selected in any row and group; when the agent leaves the board, its
// neighbour is selected.
func TestSelectionStays(t *testing.T) {
	board := fiveAgents()
	m := typed(opened(&played{}, board, Options{}, 100, 30), "3")
	if m.roster.selected != "shop/tests" {
		t.Fatal(m.roster.selected)
	}
	board.Agents[2].Group = NeedsYou
	m = after(m, boardMsg{board: board, now: noon})
	if m.roster.selected != "shop/tests" {
		t.Errorf("after it has moved: %s", m.roster.selected)
	}
	board.Agents = append(board.Agents[:2:2], board.Agents[3:]...)
	if m = after(m, boardMsg{board: board, now: noon}); m.roster.selected != "shop/api" {
		t.Errorf("after it has left: %s", m.roster.selected)
	}
	if m = after(m, boardMsg{now: noon}); m.roster.selected != "" {
		t.Errorf("where there is none: %s", m.roster.selected)
	}
}

// A digit selects the same agent wherever its row is; with several sessions, as long as the desk is
// open.
func TestDigitsStay(t *testing.T) {
	board := fiveAgents()
	m := opened(&played{}, board, Options{}, 100, 30)
	is := func(when, keys, want string) {
		t.Helper()
		if m = typed(m, strings.Fields(keys)...); m.roster.selected != want {
			t.Errorf("%s, %s: %s, want %s\n%s", when, keys, m.roster.selected, want, screenOf(m))
		}
	}
	is("at first", "4", "shop/web")
	board.Agents[1].Group, board.Agents[4].Group = NeedsYou, Quiet
	m = after(m, boardMsg{board: board, now: noon})
	is("after they have moved", "1", "shop/api")
	is("after they have moved", "4", "shop/web")
	is("a number that nobody has", "9", "shop/web")
	board.Agents = slices.Delete(board.Agents, 3, 4)
	m = after(m, boardMsg{board: board, now: noon})
	is("of one that was removed", "2", "shop/web")
	is("after one was removed", "5", "shop/infra")

	board = fiveAgents()
	board.Agents[3].Session, board.Agents[4].Session = "other", "other"
	m = opened(&played{}, board, Options{}, 100, 30)
	is("of several sessions", "4", "other/docs")
	board.Agents = append(slices.Delete(board.Agents, 0, 2), Agent{Session: "new", Name: "first", Number: 1})
	m = after(m, boardMsg{board: board, now: noon})
	is("of several sessions, some gone", "4", "other/docs")
	is("of several sessions, a new one", "6", "new/first")
}

// Until the user presses a key, the first row is selected, whichever agent that is.
func TestFirstRowIsSelectedUntilAKey(t *testing.T) {
	board := fiveAgents()
	board.Agents[4].Group, board.Agents[4].Asks = Quiet, false
	m := opened(&played{}, board, Options{}, 100, 30)
	if m.roster.selected != "shop/docs" {
		t.Fatal(m.roster.selected)
	}
	m = after(m, boardMsg{board: fiveAgents(), now: noon})
	if m.roster.selected != "shop/api" {
		t.Errorf("the first row is that of api, and selected is %s", m.roster.selected)
	}
	m = after(typed(m, "?", "?"), boardMsg{board: board, now: noon})
	if m.roster.selected != "shop/api" {
		t.Errorf("after a key: %s", m.roster.selected)
	}
}

// n selects the agents that need the user, and if there are none, those with work to review.
func TestNext(t *testing.T) {
	m := opened(&played{}, fiveAgents(), Options{}, 100, 30)
	var went []string
	for range 3 {
		m = typed(m, "n")
		went = append(went, m.roster.selected)
	}
	board := fiveAgents()
	board.Agents = board.Agents[:3]
	m = typed(opened(&played{}, board, Options{}, 100, 30), "n")
	if got, want := strings.Join(append(went, m.roster.selected), " "), "shop/docs shop/api shop/docs shop/tests"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	board.Agents = board.Agents[:2]
	if m = typed(opened(&played{}, board, Options{}, 100, 30), "n"); !strings.Contains(screenOf(m), "nobody needs you") {
		t.Error(screenOf(m))
	}
}

// Keys act on marked agents even if the filter hides them.
func TestMarksBehindAFilter(t *testing.T) {
	paw := &played{}
	m := typed(opened(paw, fiveAgents(), Options{}, 120, 35), strings.Fields("1 space / w e b enter x")...)
	if got := screenOf(m); !strings.Contains(got, "stop api?") || !strings.Contains(got, "1 marked") {
		t.Errorf("not asked about the marked agent:\n%s", got)
	}
	m = opened(paw, fiveAgents(), Options{}, 120, 35)
	m = typed(m, "1", "space")
	board := fiveAgents()
	board.Agents = slices.DeleteFunc(board.Agents, func(a Agent) bool { return a.Name == "api" })
	m.Update(boardMsg{board: board, now: noon})
	if got := screenOf(m); strings.Contains(got, "marked") {
		t.Errorf("an agent that is gone is marked:\n%s", got)
	}
}

// Two digits typed quickly are one number if an agent has that number; else, or after a while, the
// second digit counts alone.
func TestNumbersOfTwoDigits(t *testing.T) {
	var board Board
	for n := 1; n <= 12; n++ {
		a := agent(fmt.Sprintf("agent%d", n), "claude", Quiet, "idle", "", "1", "")
		a.Number = n
		board.Agents = append(board.Agents, a)
	}
	for keys, want := range map[string]string{"1": "agent1", "1 2": "agent12", "1 0": "agent10", "1 3": "agent3", "2 1": "agent1", "1 later 2": "agent2", "1 1 2": "agent12", "1 j 2": "agent2", "1 0 5": "agent5"} {
		m := opened(&played{}, board, Options{}, 120, 35)
		for key := range strings.FieldsSeq(keys) {
			if key == "later" {
				m = after(m, clockMsg(noon.Add(5*time.Second)))
				continue
			}
			m = typed(m, key)
		}
		if a, _ := m.current(); a.Name != want {
			t.Errorf("%s: %s, want %s", keys, a.Name, want)
		}
	}
}

// The selected agent stays selected after it no longer matches the filter, and leaves the list when
// another agent is selected.
func TestSelectionStaysBehindTheFilter(t *testing.T) {
	m := typed(opened(&played{}, fiveAgents(), Options{}, 100, 30), "/", "i", "d", "l", "e", "enter", "d")
	if m.roster.selected != "shop/tests" || len(m.roster.rows) != 1 {
		t.Fatal(m.roster.selected, len(m.roster.rows))
	}
	board := fiveAgents()
	board.Agents[2].Group, board.Agents[2].State = Working, "running"
	board.Agents[1].State = "idle"
	m = after(m, boardMsg{board: board, now: noon})
	if m.roster.selected != "shop/tests" {
		t.Errorf("after a look: %s", m.roster.selected)
	}
	m = after(m, outlookMsg{"shop", map[string]Forecast{"web": {Target: "main"}}})
	if m.roster.selected != "shop/tests" || len(m.roster.rows) != 2 {
		t.Errorf("after a forecast: %s of %d", m.roster.selected, len(m.roster.rows))
	}
	m = typed(m, "esc", "j")
	if m.roster.selected != "shop/web" {
		m = typed(m, "k")
	}
	if m.roster.selected != "shop/web" || len(m.roster.rows) != 1 {
		t.Errorf("after it was left: %s of %d", m.roster.selected, len(m.roster.rows))
	}
	if m = typed(m, "/", "ctrl+u", "q", "u", "i", "e", "t"); m.roster.selected != "shop/infra" || len(m.roster.rows) != 1 {
		t.Errorf("after another filter: %s of %d", m.roster.selected, len(m.roster.rows))
	}
}

// Children are below their parents in a group, however long other agents wait; a child in another
// group stands alone.
func TestChildrenBelowTheirParents(t *testing.T) {
	child := func(name, parent string, g Group) Agent {
		a := agent(name, "demo", g, "idle", "", "1", "")
		a.Parent = parent
		return a
	}
	board := Board{Agents: []Agent{
		child("grandchild", "child", Quiet), child("child", "parent", Quiet), child("alone", "", Quiet), child("parent", "", Quiet),
		child("asks", "parent", NeedsYou), child("loop", "loop", Quiet), child("lost", "gone", Quiet),
	}}
	m := opened(&played{}, board, Options{}, 120, 35)
	var got []string
	for _, a := range m.roster.rows {
		got = append(got, strings.Repeat(">", a.depth)+a.Name)
	}
	if got, want := strings.Join(got, " "), "asks alone parent >child >>grandchild loop lost"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := screenOf(m); !strings.Contains(got, "└ child") || !strings.Contains(got, "  └ grandchild") || !strings.Contains(got, "demo of parent") {
		t.Error(got)
	}
}

// In a group the longest wait comes first, and what is unknown last, as in paw status and paw next.
func TestLongestWaitFirst(t *testing.T) {
	for _, g := range []Group{NeedsYou, ToReview} {
		board := Board{}
		for name, minutes := range map[string]int{"unknown": 0, "short": 1, "long": 9, "middle": 5} {
			a := agent(name, "demo", g, "idle", "", "1", "")
			if a.Since = noon.Add(-time.Duration(minutes) * time.Minute); minutes == 0 {
				a.Since = time.Time{}
			}
			board.Agents = append(board.Agents, a)
		}
		var got []string
		for _, a := range opened(&played{}, board, Options{}, 120, 35).roster.rows {
			got = append(got, a.Name)
		}
		if got, want := strings.Join(got, " "), "long middle short unknown"; got != want {
			t.Errorf("group %d: %s, want %s", g, got, want)
		}
	}
}

// A click shows the tab under the mouse, moves the cursor to a line of the page, or selects the
// agent of a row.
func TestClicks(t *testing.T) {
	paw := &played{pages: map[string]string{"diff shop/tests --state ": somePatch}}
	m := typed(opened(paw, fiveAgents(), Options{}, 120, 35), "3")
	click := func(text string) {
		t.Helper()
		for y, line := range m.frame().draw() {
			if x := strings.Index(display.Strip(line), text); x >= 0 {
				m = after(m, tea.MouseClickMsg{X: m.Width(display.Strip(line)[:x]), Y: y, Button: tea.MouseLeft})
				return
			}
		}
		t.Fatalf("no %q in\n%s", text, screenOf(m))
	}
	if click("diff log"); m.tab != tabDiff || m.focus {
		t.Fatalf("tab %d", m.tab)
	}
	if click("+two and a half"); !m.focus || display.Strip(m.page.lines[m.page.cursor]) != "+two and a half" {
		t.Errorf("line %d", m.page.cursor)
	}
	if click("+new"); display.Strip(m.page.lines[m.page.cursor]) != "+new" {
		t.Errorf("line %d where the page has the screen", m.page.cursor)
	}
	if click("pane turns"); m.tab != tabPane || m.focus {
		t.Errorf("tab %d", m.tab)
	}
	if click("docs"); m.roster.selected != "shop/docs" {
		t.Errorf("%s is selected", m.roster.selected)
	}
	m = typed(m, "x")
	if before := m.roster.selected; len(m.roster.rows) > 0 {
		if click("web"); m.roster.selected != before {
			t.Errorf("%s is selected while something else is asked", m.roster.selected)
		}
	}
}

// After a filter that matches nobody, the agent that was selected before is selected again: the next key acts on it.
func TestSelectionComesBackAfterAFilter(t *testing.T) {
	m := typed(opened(&played{}, fiveAgents(), Options{}, 100, 30), "3", "/", "q", "q")
	if len(m.roster.rows) != 0 {
		t.Fatalf("%d agents match", len(m.roster.rows))
	}
	m = after(m, boardMsg{board: fiveAgents(), now: noon})
	if m = typed(m, "esc"); m.roster.selected != "shop/tests" {
		t.Errorf("selected: %s", m.roster.selected)
	}
}

// What is marked and filtered is said before where the agents are, which has less room then.
func TestHeadOfANarrowScreen(t *testing.T) {
	board := fiveAgents()
	board.Place = "shop  ~/src/a/long/way/down/to/shop"
	m := typed(opened(&played{}, board, Options{}, 80, 24), "space", "/", "o", "enter")
	if head, _, _ := strings.Cut(screenOf(m), "\n"); !strings.Contains(head, "paw  1 marked  /o  shop  ~/") || !strings.Contains(head, "2 need you") {
		t.Error(head)
	}
}
