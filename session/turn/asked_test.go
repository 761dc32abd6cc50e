package turn

import (
	"os"
	"testing"
	"time"
)

func TestAsked(t *testing.T) {
	const mark = "0199-mark"
	for name, c := range map[string]struct {
		write func(t *testing.T, d Dir)
		since int // seconds
		want  bool
	}{
		"no turns": {write: func(*testing.T, Dir) {}},
		"in the prompt": {want: true, write: func(t *testing.T, d Dir) {
			begin(t, d, 1, "[paw wait 0199-mark] and\nmore")
		}},
		"in what joined": {want: true, write: func(t *testing.T, d Dir) {
			tr := begin(t, d, 1, "other")
			_ = tr.Execute("and 0199-mark")
			_ = tr.Execute("more")
		}},
		"bytes that are no text": {want: true, write: func(t *testing.T, d Dir) {
			begin(t, d, 1, "\xff 0199-mark")
		}},
		"in an earlier turn": {want: true, write: func(t *testing.T, d Dir) {
			_, _ = begin(t, d, 1, "0199-mark").Finish(End{})
			begin(t, d, 2, "other")
		}},
		"before a turn that was over by then": {since: 1000, write: func(t *testing.T, d Dir) {
			_, _ = begin(t, d, 1, "0199-mark").Finish(End{})
			_, _ = begin(t, d, 2, "other").Finish(End{})
		}},
		"in a turn that goes on since": {since: 2, want: true, write: func(t *testing.T, d Dir) {
			_ = begin(t, d, 1, "0199-mark").Note("later")
		}},
		"in the answer": {write: func(t *testing.T, d Dir) {
			tr := begin(t, d, 1, "other")
			_ = tr.Input("0199-mark?", "")
			_ = tr.Note("0199-mark")
			_, _ = tr.Finish(End{Message: "0199-mark", Outcome: "0199-mark"})
		}},
		"in a torn line": {write: func(t *testing.T, d Dir) {
			tr := begin(t, d, 1, "other")
			f, err := os.OpenFile(tr.Path(), os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			_, _ = f.WriteString(`{"event":"EXECUTE","at":"2026-11-21T03:00:01Z","description":"0199-mark`)
			f.Close()
		}},
	} {
		t.Run(name, func(t *testing.T) {
			d := testDir(t)
			c.write(t, d)
			got, err := d.Asked(mark, second(c.since))
			if err != nil || got != c.want {
				t.Errorf("%t, %v; want %t", got, err, c.want)
			}
		})
	}
	d := testDir(t)
	writeFile(t, d.Path, "not a folder")
	if _, err := d.Asked(mark, time.Time{}); err == nil {
		t.Error("no error about a folder that cannot be read")
	}
}

// begin starts a turn with that prompt; its clock is its own.
func begin(t *testing.T, d Dir, number int, prompt string) *Turn {
	t.Helper()
	tr := New(d, number, clock())
	if err := tr.Start(Start{Type: TypePrompt, Prompt: prompt}); err != nil {
		t.Fatal(err)
	}
	return tr
}
