package typing

import (
	"testing"
	"time"

	"paw/orchestrator/cli"
)

// TestTheSameQuestion: a permission that a menu covers is the question that it was on the screen, and takes yes and no; a number
// read from the one form says nothing in the other. The next permission in the same words is another question.
func TestTheSameQuestion(t *testing.T) {
	shown := func(permission string) *Asked {
		a := &Asked{Agent: "one", Turn: 3, Since: time.Unix(7, 0), permission: permission, Question: cli.Question{
			Text: "asks for permission: touch x", Options: []cli.Option{{Label: "Allow once"}, {Label: "Allow always"}, {Label: "Reject"}},
		}}
		a.ID = a.identity()
		return a
	}
	covered := func(permission string) *Asked {
		a := &Asked{Agent: "one", Turn: 3, Since: time.Unix(7, 0), permission: permission, Question: cli.Question{
			Text: "asks for permission: bash: touch x", Options: onlyByChannel,
		}}
		a.ID = a.identity()
		return a
	}
	for _, c := range []struct {
		name           string
		seen, now      *Asked
		same, sameForm bool
	}{
		{"nothing changed", shown("p1"), shown("p1"), true, true},
		{"the channel tells of it later", shown(""), shown("p1"), true, true},
		{"a menu opened", shown("p1"), covered("p1"), true, false},
		{"a menu closed", covered("p1"), shown("p1"), true, false},
		{"the next one in the same words", shown("p1"), shown("p2"), false, false},
		{"the next one below a menu", shown("p1"), covered("p2"), false, false},
		{"nobody knows what is below the menu", shown(""), covered("p2"), false, false},
	} {
		if same, form := sameQuestion(c.seen.ID, c.now.ID), sameForm(c.seen.ID, c.now.ID); same != c.same || form != c.sameForm {
			t.Errorf("%s: same question %v, same form %v", c.name, same, form)
		}
	}
	for answer, want := range map[string]int{"yes": 0, "no": 1, "2": -1, "Reject": -1} {
		got, err := covered("p1").pick(answer, false)
		if err != nil {
			got = -1
		}
		if got != want {
			t.Errorf("%s below a menu takes option %d, want %d", answer, got, want)
		}
	}
	if got, err := shown("p1").pick("2", true); got != 1 || err != nil {
		t.Errorf("2 takes option %d, %v", got, err)
	}
}
