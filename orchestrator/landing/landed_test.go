package landing

import (
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	"paw/session"
	"paw/worktree/objects"
)

// TestStanding: every combination of facts has one standing.
func TestStanding(t *testing.T) {
	for _, phase := range []session.LandingPhase{session.LandingDone, session.LandingUndone, session.LandingOffered} {
		for bits := range 64 {
			f := landingFacts{inTip: bits&1 > 0, lost: bits&4 > 0, whole: bits&8 > 0, takenOut: bits&16 > 0, elsewhere: bits&32 > 0}
			if bits&2 > 0 {
				f.rewritten = "x"
			}
			s := Stand{Landing: session.Landing{Phase: phase}, landingFacts: f}
			s.Standing = s.standing()
			got := s.Standing
			switch {
			case f.there() && !f.lost && !s.stands(), f.there() && f.lost && (got == InForce || got == Rewritten):
				t.Errorf("%+v: %s", f, got)
			case !f.there() && (!f.whole || f.elsewhere) && s.stands():
				t.Errorf("%+v: %s, and nothing of it is there", f, got)
			case got == Superseded && !(f.lost && f.takenOut), got == Undone && phase != session.LandingUndone, got == Offered && phase != session.LandingOffered, got == Elsewhere && !f.elsewhere:
				t.Errorf("%+v: %s", f, got)
			}
		}
	}
}

// TestLines: what led to a state, over rewinds, their undoing, updates and landings.
func TestLines(t *testing.T) {
	rewind := func(to, last, landings int) session.Shift {
		return session.Shift{Kind: session.ShiftRewind, To: to, Last: last, Landings: landings}
	}
	undo := func(last, landings int) session.Shift {
		return session.Shift{Kind: session.ShiftUndo, Last: last, Landings: landings}
	}
	for name, c := range map[string]struct {
		last     int
		landings []session.Landing
		shifts   []session.Shift
		want     string
	}{
		"turns":                        {2, nil, nil, "[2 1 0]"},
		"landed between":               {2, []session.Landing{{ID: 1, LastTurn: 1}}, nil, "[2 L1 1 0]"},
		"a landed turn is the turn":    {2, []session.Landing{{ID: 1, Turn: 1, LastTurn: 1}}, nil, "[2 1 0]"},
		"rewound":                      {2, []session.Landing{{ID: 1, LastTurn: 2}}, []session.Shift{rewind(1, 2, 1)}, "[1 0]"},
		"rewound and undone":           {2, []session.Landing{{ID: 1, LastTurn: 2}}, []session.Shift{rewind(1, 2, 1), undo(2, 1)}, "[L1 2 1 0]"},
		"rewound, undone, and again":   {2, nil, []session.Shift{rewind(1, 2, 0), undo(2, 0), undo(2, 0)}, "[1 0]"},
		"rewound, then a turn":         {3, []session.Landing{{ID: 1, LastTurn: 2}}, []session.Shift{rewind(1, 2, 1)}, "[3 1 0]"},
		"landed after the rewind":      {2, []session.Landing{{ID: 1, LastTurn: 2}}, []session.Shift{rewind(1, 2, 0)}, "[L1 1 0]"},
		"an update is no way back":     {1, nil, []session.Shift{{Kind: session.ShiftUpdate, Last: 1}, undo(1, 0)}, "[1 0]"},
		"rewound before the beginning": {2, nil, []session.Shift{rewind(0, 2, 0)}, "[0]"},
	} {
		l := lifeOf(&session.Session{Name: "s"}, &session.Agent{TurnSession: "s_a", TurnHighWater: c.last, Shifts: c.shifts}, c.landings)
		var got []string
		for _, p := range (lives{"s_a": l}).line(l.now) {
			if got = append(got, fmt.Sprint(p.turn)); p.landing > 0 {
				got[len(got)-1] = fmt.Sprintf("L%d", p.landing)
			}
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("%s: %v, want %s", name, got, c.want)
		}
	}
	from := lives{
		"s_a": lifeOf(&session.Session{Name: "s"}, &session.Agent{TurnSession: "s_a", TurnHighWater: 2}, nil),
		"s_c": lifeOf(&session.Session{Name: "s"}, &session.Agent{TurnSession: "s_c", TurnHighWater: 1, From: &session.Origin{Agent: "a", Turn: 1}}, nil),
	}
	if met, found := meeting(from.line(from["s_c"].now), from.line(from["s_a"].now)); !found || met != (point{turnSession: "s_a", turn: 1}) {
		t.Errorf("an agent that started from another one meets it at %v", met)
	}
}

// TestFate: paths alone tell most of what became of a landing.
func TestFate(t *testing.T) {
	brought := map[string]objects.BlobChange{"f": {From: "0", To: "1"}, "g": {From: "0", To: "1"}}
	for _, c := range []struct {
		f, g        string
		whole, gone bool
		certain     bool
	}{
		{"1", "1", true, false, true},
		{"0", "0", false, true, true},
		{"1", "0", false, false, true},
		{"2", "1", false, false, true},
		{"2", "0", false, false, false},
		{"2", "2", false, false, false},
	} {
		since := map[string]objects.BlobChange{}
		for path, now := range map[string]string{"f": c.f, "g": c.g} {
			if now != "1" {
				since[path] = objects.BlobChange{From: "1", To: now}
			}
		}
		for _, lists := range [][]map[string]objects.BlobChange{{since}, {{"f": {From: "1", To: "9"}}, {"f": {From: "9", To: "1"}}, since}} {
			if got, certain := fateOf(brought, lists); got != (fate{c.whole, c.gone}) || certain != c.certain {
				t.Errorf("%+v, %d lists: %+v, %v", c, len(lists), got, certain)
			}
		}
	}
}

// TestOneMeaningOfLanded: nothing but the files that look at what has landed, and those that move landings, asks history or the record for it.
func TestOneMeaningOfLanded(t *testing.T) {
	may := []string{
		"orchestrator/landing/landed.go", "orchestrator/landing/landedfacts.go", "orchestrator/landing/landedfiles.go", "orchestrator/landing/undo.go",
		"orchestrator/landing/advance.go", "orchestrator/landing/finish.go", "session/turn/name.go", "worktree/refs/branches.go",
	}
	root := os.DirFS("../..")
	err := fs.WalkDir(root, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || slices.Contains(may, path) {
			return err
		}
		text, err := fs.ReadFile(root, path)
		for _, word := range []string{"session.LandingDone", "session.LandingUndone", "LandedPattern"} {
			if strings.Contains(string(text), word) {
				t.Errorf("%s: asks by itself whether something has landed (%s)", path, word)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestChecksRunInTheirPlaceAlone: what runs a check, or makes a worktree for one, is what brings the place of checks to the state that lands.
func TestChecksRunInTheirPlaceAlone(t *testing.T) {
	may := map[string][]string{
		"Checks().Place(": {"orchestrator/landing/checkplace.go"},
		"Checks().Show(":  {"orchestrator/landing/checkplace.go"},
		"Checks().Run(":   {"orchestrator/landing/checkrun.go"},
		"openCheckPlace(": {"orchestrator/landing/checkplace.go", "orchestrator/landing/checkrun.go"},
	}
	root, found := os.DirFS("../.."), map[string]int{}
	err := fs.WalkDir(root, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := fs.ReadFile(root, path)
		for word, files := range may {
			switch {
			case !strings.Contains(string(text), word):
			case !slices.Contains(files, path):
				t.Errorf("%s: looks at a state outside of the place where checks run (%s)", path, word)
			default:
				found[word]++
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for word, files := range may {
		if found[word] != len(files) {
			t.Errorf("%s: in %d files, not in %d", word, found[word], len(files))
		}
	}
}

func TestTrailersIn(t *testing.T) {
	got := trailersIn("squash\n\nOne\n\nPaw-Agent: s/a\nPaw-Turns: 1-2\nPaw-CLI: demo\n\nTwo\n\nPaw-Agent: s/b\nPaw-CLI: demo\n")
	if want := []trailer{{"s/a", "1-2"}, {"s/b", ""}}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestMovedForward(t *testing.T) {
	for why, want := range map[string]bool{
		"commit: x": true, "commit (initial): x": true, "commit (merge): x": true, "paw land a 1": true, "clone: from x": true, "merge side: Fast-forward": true,
		"commit (amend): x": false, "reset: moving to HEAD^": false, "rebase (finish): refs/heads/main onto x": false, "paw land --undo 1": false,
		"paw recover": false, "pull --rebase (finish): x": false, "": false,
	} {
		if movedForward(why) != want {
			t.Errorf("%q: %v", why, !want)
		}
	}
}
