package ui

import (
	"fmt"
	"math/rand"
	"slices"
	"strconv"
	"strings"
	"testing"

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
func (m *Model) wrong() string {
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
		"* L y":                   "land --session shop api docs --state api=c0ffee,docs=c0ffee --dry-run; land --session shop api docs --state api=c0ffee,docs=c0ffee",
		"3 space * x y":           "stop --session shop tests web",
		"* * x y":                 "stop --session shop api",
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

// A plan that was turned down is closed, and a key of the list closes the output of a command.
func TestOutputIsNoTrap(t *testing.T) {
	paw := &played{pages: map[string]string{"forecast --session shop": "AGENT\n", "land shop/api --dry-run": "land turn 3\n"}}
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

// Nothing is asked where there is nothing to land, or to take back. A command whose output was left stands in the first line;
// what it says at its end covers nothing: @ shows it.
func TestPlansAndWhatRunsOn(t *testing.T) {
	paw := &played{pages: map[string]string{"land shop/api --dry-run": "shop/api: nothing to land, main has all of it\n"}}
	if m := typed(opened(paw, fiveAgents(), Options{}, 120, 35), "L"); m.ask != nil || !strings.Contains(screenOf(m), "nothing to land") {
		t.Errorf("it asks:\n%s", screenOf(m))
	}
	for code, said := range []string{"landed", "exit code 1; @ shows its output"} {
		m := opened(&played{}, fiveAgents(), Options{}, 120, 35)
		_ = m.openly(nil, "land", "shop/api")
		m = typed(m, "esc")
		if got := screenOf(m); !strings.Contains(got, "paw land shop/api 0s") {
			t.Errorf("nothing says that it runs:\n%s", got)
		}
		m = after(m, doneMsg{number: m.last, words: []string{"land", "shop/api"}, code: code, text: "landed\n  undo: paw land --undo\n"})
		if got := screenOf(m); strings.Contains(got, "$ paw land") || !strings.Contains(got, said) || strings.Contains(got, "api 0s") {
			t.Errorf("exit code %d:\n%s", code, got)
		}
		if got := screenOf(typed(m, "@")); !strings.Contains(got, "$ paw land") || !strings.Contains(got, "  undo: paw land --undo") {
			t.Errorf("exit code %d, @:\n%s", code, got)
		}
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
func countedBelow(m *Model) (more, last int) {
	for _, line := range m.frame().listView(m.layout().list) {
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

// TestAnswerToAPlanThatIsNotThereYet: it answers nothing, and the plan stays in view and asks.
func TestAnswerToAPlanThatIsNotThereYet(t *testing.T) {
	paw := &played{pages: map[string]string{"land shop/tests --dry-run": "land turn 12 of shop/tests into main\n"}}
	m := typed(opened(paw, fiveAgents(), Options{}, 100, 24), "3")
	plan := m.Update(m.Update(press("L"))())
	for _, key := range []string{"y", "Y"} {
		if m.Update(press(key)); m.run == nil || m.ask != nil {
			t.Fatalf("after %s the plan is not in view", key)
		}
	}
	if m = after(m, plan()); m.ask == nil {
		t.Errorf("it does not ask:\n%s", screenOf(m))
	}
}

// TestAnswerWhereNothingIsAsked: a line at the bottom says so, and no page opens.
func TestAnswerWhereNothingIsAsked(t *testing.T) {
	m := typed(opened(&played{}, fiveAgents(), Options{}, 100, 24), "3", "a")
	if m.run != nil || !strings.Contains(screenOf(m), "tests asks nothing") {
		t.Errorf("a page, or no word of it:\n%s", screenOf(m))
	}
}
