package ui

import (
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
)

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

// g tells an agent whose turn has failed to go on, and no other one.
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
	if m = typed(m, "3", "g"); len(paw.ran) != 1 || !strings.Contains(screenOf(m), "no turn of tests was cut or has failed") {
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

// An agent whose CLI has exited takes no prompt: g asks whether to bring it back.
func TestGoOnOfAnExitedCLI(t *testing.T) {
	board := fiveAgents()
	board.Agents[3].Exited = true
	m := typed(opened(&played{}, board, Options{}, 120, 35), "2")
	if got := screenOf(m); !strings.Contains(got, "\nR recover   enter attach") {
		t.Errorf("the last line:\n%s", got)
	}
	if got := screenOf(typed(m, "g")); !strings.Contains(got, "recover shop: same panes") || !strings.Contains(got, "o only docs") {
		t.Errorf("g:\n%s", got)
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

// A prompt that is being sent is not offered as a draft; if it could not be sent, it is.
func TestPromptThatIsBeingSent(t *testing.T) {
	paw := &played{drafts: map[string]string{}}
	m := typed(opened(paw, fiveAgents(), Options{}, 120, 35), strings.Fields("1 s o n e")...)
	send := m.Update(press("enter"))
	m = typed(m, "s")
	if got := screenOf(m); strings.Contains(got, "> one") {
		t.Errorf("what is being sent is in the box:\n%s", got)
	}
	if m = typed(m, "esc"); paw.drafts["shop/api"] != "one" {
		t.Errorf("the desk could lose what is being sent: %q", paw.drafts)
	}
	m = typed(m, strings.Fields("s t w o esc")...)
	if paw.drafts["shop/api"] != "one\n\ntwo" {
		t.Errorf("a desk that is killed now loses one of the two: %q", paw.drafts)
	}
	m = typed(m, "s")
	if got := screenOf(m); !strings.Contains(got, "> two") {
		t.Errorf("what is being sent is in the box, or the draft is not:\n%s", got)
	}
	m = after(typed(m, "esc"), laterMsg(func() tea.Cmd { return send }))
	if paw.drafts["shop/api"] != "two" {
		t.Errorf("kept %q", paw.drafts)
	}
	m = typed(m, "s")
	if got := screenOf(m); !strings.Contains(got, "> two") {
		t.Errorf("the draft is gone:\n%s", got)
	}
	if typed(m, "ctrl+u", "esc"); paw.drafts["shop/api"] != "" {
		t.Errorf("a draft that was emptied is kept: %q", paw.drafts)
	}
	paw.codes = map[string]int{"send shop/docs -- three": 6}
	typed(m, strings.Fields("2 s t h r e e enter")...)
	if paw.drafts["shop/docs"] != "three" {
		t.Errorf("not kept: %q", paw.drafts)
	}
	m = typed(opened(paw, fiveAgents(), Options{}, 120, 35), strings.Fields("1 s o n e")...)
	m.Update(press("enter"))
	if typed(m, strings.Fields("s t w o esc s ctrl+u esc")...); paw.drafts["shop/api"] != "one" {
		t.Errorf("a draft that was emptied while another prompt is being sent is kept, or that prompt is not: %q", paw.drafts)
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
	if got := screenOf(typed(m, "n", "R")); !strings.Contains(got, "o only api") {
		t.Errorf("not asked about the one with the mark:\n%s", got)
	}
	if got := screenOf(typed(m, "n", "z", "x")); !strings.Contains(got, "stop tests? Its branch") {
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
	typed(m, "s", "h", "i", "enter")
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
		if got := screenOf(m); !strings.Contains(got, "A  all sessions of this machine\n") {
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
	typed(m, strings.Fields("ctrl+u x = d e m o , c l a u d e enter enter")...)
	if want := "start --detach --cli x=demo,claude"; !slices.ContainsFunc(paw.ran, func(line string) bool { return strings.HasSuffix(line, want) }) {
		t.Errorf("ran %q, want %s", paw.ran, want)
	}
}

// A question is about the agent that is shown, so the wheel does not select another agent
// meanwhile.
func TestTheWheelDoesNotChangeWhatIsAsked(t *testing.T) {
	m := typed(opened(&played{}, fiveAgents(), Options{}, 120, 35), "x")
	before := screenOf(m)
	m.Update(tea.MouseWheelMsg{X: 2, Y: 3, Button: tea.MouseWheelDown})
	if got := screenOf(m); got != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, got)
	}
}
