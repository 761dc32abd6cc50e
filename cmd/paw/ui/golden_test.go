package ui

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"image/color"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"

	"paw/config/display"
)

var update = flag.Bool("update", false, "write the golden screens anew")

// noon is the time at which the tests draw their screens.
var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// played is a Paw with answers that a test has set.
type played struct {
	pages    map[string]string // output by command
	codes    map[string]int
	ran      []string
	asked    *Question
	comments []string
	notes    []Comment // comments on the diff
	all      bool
	drafts   map[string]string
	state    State
	over     bool                                     // result of Attach: whether the desk ends
	run      func(ctx context.Context, out io.Writer) // what a command does without a page
}

func (p *played) Look(context.Context) (Board, error)                            { return Board{}, nil }
func (p *played) Highlight(_ context.Context, diff string, _ bool) string        { return diff }
func (p *played) Doing(context.Context, []Agent) map[string]Doing                { return nil }
func (p *played) Changed() bool                                                  { return false }
func (p *played) ShowAll(all bool)                                               { p.all = all }
func (p *played) Screen(context.Context, Agent) (string, error)                  { return "", nil }
func (p *played) Forecasts(context.Context, string) (map[string]Forecast, error) { return nil, nil }
func (p *played) Attach(context.Context, Agent) (bool, error)                    { return p.over, nil }
func (p *played) State(context.Context, Agent) (State, error)                    { return p.state, nil }
func (p *played) Question(context.Context, Agent) (Question, error) {
	if p.asked == nil {
		return Question{}, errors.New("paw: error: api: does not ask\npaw: hint: paw attach shop api\n")
	}
	return *p.asked, nil
}

func (p *played) Comment(_ context.Context, a Agent, _ string, first, last int, text string) (string, error) {
	p.comments = append(p.comments, fmt.Sprintf("%s %d-%d %s", a.Key(), first, last, text))
	return fmt.Sprintf("parse.go:%d", last), nil
}

func (p *played) Comments(context.Context, Agent, string) ([]Comment, error) {
	notes := slices.Clone(p.notes)
	for _, c := range p.comments {
		notes = append(notes, Comment{Text: c, Line: -1})
	}
	return notes, nil
}

func (p *played) ChangeComment(_ context.Context, _ Agent, old Comment, text string) error {
	i := slices.Index(p.notes, old)
	if p.notes = slices.Clone(p.notes); text == "" {
		p.notes = slices.Delete(p.notes, i, i+1)
	} else {
		p.notes[i].Text = text
	}
	return nil
}

func (p *played) CLIs() []string { return []string{"claude", "demo"} }

func (p *played) Draft(key string) string { return p.drafts[key] }

func (p *played) KeepDraft(key, text string) error {
	if p.drafts == nil {
		p.drafts = map[string]string{}
	}
	p.drafts[key] = text
	return nil
}

func (p *played) Edit(_ context.Context, text string, _ io.Reader, _, _ io.Writer) (string, error) {
	return text, nil
}

func (p *played) Run(ctx context.Context, out io.Writer, words ...string) int {
	if len(words) > 0 && words[0] == "--no-pager" {
		words = words[1:]
	}
	if len(words) > 1 && words[0] == "--color" {
		words = words[2:]
	}
	line := strings.Join(words, " ")
	p.ran = append(p.ran, line)
	if p.run != nil {
		p.run(ctx, out)
	}
	text, known := p.pages[line]
	if !known && strings.HasPrefix(line, "land ") && strings.HasSuffix(line, "--dry-run") && words[1] != "--undo" {
		text = "land all of it\n"
	}
	_, _ = io.WriteString(out, text)
	return p.codes[line]
}

// agent returns a row that has had its state for two minutes.
func agent(name, cli string, g Group, state, colour, turn, about string) Agent {
	return Agent{Session: "shop", Name: name, CLI: cli, Branch: "paw/shop/" + name, Group: g, State: state, Colour: colour, Turn: turn,
		About: about, Prompt: about, Pane: "%1", Since: noon.Add(-2 * time.Minute), Mark: "1"}
}

// fiveAgents returns a board with agents in every group.
func fiveAgents() Board {
	asks := agent("api", "claude", NeedsYou, "waits for you", "33;1", "4…", "Bash: npm test")
	asks.Asks, asks.Prompt = true, "make the parser strict"
	failed := agent("docs", "codex", NeedsYou, "error", "31;1", "2", "overloaded")
	failed.Prompt, failed.Urgency = "write the guide", 1
	off := agent("infra", "demo", Quiet, "stopped", "33", "", "")
	off.Pane, off.Since = "", time.Time{}
	asks.Number, failed.Number, off.Number = 1, 2, 5
	web, tests := agent("web", "codex", Working, "running", "32", "1…", "add a search box"), agent("tests", "opencode", ToReview, "idle", "36", "12", "write the tests")
	web.Number, tests.Number = 4, 3
	return Board{Place: "shop  ~/src/shop", Agents: []Agent{
		off, web, tests, failed, asks}}
}

// hostile returns a board with the worst texts that paw can pass on: long, wide, and of unusual
// characters.
func hostile() Board {
	b := fiveAgents()
	for i := range b.Agents {
		a := &b.Agents[i]
		a.Session = "averylongsessionname"
		a.Name += strings.Repeat("_long", 6)
		a.About = strings.Repeat("店の検索 👩‍👩‍👧 é ", 20)
		a.Prompt, a.Branch = strings.Repeat("x", 300), "feat/"+strings.Repeat("店", 60)
	}
	b.Agents[0].Session = "other"
	b.Problems = []string{strings.Repeat("unreadable ", 30)}
	return b
}

const paneText = "\x1b[1m> make the parser strict\x1b[0m\n\n\x1b[38;5;114m●\x1b[39m I changed the parser.\n\n" +
	"\x1b[33m╭───────────────────╮\x1b[0m\n│ Run npm test?     │\n\x1b[33m╰───────────────────╯\x1b[0m\n\n\n\n"

// opened returns a desk that shows a board and the pane of the selected agent.
func opened(paw Paw, b Board, o Options, width, height int) *Model {
	m := New(context.Background(), paw, o)
	m = after(m, tea.WindowSizeMsg{Width: width, Height: height})
	m = after(m, boardMsg{board: b, now: noon})
	m = after(m, outlookMsg{"shop", map[string]Forecast{
		"web": {Target: "main", Others: []string{"tests"}, Lines: "+3 -0"}, "tests": {Target: "main", Others: []string{"web"}, Lines: "+120 -7"},
	}})
	return after(m, screenMsg{key: m.roster.selected, text: paneText})
}

// after returns the model after a message and after all messages that follow from it.
func after(m *Model, msg tea.Msg) *Model {
	cmd := m.Update(msg)
	if cmd == nil {
		return m
	}
	switch said := cmd().(type) {
	case tea.BatchMsg:
		for _, one := range said {
			if one != nil {
				m = after(m, one())
			}
		}
	case pageMsg, notesMsg, outputMsg, doneMsg, laterMsg:
		m = after(m, said)
	}
	return m
}

// typed returns the model after keys, which have the terminal library's names.
func typed(m *Model, keys ...string) *Model {
	for _, key := range keys {
		m = after(m, press(key))
	}
	return m
}

// press returns the message of a key.
func press(key string) tea.KeyPressMsg {
	special := map[string]rune{"enter": tea.KeyEnter, "esc": tea.KeyEscape, "tab": tea.KeyTab, "up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft,
		"right": tea.KeyRight, "backspace": tea.KeyBackspace, "pgdown": tea.KeyPgDown, "pgup": tea.KeyPgUp, "home": tea.KeyHome, "end": tea.KeyEnd}
	if key == "space" {
		return tea.KeyPressMsg{Code: ' ', Text: " "}
	}
	if word, ok := strings.CutPrefix(key, "alt+"); ok {
		return tea.KeyPressMsg{Code: special[word], Mod: tea.ModAlt}
	}
	if word, ok := strings.CutPrefix(key, "ctrl+"); ok {
		return tea.KeyPressMsg{Code: rune(word[0]), Mod: tea.ModCtrl}
	}
	if code := special[key]; code != 0 {
		return tea.KeyPressMsg{Code: code}
	}
	r := []rune(key)
	return tea.KeyPressMsg{Code: r[0], Text: key}
}

// screenOf returns the screen without styles and without spaces at the ends of lines.
func screenOf(m *Model) string {
	var lines []string
	for _, line := range m.frame().draw() {
		lines = append(lines, strings.TrimRight(display.Strip(line), " "))
	}
	return strings.Join(lines, "\n") + "\n"
}

var styleCodes = regexp.MustCompile("\x1b\\[([0-9;]*)m")

// styled returns the screen with the codes of styles between ⟨ and ⟩.
func styled(m *Model) string {
	var lines []string
	for _, line := range m.frame().draw() {
		lines = append(lines, strings.TrimRight(styleCodes.ReplaceAllString(line, "⟨$1⟩"), " "))
	}
	return strings.Join(lines, "\n") + "\n"
}

func sameAsGolden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name+".txt")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s: go test ./cmd/paw/ui -update draws it anew (-want +got)\n%s", name, diff)
	}
}

var permission = Question{ID: "q1", Text: "Do you want to proceed with npm test?", Options: []Option{
	{"Yes", "yes"}, {"Yes, and don't ask again for npm test", "always"}, {"No, and tell claude what to do differently (esc)", "no"}}}

const somePatch = "\x1b[1mdiff --git a/parse.go b/parse.go\x1b[m\n\x1b[1m--- a/parse.go\x1b[m\n\x1b[1m+++ b/parse.go\x1b[m\n\x1b[36m@@ -1,3 +1,4 @@\x1b[m func parse\n" +
	" one\n\x1b[31m-two\x1b[m\n\x1b[32m+two and a half\x1b[m\n\x1b[32m+\tthree\x1b[m\n\x1b[1mdiff --git a/main.go b/main.go\x1b[m\n\x1b[36m@@ -9 +9 @@\x1b[m\n\x1b[31m-old\x1b[m\n\x1b[32m+new\x1b[m\n"

func TestScreens(t *testing.T) {
	paw := &played{pages: map[string]string{
		"diff shop/tests --unseen --state ": somePatch, "turns shop/api": "N  OUTCOME  COMMIT\n1  success  2b3814e76e\n",
		"forecast --session shop": "AGENT  FILES  WITH main\nweb    3      fits\n", "land shop/tests": "the check failed: make test\nFAIL parse_test.go:12\n",
		"land shop/tests --dry-run": "land turn 12 of shop/tests into main: 2 files, as 1 commit\n",
	}, codes: map[string]int{"land shop/tests": 9}}
	for _, size := range []struct{ width, height int }{{80, 24}, {120, 35}, {200, 50}, {60, 15}, {40, 10}} {
		name := fmt.Sprintf("%dx%d", size.width, size.height)
		sameAsGolden(t, name, screenOf(opened(paw, fiveAgents(), Options{}, size.width, size.height)))
		sameAsGolden(t, name+"-hostile", screenOf(opened(paw, hostile(), Options{}, size.width, size.height)))
	}
	queued := fiveAgents()
	queued.Queues = []string{"queue: 2 run, 5 wait, next at 19:30"}
	for _, size := range []struct{ width, height int }{{80, 24}, {120, 35}, {40, 10}} {
		sameAsGolden(t, fmt.Sprintf("queue-%dx%d", size.width, size.height), screenOf(opened(paw, queued, Options{}, size.width, size.height)))
	}
	paw.pages["queue shop"] = "ID  STATE    AGENT  AFTER  WHAT\nt1  waiting  api           busy · now the tests\nqueue: 0 run, 1 wait\n"
	sameAsGolden(t, "queue", screenOf(typed(opened(paw, queued, Options{}, 120, 35), "Q")))
	paw.asked = &permission
	desk := func() *Model {
		own := *paw
		return opened(&own, fiveAgents(), Options{Colour: true}, 100, 24)
	}
	sameAsGolden(t, "colours", styled(desk()))
	sameAsGolden(t, "no-colour", styled(opened(paw, fiveAgents(), Options{}, 100, 24)))
	for name, keys := range map[string][]string{
		"filter":   {"/", "c", "o", "d", "e", "x"},
		"diff":     {"3", "d", "j"},
		"turns":    {"t"},
		"help":     {"?"},
		"send":     {"s", "o", "n", "e", "alt+enter", "t", "w", "o"},
		"answer":   {"a"},
		"comment":  {"3", "d", "n", "j", "j", "j", "j", "j", "v", "j", "j", "c", "w", "h", "y", "?"},
		"comments": {"3", "d", "n", "n", "c", "w", "h", "y", "?", "enter", "C"},
		"forecast": {"l"},
		"plan":     {"3", "L"},
		"land":     {"3", "L", "y"},
		"stop":     {"x"},
		"large":    {"z"},
		"marked":   {"space", "space", "x"},
		"stopped":  {"G"},
		"nobody":   {"/", "z", "z", "enter"},
	} {
		sameAsGolden(t, name, screenOf(typed(desk(), keys...)))
	}
	paw.asked = &Question{ID: "q2", Text: "Which files may change?", Several: true, Options: []Option{{"parser.go", ""}, {"lexer.go", ""}, {"Type something", ""}}}
	several := typed(desk(), "a", "1", ",", "2")
	sameAsGolden(t, "answer-several", screenOf(several))
	sameAsGolden(t, "answered-several", screenOf(typed(several, "enter")))
	dead := fiveAgents()
	for i := range dead.Agents {
		a := &dead.Agents[i]
		a.Group, a.State, a.Dead, a.Asks, a.Runs, a.Pane, a.About = NeedsYou, "suspended", true, false, false, "", "crash: "+a.Prompt
	}
	sameAsGolden(t, "dead", screenOf(opened(paw, dead, Options{}, 80, 24)))
	sameAsGolden(t, "empty", screenOf(opened(paw, Board{Place: "~/src", Problems: []string{"shop: the record cannot be read"}}, Options{}, 80, 24)))
}

// A terminal of 80x24 shows most of twelve agents, each in one line with About.
func TestTwelveAgentsOnASmallTerminal(t *testing.T) {
	var board Board
	for i, g := range []Group{NeedsYou, NeedsYou, NeedsYou, NeedsYou, ToReview, ToReview, ToReview, Working, Working, Quiet, Quiet, Quiet} {
		a := agent(fmt.Sprintf("agent%d", i+1), "claude", g, "limited until 18:30", display.Yellow, "12", fmt.Sprintf("task %d of the day", i+1))
		a.Number, a.Urgency = i+1, i
		board.Agents = append(board.Agents, a)
	}
	seen := 0
	for line := range strings.Lines(screenOf(opened(&played{}, board, Options{}, 80, 24))) {
		if strings.Contains(line, "limited until") && strings.Contains(line, "  task ") {
			seen++
		}
	}
	if seen < 8 {
		t.Errorf("only %d agents are seen", seen)
	}
}

// On a dark background the desk uses brighter colours. The selected row has a background of its own, and keeps its colours.
func TestColoursFollowTheBackground(t *testing.T) {
	m := opened(&played{}, fiveAgents(), Options{Colour: true}, 120, 35)
	plain := strings.Join(m.frame().draw(), "\n")
	m = after(m, tea.BackgroundColorMsg{Color: color.White})
	if got := strings.Join(m.frame().draw(), "\n"); got != plain {
		t.Error("a light background changes colours")
	}
	m = after(m, tea.BackgroundColorMsg{Color: color.Black})
	got := strings.Join(m.frame().draw(), "\n")
	if !strings.Contains(got, display.OnDark(display.Cyan)) || strings.Contains(got, display.Cyan) || strings.Count(got, display.Bar) != strings.Count(plain, display.Bar) {
		t.Errorf("on a dark one:\n%q", got)
	}
}
