package plain

import (
	"context"
	"io"
	"strings"
	"testing"
)

// TestLeaveInATurn: a program that is to end in a turn ends after it, also where the turn ends well: a launcher may die while the
// agent that it has started answers.
func TestLeaveInATurn(t *testing.T) {
	r, err := Open(t.TempDir(), "one", false)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	d := NewDialogue("agent", r, strings.NewReader(""), io.Discard)
	defer d.Close()
	d.Begin = func(prompt string) *Turn {
		return NewTurn(prompt, func(context.Context, *Turn) error {
			d.Orders <- func() { d.Leave(Exit{Code: 7}) }
			return nil
		})
	}
	if code := d.Talk("hello", nil); code != 7 {
		t.Errorf("exit code %d, want 7", code)
	}
}
