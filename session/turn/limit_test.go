package turn

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestLimits follows a usage limit through the log: a turn waits for it or ends by it, and whatever tells that the CLI goes on
// takes it away.
func TestLimits(t *testing.T) {
	until := time.Date(2026, 11, 22, 18, 30, 0, 0, time.UTC)
	limited := Event{Kind: KindLimit, Message: "quota", Limit: &Limit{Until: until}}
	for _, c := range []struct {
		name   string
		events []Event
		want   *Limit
		says   string
	}{
		{"none", nil, nil, ""},
		{"waits for it", []Event{limited}, &Limit{Until: until}, "quota"},
		{"also with a prompt that waits", []Event{limited, {Kind: KindPrompt, Prompt: "and", Queued: true}}, &Limit{Until: until}, "quota"},
		{"a later one", []Event{limited, {Kind: KindLimit, Limit: &Limit{Until: until.Add(time.Hour)}}}, &Limit{Until: until.Add(time.Hour)}, ""},
		{"goes on to a question", []Event{limited, {Kind: KindInput, Message: "may I?"}}, nil, ""},
		{"goes on to an end", []Event{limited, {Kind: KindEnd, Message: "done"}}, nil, ""},
		{"goes on to another error", []Event{limited, {Kind: KindError, Message: "broken"}}, nil, "broken"},
		{"ends by it", []Event{{Kind: KindError, Message: "quota", Limit: &Limit{Until: until}}}, &Limit{Until: until}, "quota"},
		{"ends by it, no time", []Event{{Kind: KindError, Message: "quota", Limit: &Limit{}}}, &Limit{}, "quota"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := &agent{t: t, dir: testDir(t), now: clock()}
			a.event(Event{Kind: KindPrompt, Prompt: "p"})
			for _, e := range c.events {
				a.event(e)
			}
			last, err := a.dir.Last()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, last.Limit); diff != "" || last.ErrorMessage != c.says {
				t.Errorf("%s\nit says %q, not %q", diff, last.ErrorMessage, c.says)
			}
			if (last.LimitedSince != nil) != (c.want != nil) {
				t.Errorf("limited since %v", last.LimitedSince)
			}
		})
	}
}

// What waits for a limit is a turn in progress: nothing that has ended can be limited later.
func TestLimitedNeedsATurnInProgress(t *testing.T) {
	one := New(testDir(t), 1, clock())
	if err := one.Start(Start{Type: TypePrompt}); err != nil {
		t.Fatal(err)
	}
	if _, err := one.Finish(End{}); err != nil {
		t.Fatal(err)
	}
	var refused *TransitionError
	if err := one.Limited(nil, ""); !errors.As(err, &refused) {
		t.Errorf("it says %v", err)
	}
}
