package ui

import (
	"context"
	"fmt"
	"io"
	"math/rand"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"paw/config/display"
)

// allKeys are the keys that do something in some view, and some that do not.
var allKeys = strings.Fields("j k down up g G 1 5 9 tab n / esc esc A left right space pgdown pgup enter s + S x y r R t o p d u b [ ] N { } m l L U Q ? a c C w é 店 " +
	"backspace alt+enter ctrl+w ctrl+u ctrl+a ctrl+e home end")

// With any keys on any terminal, every line fits, the screen has as many lines as the terminal, the
// cursor is on the screen, and no control sequences but styles are drawn.
func TestAnyKeysOnAnyTerminal(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	paw := &played{pages: map[string]string{}, codes: map[string]int{}}
	for _, agent := range hostile().Agents {
		paw.pages["diff "+agent.Key()+" --state "] = somePatch + "\x1b]0;title\x07\x1b[2J\x9b31m" + strings.Repeat("wide 店 ", 100) + "\n\x0elqk\x0f\n\ttab\r\n"
		paw.pages["log "+agent.Key()] = strings.Repeat("user\n  text\n", 100)
	}
	for round := range 30 {
		board := hostile()
		for range round % 4 {
			board.Queues = append(board.Queues, "averylongsessionname: queue: 2 run, 5 wait, next at 19:30")
		}
		m := opened(paw, board, Options{Colour: round%2 == 0}, 80, 24)
		var typedKeys []string
		for range 60 {
			if r.Intn(8) == 0 {
				m = after(m, tea.WindowSizeMsg{Width: r.Intn(300), Height: r.Intn(80)})
			}
			key := allKeys[r.Intn(len(allKeys))]
			typedKeys = append(typedKeys, key)
			m = typed(m, key)
			if wrong := m.wrong(); wrong != "" {
				t.Fatalf("%dx%d after %s: %s", m.width, m.height, strings.Join(typedKeys, " "), wrong)
			}
		}
	}
}

// wrong returns what is wrong with the screen, "" for nothing.
func (m Model) wrong() string {
	lines := m.frame().draw()
	if m.width < 1 || m.height < 1 {
		return ""
	}
	if len(lines) != m.height {
		return fmt.Sprintf("%d lines", len(lines))
	}
	for _, line := range lines {
		if w := m.Width(line); w > m.width {
			return fmt.Sprintf("%d columns: %q", w, line)
		}
		if rest := styleCodes.ReplaceAllString(line, ""); strings.ContainsFunc(rest, func(r rune) bool { return r < 0x20 || r >= 0x7f && r < 0xa0 }) {
			return fmt.Sprintf("it commands the terminal: %q", line)
		}
	}
	if x, y, shown := m.frame().cursor(); shown && (x < 0 || x > m.width+2 || y < 0 || y >= m.height) {
		return fmt.Sprintf("the cursor is at %d, %d", x, y)
	}
	return ""
}

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

// Each key runs the command that does the same.
func TestKeysAreCommands(t *testing.T) {
	for keys, want := range map[string]string{
		"m":                       "seen shop/api@3 --state c0ffee",
		"d m":                     "diff shop/api --state c0ffee; seen shop/api@3 --state c0ffee; diff shop/api --state c0ffee",
		"d b":                     "diff shop/api --state c0ffee",
		"d B B":                   "diff shop/api --state c0ffee; diff shop/api --unseen --state c0ffee; diff shop/api --state c0ffee",
		"d [ m":                   "diff shop/api --state c0ffee; diff shop/api@4; seen shop/api@4; diff shop/api@4",
		"d L y":                   "diff shop/api --state c0ffee; land shop/api --state c0ffee --dry-run; diff shop/api --state c0ffee; land shop/api --state c0ffee; diff shop/api --state c0ffee",
		"l":                       "forecast --session shop",
		"L":                       "land shop/api --state c0ffee --dry-run",
		"L y":                     "land shop/api --state c0ffee --dry-run; land shop/api --state c0ffee",
		"L x":                     "land shop/api --state c0ffee --dry-run",
		"U y":                     "land --undo --session shop --dry-run",
		"x y":                     "stop --session shop api",
		"x x":                     "",
		"R y":                     "recover shop --detach",
		"R o":                     "recover shop api --detach",
		"space 3 R o":             "recover shop api --detach",
		"3 d j j j j j j enter":   "diff shop/tests --unseen --state c0ffee",
		"+ x enter d":             "",
		"5 enter y":               "recover shop infra --detach",
		"5 enter s":               "recover shop --detach",
		"5 enter x":               "",
		"5 x y":                   "remove --session shop infra",
		"5 x x":                   "",
		"space space s h i enter": "send shop/api,docs -- hi",
		"space space x y":         "stop --session shop api docs",
		"space 3 space m":         "seen --session shop api tests",
		"space 3 m":               "seen --session shop api",
		"space space L y":         "land --session shop api docs --state api=c0ffee,docs=c0ffee --dry-run; land --session shop api docs --state api=c0ffee,docs=c0ffee",
		"space space R y":         "recover shop api docs --detach",
		"space space =":           "diff shop/api docs",
		"space =":                 "diff shop/api docs",
		"space space space =":     "",
		"space space esc x y":     "stop --session shop tests",
		"space 3 d m":             "diff shop/tests --unseen --state c0ffee; seen shop/tests@3 --state c0ffee; diff shop/tests --unseen --state c0ffee",
		"l x y":                   "forecast --session shop; stop --session shop api",
		"l 3 m":                   "forecast --session shop; seen shop/tests@3 --state c0ffee",
		"L n m":                   "land shop/api --state c0ffee --dry-run; seen shop/api@3 --state c0ffee",
		"o R y":                   "log shop/api; recover shop --detach; log shop/api",
		"r 1 enter":               "turns shop/api; rewind shop/api 1; turns shop/api",
		"r u n d o enter":         "turns shop/api; rewind shop/api --undo; turns shop/api",
		"s h i enter":             "send shop/api -- hi",
		"s h alt+enter i enter":   "send shop/api -- h\ni",
		"s h i esc s enter":       "send shop/api -- hi",
		"a y":                     "answer shop/api 1 --question q1",
		"a 3":                     "answer shop/api 3 --question q1",
		"a j k A":                 "answer shop/api 2 --question q1",
		"a a":                     "",
		"a esc y":                 "",
		"d C":                     "diff shop/api --state c0ffee",
		"u":                       "",
		"u y":                     "update shop/api",
		"F y":                     "send shop/api --conflict",
		"s enter":                 "",
		"+ d e m o enter a enter": "add --session shop --cli demo --prompt a",
		"+ enter d":               "diff shop/api --state c0ffee",
		"S d e m o enter enter":   "start --detach --cli demo",
		"d":                       "diff shop/api --state c0ffee",
		"d B":                     "diff shop/api --state c0ffee; diff shop/api --unseen --state c0ffee",
		"d u y":                   "diff shop/api --state c0ffee; update shop/api; diff shop/api --state c0ffee",
		"d [ [ ] ]":               "diff shop/api --state c0ffee; diff shop/api@4; diff shop/api@3; diff shop/api@4; diff shop/api --state c0ffee",
		"3 d":                     "diff shop/tests --unseen --state c0ffee",
		"o":                       "log shop/api",
		"right":                   "turns shop/api",
		"right j":                 "turns shop/api; turns shop/docs",
	} {
		paw := &played{asked: &permission, state: State{"c0ffee", 3}}
		typed(opened(paw, fiveAgents(), Options{}, 120, 35), strings.Fields(keys)...)
		if got := strings.Join(paw.ran, "; "); got != want {
			t.Errorf("%s: %q, want %q", keys, got, want)
		}
	}
}

// g tells only agents whose turns were cut to go on.
func TestGoOn(t *testing.T) {
	for keys, want := range map[string]string{"g y": "send shop/api -- go on", "g a": "send shop/api,docs -- go on", "g x": "", "3 g y": "", "2 g y": "send shop/docs -- go on"} {
		paw, board := &played{}, fiveAgents()
		for i := range board.Agents {
			if a := &board.Agents[i]; a.Group == NeedsYou {
				a.Cut, a.Asks = true, false
				a.About = "turn 4 was cut: " + a.Prompt
			}
		}
		m := opened(paw, board, Options{}, 120, 35)
		typed(m, strings.Fields(keys)...)
		if got := strings.Join(paw.ran, "; "); got != want {
			t.Errorf("%s: %q, want %q\n%s", keys, got, want, screenOf(m))
		}
	}
}

// g tells an agent whose turn has failed to go on. For agents other than the selected one, y sends
// nothing and says so.
func TestGoOnAfterAFailure(t *testing.T) {
	paw, board := &played{}, fiveAgents()
	for i := range board.Agents {
		a := &board.Agents[i]
		a.Asks, a.Failed, a.Cut = false, a.Name == "api", a.Name == "docs"
	}
	m := typed(opened(paw, board, Options{}, 120, 35), "1", "g", "y")
	if got := strings.Join(paw.ran, "; "); got != "send shop/api -- go on" {
		t.Errorf("%q\n%s", got, screenOf(m))
	}
	if m = typed(m, "3", "g", "y"); len(paw.ran) != 1 || !strings.Contains(screenOf(m), "nothing was sent") {
		t.Errorf("%q\n%s", paw.ran, screenOf(m))
	}
}

// g is for the marked agents; an agent whose turn has neither failed nor was cut gets no prompt,
// and is named.
func TestGoOnOfTheMarked(t *testing.T) {
	paw, board := &played{}, fiveAgents()
	for i := range board.Agents {
		a := &board.Agents[i]
		a.Asks, a.Failed, a.Cut = false, a.Name == "api", a.Name == "docs"
	}
	m := typed(opened(paw, board, Options{}, 120, 35), strings.Fields("1 space 2 space 3 space g")...)
	if got := screenOf(m); !strings.Contains(got, "tell api, docs (2 agents) to go on?") || !strings.Contains(got, "no turn of tests was cut or has failed") {
		t.Errorf("not asked:\n%s", got)
	}
	typed(m, "y")
	if got := strings.Join(paw.ran, "; "); got != "send shop/api,docs -- go on" {
		t.Errorf("%q", got)
	}
	paw.ran = nil
	m = typed(opened(paw, board, Options{}, 120, 35), strings.Fields("3 space 1 g")...)
	if got := screenOf(m); len(paw.ran) > 0 || !strings.Contains(got, "no turn of tests was cut or has failed") {
		t.Errorf("%q\n%s", paw.ran, got)
	}
}

// U takes back exactly the landing that its plan shows, and none without a plan.
func TestUndoOfTheShownLanding(t *testing.T) {
	plan := "undo landing 3 of shop/api: bring main back to 0123456789ab\n"
	paw := &played{pages: map[string]string{"land --undo --session shop --dry-run": plan}}
	typed(opened(paw, fiveAgents(), Options{}, 120, 35), "U", "y")
	if got := strings.Join(paw.ran, "; "); got != "land --undo --session shop --dry-run; land --undo --session shop 3" {
		t.Error(got)
	}
}

// A prompt that is being sent is not offered as a draft; if it could not be sent, it is.
func TestPromptThatIsBeingSent(t *testing.T) {
	paw := &played{drafts: map[string]string{}}
	m := typed(opened(paw, fiveAgents(), Options{}, 120, 35), strings.Fields("1 s o n e")...)
	next, send := m.Update(press("enter"))
	m = typed(next.(Model), "s")
	if got := screenOf(m); strings.Contains(got, "> one") {
		t.Errorf("what is being sent is in the box:\n%s", got)
	}
	if m = typed(m, "esc"); paw.drafts["shop/api"] != "one" {
		t.Errorf("the desk could lose what is being sent: %q", paw.drafts)
	}
	m = typed(m, strings.Fields("s t w o esc")...)
	m = after(m, laterMsg(func(m Model) (tea.Model, tea.Cmd) { return m, send }))
	if paw.drafts["shop/api"] != "two" {
		t.Errorf("kept %q", paw.drafts)
	}
	if got := screenOf(typed(m, "s")); !strings.Contains(got, "> two") {
		t.Errorf("the draft is gone:\n%s", got)
	}
	if typed(m, "s", "ctrl+u", "esc"); paw.drafts["shop/api"] != "" {
		t.Errorf("a draft that was emptied is kept: %q", paw.drafts)
	}
	paw.codes = map[string]int{"send shop/docs -- three": 6}
	typed(m, strings.Fields("2 s t h r e e enter")...)
	if paw.drafts["shop/docs"] != "three" {
		t.Errorf("not kept: %q", paw.drafts)
	}
	m = typed(opened(paw, fiveAgents(), Options{}, 120, 35), strings.Fields("1 s o n e")...)
	next, _ = m.Update(press("enter"))
	if typed(next.(Model), strings.Fields("s t w o esc s ctrl+u esc")...); paw.drafts["shop/api"] != "" {
		t.Errorf("a draft that was emptied while another prompt is being sent is kept: %q", paw.drafts)
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
	next, _ := m.Update(boardMsg{board: board, now: noon})
	if got := screenOf(next.(Model)); strings.Contains(got, "marked") {
		t.Errorf("an agent that is gone is marked:\n%s", got)
	}
}

// Enter in the list of turns shows what the turn at the cursor has changed, and never attaches to
// the pane.
func TestEnterOnTheListOfTurns(t *testing.T) {
	for list, want := range map[string]string{"TURN  STATE\n  2  finished\n  1  finished\n": "diff shop/api@2", "no turns yet\n": ""} {
		paw := &played{pages: map[string]string{"turns shop/api": list}}
		m := typed(opened(paw, fiveAgents(), Options{}, 120, 35), "1", "t", "enter")
		if got := strings.TrimPrefix(strings.TrimPrefix(strings.Join(paw.ran, "; "), "turns shop/api"), "; "); got != want {
			t.Errorf("%q: ran %q\n%s", list, got, screenOf(m))
		}
	}
}

// A plan that was turned down is closed, and a key of the list closes the output of a command.
func TestOutputIsNoTrap(t *testing.T) {
	paw := &played{pages: map[string]string{"forecast --session shop": "AGENT\n", "land shop/api --state  --dry-run": "plan\n"}}
	m := typed(opened(paw, fiveAgents(), Options{}, 120, 35), "L")
	if m.run == nil || m.ask == nil {
		t.Fatal(screenOf(m))
	}
	if m = typed(m, "pgdown", "n"); m.run != nil || m.ask != nil {
		t.Errorf("the plan that was turned down is still there\n%s", screenOf(m))
	}
	for key, want := range map[string]string{"n": "shop/docs", "4": "shop/web", "esc": "shop/api", "tab": "shop/tests", "j": "shop/api"} {
		m := typed(opened(paw, fiveAgents(), Options{}, 120, 35), "l", key)
		if m.roster.selected != want || (m.run == nil) != (key != "j") {
			t.Errorf("%s: %s is selected, output: %t", key, m.roster.selected, m.run != nil)
		}
	}
}

// g acts on agents whose turns were cut even while the output of recover is shown.
func TestGoOnBehindARecovery(t *testing.T) {
	board := fiveAgents()
	board.Agents[4].Asks, board.Agents[4].Cut = false, true
	m := typed(opened(&played{}, board, Options{}, 120, 35), "R", "y", "g")
	if got := screenOf(m); !strings.Contains(got, "tell api to go on?") {
		t.Error(got)
	}
}

// One line of output becomes a note; longer output, such as an error with a hint, is shown.
func TestWhatCommandsSay(t *testing.T) {
	const seen = "seen shop/api@0"
	paw := &played{pages: map[string]string{seen: "api: marked as seen\n"}}
	if got := screenOf(typed(opened(paw, fiveAgents(), Options{}, 120, 35), "m")); !strings.Contains(got, "\napi: marked as seen\n") {
		t.Error(got)
	}
	paw.pages[seen], paw.codes = "paw: error: api: no such agent\npaw: hint: paw status\n", map[string]int{seen: 10}
	got := screenOf(typed(opened(paw, fiveAgents(), Options{}, 120, 35), "m"))
	for _, want := range []string{"$ paw seen shop/api@0", "exit code 10", "paw: hint: paw status"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if strings.Contains(got, "paw seen shop/api@0 …") {
		t.Errorf("it seems to run still:\n%s", got)
	}
}

// A prompt that was not sent is a draft for its agent, even after a draft for another agent.
func TestDraftsStay(t *testing.T) {
	paw := &played{}
	m := typed(opened(paw, fiveAgents(), Options{}, 120, 35), "s", "a", "esc", "j", "s", "b", "esc", "k", "s")
	if got := m.ask.text.String(); got != "a" {
		t.Errorf("%q", got)
	}
	if m = typed(m, "enter", "s"); m.ask.text.String() != "" {
		t.Errorf("after it was sent: %q", m.ask.text.String())
	}
	m = typed(opened(paw, fiveAgents(), Options{}, 120, 35), "j", "s")
	if got := m.ask.text.String(); got != "b" {
		t.Errorf("in the next desk: %q", got)
	}
	paw.codes = map[string]int{"send shop/docs -- b": 3}
	if m = typed(m, "enter", "s"); m.ask.text.String() != "b" {
		t.Errorf("after it was refused: %q", m.ask.text.String())
	}
}

// Keys move through a diff by hunk, by file and by search text.
func TestWalkThroughADiff(t *testing.T) {
	paw := &played{pages: map[string]string{"diff shop/tests --unseen --state ": somePatch}}
	m := typed(opened(paw, fiveAgents(), Options{}, 120, 35), "3", "d")
	at := func() string { return display.Strip(m.page.lines[m.page.cursor]) }
	for _, c := range []struct{ keys, want string }{
		{"n", "diff --git a/parse.go b/parse.go"}, {"n", "@@ -1,3 +1,4 @@ func parse"}, {"n", "diff --git a/main.go b/main.go"}, {"N", "@@ -1,3 +1,4 @@ func parse"}, {"}", "diff --git a/main.go b/main.go"},
		{"{", "diff --git a/parse.go b/parse.go"}, {"/ t w o enter", "-two"}, {"n", "+two and a half"}, {"n", "+two and a half"}, {"esc G", "+new"}, {"g", "2 files, +3 -2"},
	} {
		if m = typed(m, strings.Fields(c.keys)...); at() != c.want {
			t.Errorf("%s: %q, want %q", c.keys, at(), c.want)
		}
	}
}

// A question that the agent no longer asks is not answered, whether it went before or after the
// desk showed it.
func TestQuestionThatIsGone(t *testing.T) {
	paw := &played{}
	got := screenOf(typed(opened(paw, fiveAgents(), Options{}, 120, 35), "a"))
	if !strings.Contains(got, "api: does not ask") || !strings.Contains(got, "paw: hint: paw attach shop api") {
		t.Error(got)
	}
	paw.asked = &permission
	m := typed(opened(paw, fiveAgents(), Options{}, 120, 35), "a")
	board := fiveAgents()
	board.Agents[4] = agent("api", "claude", Working, "running", "32", "4…", "make the parser strict")
	m = after(m, boardMsg{board: board, now: noon})
	if got := screenOf(m); !strings.Contains(got, "api does not ask any more") {
		t.Error(got)
	}
	if typed(m, "y", "1"); len(paw.ran) > 0 {
		t.Errorf("ran %q", paw.ran)
	}
}

// Leaving the desk while a command runs asks first; any key but y stays.
func TestCommandUnderWay(t *testing.T) {
	m := opened(&played{}, fiveAgents(), Options{}, 120, 35)
	next, cmd := m.Update(press("l"))
	m = next.(Model)
	if m = typed(m, "esc", "q"); m.ask == nil {
		t.Error("it was not asked")
	}
	m = after(typed(m, "x"), cmd()) // the command ends
	if _, quit := m.Update(press("q")); quit == nil {
		t.Error("it does not end")
	}
}

// Comments on a line and on a range of lines are kept, and sent together.
func TestComments(t *testing.T) {
	paw := &played{pages: map[string]string{"diff shop/tests --unseen --state ": somePatch}}
	m := typed(opened(paw, fiveAgents(), Options{}, 120, 35), strings.Fields("3 d n n j c o n e enter v j j c t w o alt+enter t h r e e enter C")...)
	want := []string{"shop/tests 8-8 one", "shop/tests 8-10 two\nthree"}
	if !slices.Equal(paw.comments, want) {
		t.Errorf("%q, want %q", paw.comments, want)
	}
	if got := screenOf(m); !strings.Contains(got, "send 2 comments to tests as one prompt?") || !strings.Contains(got, "  shop/tests 8-8 one\n") {
		t.Error(got)
	}
	if typed(m, "y"); !slices.Contains(paw.ran, "review shop/tests --send") {
		t.Errorf("ran %q", paw.ran)
	}
}

// The margin marks lines with a comment. Enter opens the comment: a changed text is kept, and an
// empty text deletes the comment.
func TestCommentsInTheMargin(t *testing.T) {
	paw := &played{pages: map[string]string{"diff shop/tests --unseen --state ": somePatch},
		notes: []Comment{{Place: "parse.go:2", Text: "why twice?", Line: 10}, {Place: "gone.go", Text: "and this?", Line: -1}}}
	m := opened(paw, fiveAgents(), Options{}, 120, 35)
	m = typed(m, strings.Fields("3 d n")...)
	if got := screenOf(m); strings.Count(got, "● ") != 1 || !strings.Contains(got, "\n● +two and a half") {
		t.Fatalf("not in the margin:\n%s", got)
	}
	if got := screenOf(typed(m, "enter")); !strings.Contains(got, "no comment of yours on this line") {
		t.Errorf("not said:\n%s", got)
	}
	if strings.Contains(screenOf(m), "why twice?") {
		t.Errorf("the cursor is elsewhere:\n%s", screenOf(m))
	}
	m = typed(m, "j", "j", "j", "j", "j", "j")
	if got := screenOf(m); !strings.Contains(got, "● why twice? · Enter changes or deletes it") {
		t.Errorf("not said:\n%s", got)
	}
	m = typed(m, "enter")
	if got := screenOf(m); !strings.Contains(got, "your comment on parse.go:2") || !strings.Contains(got, "> why twice?") {
		t.Errorf("not shown:\n%s", got)
	}
	if m = typed(m, "!", "enter"); paw.notes[0].Text != "why twice?!" || !strings.Contains(screenOf(m), "comment kept") {
		t.Errorf("%+v\n%s", paw.notes, screenOf(m))
	}
	if m = typed(m, "enter", "x", "esc"); paw.notes[0].Text != "why twice?!" {
		t.Errorf("Esc has changed it: %+v", paw.notes)
	}
	if m = typed(m, "enter", "ctrl+u", "enter"); len(paw.notes) != 1 || strings.Contains(screenOf(m), "● ") || !strings.Contains(screenOf(m), "comment deleted") {
		t.Errorf("%+v\n%s", paw.notes, screenOf(m))
	}
}

// With one mark, keys act on the marked agent, and the question and the line at the bottom say so.
// While the detail fills the screen, keys act on the agent that is shown.
func TestOneMark(t *testing.T) {
	m := typed(opened(&played{}, fiveAgents(), Options{}, 120, 35), "space", "3")
	if got := screenOf(m); !strings.Contains(got, "esc unmark") {
		t.Errorf("not said:\n%s", got)
	}
	if got := screenOf(typed(m, "x")); !strings.Contains(got, "stop api? Its branch") {
		t.Errorf("not asked about the one with the mark:\n%s", got)
	}
	if got := screenOf(typed(m, "R")); !strings.Contains(got, "o only api") {
		t.Errorf("not asked about the one with the mark:\n%s", got)
	}
	if got := screenOf(typed(m, "z", "x")); !strings.Contains(got, "stop tests? Its branch") {
		t.Errorf("not asked about the one that is shown:\n%s", got)
	}
}

// A draft for one agent is not offered for several, and a draft for several does not replace it.
func TestDraftsOfOneAndOfSeveral(t *testing.T) {
	paw := &played{drafts: map[string]string{"shop/api": "for api alone"}}
	m := typed(opened(paw, fiveAgents(), Options{}, 120, 35), "space", "space", "s")
	if got := screenOf(m); strings.Contains(got, "for api alone") {
		t.Errorf("offered to both:\n%s", got)
	}
	if typed(m, "h", "i", "esc"); paw.drafts["shop/api"] != "for api alone" {
		t.Errorf("kept %q", paw.drafts)
	}
	typed(m, "h", "i", "enter")
	if !slices.Contains(paw.ran, "send shop/api,docs -- hi") || paw.drafts["shop/api"] != "for api alone" {
		t.Errorf("ran %q, kept %q", paw.ran, paw.drafts)
	}
}

// A name that is no CLI stays in the box to be corrected: the next keys are no keys of the list.
func TestRefusedCLIStaysInTheBox(t *testing.T) {
	m := typed(opened(&played{}, fiveAgents(), Options{}, 120, 35), strings.Fields("+ c l a u d e x enter")...)
	if got := screenOf(m); !strings.Contains(got, "claudex: no such CLI is installed") || !strings.Contains(got, "> claudex") {
		t.Errorf("not said, or not kept:\n%s", got)
	}
	if got := screenOf(typed(m, "backspace", "enter")); !strings.Contains(got, "first prompt of claude") {
		t.Errorf("not mended:\n%s", got)
	}
}

// Without agents the list fills the screen, and no key shows a page.
func TestNobodyIsThere(t *testing.T) {
	for _, key := range []string{"t", "d", "o", "m", "L", "enter"} {
		m := typed(opened(&played{}, Board{Place: "~/src"}, Options{}, 120, 35), key)
		if got := screenOf(m); !strings.Contains(got, "S starts some, A shows all sessions of this machine\n") {
			t.Errorf("%s:\n%s", key, got)
		}
	}
}

// The box for CLIs lists the installed ones, and a name that is none is refused before a prompt is
// asked for.
func TestStartsOnlyCLIsThatAreThere(t *testing.T) {
	paw := &played{}
	m := typed(opened(paw, fiveAgents(), Options{}, 120, 35), "S")
	if got := screenOf(m); !strings.Contains(got, "several with commas: claude, demo · Esc cancels") {
		t.Errorf("not said:\n%s", got)
	}
	if got := screenOf(typed(m, strings.Fields("f r e d enter")...)); !strings.Contains(got, "fred: no such CLI is installed; there is claude, demo") {
		t.Errorf("not refused:\n%s", got)
	}
	typed(m, strings.Fields("x = d e m o , c l a u d e enter enter")...)
	if want := "start --detach --cli x=demo,claude"; !slices.ContainsFunc(paw.ran, func(line string) bool { return strings.HasSuffix(line, want) }) {
		t.Errorf("ran %q, want %s", paw.ran, want)
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

// Enter on a turn shows what the turn has changed; a key that does nothing says so.
func TestEnterOnATurn(t *testing.T) {
	paw := &played{pages: map[string]string{"turns shop/tests": "N   OUTCOME\n11  success\n12  success\n"}}
	m := typed(opened(paw, fiveAgents(), Options{}, 120, 35), "3", "t", "j", "enter")
	if m.tab != tabDiff || m.scope.turn != 11 || !slices.Contains(paw.ran, "diff shop/tests@11") {
		t.Errorf("turn %d is shown; ran %q", m.scope.turn, paw.ran)
	}
	for _, keys := range []string{"y", "t y", "c"} {
		if got := screenOf(typed(opened(paw, fiveAgents(), Options{}, 120, 35), strings.Fields(keys)...)); !strings.Contains(got, " does nothing here; ? lists all keys") {
			t.Errorf("%s:\n%s", keys, got)
		}
	}
}

// A comment on a line that is no line of a file is about the file, and the question says so.
func TestCommentOnAFile(t *testing.T) {
	paw := &played{pages: map[string]string{"diff shop/tests --unseen --state ": somePatch}, file: "parse.go"}
	m := typed(opened(paw, fiveAgents(), Options{}, 120, 35), "3", "d", "n", "c")
	if got := screenOf(m); !strings.Contains(got, "comment on the file parse.go of tests") {
		t.Error(got)
	}
}

// b runs blame for the marked lines of what is shown: of a snapshot, or of the end of a turn.
func TestBlameOfLines(t *testing.T) {
	for keys, want := range map[string]string{
		"d b":                 "",
		"d n j j b":           "blame shop/tests --state c0ffee parse.go:6-6",
		"d n j v j j b":       "blame shop/tests --state c0ffee parse.go:5-7",
		"d [ n b":             "blame shop/tests@12 parse.go:1-1",
		"d n j v j b esc j b": "blame shop/tests --state c0ffee parse.go:5-6; blame shop/tests --state c0ffee parse.go:7-7",
	} {
		paw := &played{state: State{"c0ffee", 12}, pages: map[string]string{"diff shop/tests --unseen --state c0ffee": somePatch, "diff shop/tests@12": "diff --git a/a b/a\n@@ -1 +1 @@\n-a\n+b\n"}}
		typed(opened(paw, fiveAgents(), Options{}, 120, 35), append([]string{"3"}, strings.Fields(keys)...)...)
		var ran []string
		for _, one := range paw.ran {
			if strings.HasPrefix(one, "blame ") {
				ran = append(ran, one)
			}
		}
		if got := strings.Join(ran, "; "); got != want {
			t.Errorf("%s: %q, want %q", keys, got, want)
		}
	}
}

// A question is about the agent that is shown, so the wheel does not select another agent
// meanwhile.
func TestTheWheelDoesNotChangeWhatIsAsked(t *testing.T) {
	m := typed(opened(&played{}, fiveAgents(), Options{}, 120, 35), "x")
	before := screenOf(m)
	after, _ := m.Update(tea.MouseWheelMsg{X: 2, Y: 3, Button: tea.MouseWheelDown})
	if got := screenOf(after.(Model)); got != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, got)
	}
}

// A command that still prints when the desk ends is interrupted, and ends although its output is no
// longer read.
func TestCommandThatPrintsWhenTheDeskGoes(t *testing.T) {
	paw := &played{run: func(ctx context.Context, out io.Writer) {
		for ctx.Err() == nil {
			_, _ = io.WriteString(out, "still at it\n")
		}
		_, _ = io.WriteString(out, "interrupted\n")
	}}
	ctx, leave := context.WithCancel(context.Background())
	ended := make(chan struct{})
	inner := paw.run
	paw.run = func(ctx context.Context, out io.Writer) { inner(ctx, out); close(ended) }
	m := New(ctx, paw, Options{})
	cmd, _ := m.command("forecast")
	if got, ok := cmd().(outputMsg); !ok || got.text != "still at it\n" {
		t.Fatalf("%#v", got)
	}
	leave()
	select {
	case <-ended:
	case <-time.After(30 * time.Second):
		t.Fatal("it waits for somebody who reads")
	}
}

// In a popup, where attaching ends the desk, a running command is not interrupted without a
// question.
func TestAttachingInAPopupInterruptsNothing(t *testing.T) {
	m := opened(&played{over: true}, fiveAgents(), Options{}, 120, 35)
	next, cmd := m.Update(press("l"))
	m = typed(next.(Model), "esc")
	next, quit := m.left(true, nil)
	if m = next.(Model); quit != nil || m.ask == nil {
		t.Fatal("it interrupts the forecast")
	}
	m = after(typed(m, "x"), cmd()) // the command ends
	if _, quit = m.left(true, nil); quit == nil {
		t.Error("it does not end")
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

// A late error or a late question does not replace what the user reads, but comes next.
func TestLateErrorsWait(t *testing.T) {
	paw := &played{pages: map[string]string{"forecast --session shop": "AGENT  FILES\n"}, codes: map[string]int{}}
	m := opened(paw, fiveAgents(), Options{}, 120, 35)
	next, stopped := typed(m, "x").Update(press("y"))
	_, asked := next.(Model).Update(press("a"))
	paw.pages["stop --session shop api"], paw.codes["stop --session shop api"] = "paw: error: api: no\npaw: hint: stop it\n", 1
	m = typed(next.(Model), "l")
	m = after(after(m, stopped()), asked())
	for i, want := range []string{"$ paw forecast --session shop", "$ paw stop --session shop api", "$ paw answer shop/api"} {
		if got := screenOf(m); !strings.Contains(got, want) {
			t.Errorf("%d: no %q in\n%s", i, want, got)
		}
		m = typed(m, "esc")
	}
	if m.run != nil {
		t.Error("it comes again")
	}
}

// m and L act on the snapshot that is shown, even if the work has changed since.
func TestKeysAreAboutWhatIsShown(t *testing.T) {
	for keys, want := range map[string]string{
		"m":   "diff shop/api --state c1; seen shop/api@3 --state c1; diff shop/api --state c2",
		"L y": "diff shop/api --state c1; land shop/api --state c1 --dry-run; diff shop/api --state c2; land shop/api --state c1; diff shop/api --state c2",
	} {
		paw := &played{state: State{"c1", 3}}
		m := typed(opened(paw, fiveAgents(), Options{}, 120, 35), "d")
		paw.state = State{"c2", 4}
		typed(m, strings.Fields(keys)...)
		if got := strings.Join(paw.ran, "; "); got != want {
			t.Errorf("%s: %q, want %q", keys, got, want)
		}
	}
	paw := &played{state: State{"c2", 4}} // in the row, turn 4 still runs
	m := typed(opened(paw, fiveAgents(), Options{}, 120, 35), "m")
	if got := screenOf(m); len(paw.ran) > 0 || !strings.Contains(got, "api has finished turn 4 meanwhile; nothing was marked") {
		t.Errorf("ran %q\n%s", paw.ran, got)
	}
}

// The cost of a command's output is proportional to its length.
func TestLongOutput(t *testing.T) {
	m := opened(&played{}, fiveAgents(), Options{}, 120, 35)
	m.run = &run{number: 7}
	shared := 0
	for range 2000 {
		was := m.run.lines
		next, _ := m.Update(outputMsg{number: 7, text: "one more line\n"})
		m = next.(Model)
		if len(was) > 0 && &was[0] == &m.run.lines[0] {
			shared++
		}
	}
	if len(m.run.lines) != 2000 || shared < 1900 {
		t.Errorf("%d lines, which were copied %d times", len(m.run.lines), 2000-shared)
	}
}

// A patch of several files begins with a list of the files, in which Enter goes to a file; a
// comment there is about the whole patch.
func TestFilesOfADiff(t *testing.T) {
	paw := &played{pages: map[string]string{"diff shop/tests --unseen --state ": somePatch}}
	m := typed(opened(paw, fiveAgents(), Options{}, 120, 35), "3", "d")
	for i, want := range []string{"2 files, +3 -2", "  parse.go  +2 -1", "  main.go   +1 -1", "", "diff --git a/parse.go b/parse.go"} {
		if got := display.Strip(m.page.lines[i]); got != want {
			t.Errorf("line %d: %q, want %q", i, got, want)
		}
	}
	for keys, want := range map[string]string{"j enter": "diff --git a/parse.go b/parse.go", "j j enter": "diff --git a/main.go b/main.go"} {
		if there := typed(m, strings.Fields(keys)...); display.Strip(there.page.lines[there.page.cursor]) != want {
			t.Errorf("%s: at %q, want %q", keys, display.Strip(there.page.lines[there.page.cursor]), want)
		}
	}
	if got := withoutIndex("\x1b[1mdiff --git a/a b/a\x1b[m\n\x1b[1mindex 1..2 100644\x1b[m\n index 1\n+index 2\n"); got != "\x1b[1mdiff --git a/a b/a\x1b[m\n index 1\n+index 2\n" {
		t.Errorf("%q", got)
	}
	const odd = "diff --git a/a b/b.txt b/a b/b.txt\n--- a/a b/b.txt\t\n+++ b/a b/b.txt\t\n@@ -1,2 +1,2 @@\n--- gone\n+++ here\n x\n" +
		"diff --git a/old b/new\nsimilarity index 100%\nrename from old\nrename to new\ndiff --git a/pic b/pic\nnew file mode 100644\nGIT binary patch\n+++ no hunk\n"
	want := []changedFile{{"a b/b.txt", 1, 1}, {"new", 0, 0}, {"pic", 0, 0}}
	if got := changedFiles(odd); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
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

// With two hundred agents on any terminal, j reaches every agent, the selected one is seen, and the
// last line of the list counts the agents that are not seen below.
func TestTwoHundredAgents(t *testing.T) {
	var board Board
	for i := range 200 {
		a := agent(fmt.Sprintf("a%03d", i), "demo", Group(i%4), "idle", "32", "1", "")
		if i%3 == 0 {
			a.About = "what it is about"
		}
		board.Agents = append(board.Agents, a)
	}
	for _, size := range [][2]int{{80, 24}, {120, 35}, {200, 50}} {
		m := opened(&played{}, board, Options{}, size[0], size[1])
		for i := range 200 {
			_, name, _ := strings.Cut(m.roster.selected, "/")
			if m.roster.rows[i].Name != name || !slices.ContainsFunc(m.frame().draw(), func(line string) bool {
				return strings.HasPrefix(line, "\x1b[7m") && strings.Contains(line, name)
			}) {
				t.Fatalf("%v: agent %d, %s, is not seen:\n%s", size, i, name, screenOf(m))
			}
			if more, last := countedBelow(m); last+more != 199 {
				t.Fatalf("%v: with agent %d selected the last that is seen is %d, and %d are counted below it:\n%s", size, i, last, more, screenOf(m))
			}
			if wrong := m.wrong(); wrong != "" {
				t.Fatalf("%v: agent %d: %s", size, i, wrong)
			}
			m = typed(m, "j")
		}
		if m = typed(m, "home"); m.top != 0 {
			t.Errorf("%v: the list begins with line %d", size, m.top)
		}
	}
}

// countedBelow returns how many agents the last line of the list counts, and the index of the last
// agent whose row is above.
func countedBelow(m Model) (more, last int) {
	for _, line := range m.listing().listView(m.layout().list) {
		words := strings.Fields(display.Strip(line))
		for i, a := range m.roster.rows {
			if slices.Contains(words, a.Name) {
				last = i
			}
		}
		if n := len(words); n > 1 && words[n-1] == "more" {
			more, _ = strconv.Atoi(words[n-2])
		}
	}
	return more, last
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
