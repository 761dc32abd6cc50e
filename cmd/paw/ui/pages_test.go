package ui

import (
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"paw/config/display"
)

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

// Keys move through a diff by hunk, by file and by search text.
func TestWalkThroughADiff(t *testing.T) {
	paw := &played{pages: map[string]string{"diff shop/tests --unseen --state ": somePatch}}
	m := typed(opened(paw, fiveAgents(), Options{}, 110, 35), "3", "d")
	at := func() string { return display.Strip(m.page.lines[m.page.cursor]) }
	for _, c := range []struct{ keys, want string }{
		{"n", "@@ -1,3 +1,4 @@ func parse"}, {"n", "main.go  +1 -1"}, {"N", "@@ -1,3 +1,4 @@ func parse"}, {"}", "main.go  +1 -1"},
		{"{", "parse.go  +2 -1"}, {"/ t w o enter", "-two"}, {"n", "+two and a half"}, {"n", "+two and a half"}, {"esc G", "+new"}, {"g", "parse.go  +2 -1"},
	} {
		if m = typed(m, strings.Fields(c.keys)...); at() != c.want {
			t.Errorf("%s: %q, want %q", c.keys, at(), c.want)
		}
	}
}

// Comments on a line and on a range of lines are kept, and sent together.
func TestComments(t *testing.T) {
	paw := &played{pages: map[string]string{"diff shop/tests --unseen --state ": somePatch}}
	m := typed(opened(paw, fiveAgents(), Options{}, 110, 35), strings.Fields("3 d n j c o n e enter v j j c t w o alt+enter t h r e e enter C")...)
	want := []string{"shop/tests 4-4 one", "shop/tests 4-6 two\nthree"}
	if !slices.Equal(paw.comments, want) {
		t.Errorf("%q, want %q", paw.comments, want)
	}
	if got := screenOf(m); !strings.Contains(got, "send 2 comments to tests as one prompt?") || !strings.Contains(got, "  shop/tests 4-4 one\n") {
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
		notes: []Comment{{Place: "parse.go:2", Text: "why twice?", Line: 6}, {Place: "gone.go", Text: "and this?", Line: -1}}}
	m := opened(paw, fiveAgents(), Options{}, 110, 35)
	m = typed(m, strings.Fields("3 d")...)
	if got := screenOf(m); strings.Count(got, "● ") != 1 || !strings.Contains(got, "\n● +two and a half") {
		t.Fatalf("not in the margin:\n%s", got)
	}
	if got := screenOf(typed(m, "enter")); !strings.Contains(got, "no comment of yours on this line") {
		t.Errorf("not said:\n%s", got)
	}
	if strings.Contains(screenOf(m), "why twice?") {
		t.Errorf("the cursor is elsewhere:\n%s", screenOf(m))
	}
	m = typed(m, "j", "j", "j", "j")
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

// Enter on a turn shows what the turn has changed; a key that does nothing says so.
func TestEnterOnATurn(t *testing.T) {
	paw := &played{pages: map[string]string{"turns shop/tests": "N   OUTCOME\n11  success\n12  success\n"}}
	m := typed(opened(paw, fiveAgents(), Options{}, 120, 35), "3", "t", "j", "enter")
	if m.tab != tabDiff || m.scope.turn != 11 || !slices.Contains(paw.ran, "diff shop/tests@11") {
		t.Errorf("turn %d is shown; ran %q", m.scope.turn, paw.ran)
	}
	for _, keys := range []string{"y", "t y", "c"} {
		if got := screenOf(typed(opened(paw, fiveAgents(), Options{}, 120, 35), strings.Fields(keys)...)); !strings.Contains(got, " does nothing here; ? lists the keys") {
			t.Errorf("%s:\n%s", keys, got)
		}
	}
}

// The cost of a command's output is proportional to its length.
func TestLongOutput(t *testing.T) {
	m := opened(&played{}, fiveAgents(), Options{}, 120, 35)
	m.run = &run{number: 7}
	shared := 0
	for range 2000 {
		was := m.run.lines
		m.Update(outputMsg{number: 7, text: "one more line\n"})
		if len(was) > 0 && &was[0] == &m.run.lines[0] {
			shared++
		}
	}
	if len(m.run.lines) != 2000 || shared < 1900 {
		t.Errorf("%d lines, which were copied %d times", len(m.run.lines), 2000-shared)
	}
}

// From 120 columns on the files stand as a tree beside the diff, with a bar on the one at the cursor.
func TestTreeOfFiles(t *testing.T) {
	paw := &played{pages: map[string]string{"diff shop/tests --unseen --state ": strings.ReplaceAll(somePatch, "main.go", "cmd/main.go")}}
	m := typed(opened(paw, fiveAgents(), Options{}, 120, 35), "3", "d", "}")
	got := screenOf(m)
	for _, want := range []string{"\nparse.go  +2 -1  │ parse.go  +2 -1\n", "\ncmd/             │ @@ -1,3 +1,4 @@ func parse\n", "\n  main.go  +1 -1 │  one\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("no line %q:\n%s", want, got)
		}
	}
	at := func() string { return display.Strip(m.page.lines[m.page.cursor]) }
	if at() != "cmd/main.go  +1 -1" {
		t.Errorf("} goes to %q", at())
	}
	m = after(m, tea.WindowSizeMsg{Width: 90, Height: 35})
	if got := screenOf(m); strings.Contains(got, "cmd/  ") || at() != "cmd/main.go  +1 -1" {
		t.Errorf("at %q of a narrow terminal:\n%s", at(), got)
	}
}

// = shows what two agents differ in as a diff with files and hunks, and takes no comment.
func TestCompareIsAPage(t *testing.T) {
	paw := &played{pages: map[string]string{"diff shop/api tests": somePatch}}
	m := typed(opened(paw, fiveAgents(), Options{}, 120, 35), "1", "space", "3", "space", "=")
	if got := screenOf(m); !strings.Contains(got, "against tests") || !strings.Contains(got, "│ parse.go  +2 -1") {
		t.Errorf("no page:\n%s", got)
	}
	if m = typed(m, "n", "n", "c"); m.ask != nil || len(paw.comments) > 0 {
		t.Errorf("a comment on two agents:\n%s", screenOf(m))
	}
	three := typed(opened(paw, fiveAgents(), Options{}, 120, 35), "1", "space", "2", "space", "3", "space", "=")
	if got := screenOf(three); !strings.Contains(got, "3 are marked: = compares two") {
		t.Errorf("three marked:\n%s", got)
	}
}
