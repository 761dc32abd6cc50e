package typing

import (
	"context"
	"fmt"
	"strings"

	"paw/config/display"
)

// refuseBehind refuses to type behind a prompt that paw has typed to this program and not sent. It stands before the cursor, or nowhere yet
// while the program loads. Elsewhere on the screen it is one that the user has sent since.
func (t *sender) refuseBehind(ctx context.Context) error {
	half := noteOf(t.Agent)
	if half.Prompt == "" || half.At.Before(t.found.Agent(t.Record.Name).Lock.Holder.At) {
		return nil
	}
	shot, err := t.client.Look(ctx, t.program)
	if err != nil {
		return t.shut(err)
	}
	lines := strings.Split(display.Strip(shot.Text), "\n")
	lines = lines[:min(len(lines), shot.CursorY+1)]
	end := []rune(inked(half.Prompt))
	end = end[max(0, len(end)-partLength):]
	behind := inked(lines[len(lines)-1]) != "" && strings.HasSuffix(inked(strings.Join(lines, "")), string(end))
	all, err := t.written(ctx)
	switch {
	case err != nil:
		return t.shut(err)
	case behind:
		half.Unread = false
		t.keep(half)
		return t.refusal("the prompt that paw typed before stands in it, and was not sent%s", quoted(half.Prompt))
	case half.Unread && !strings.Contains(inked(all), string(end)):
		return t.refuse("the prompt that paw typed before was not sent, and is not on its screen yet" + quoted(half.Prompt))
	}
	t.settled()
	return nil
}

// refuseLongLine refuses a prompt with a line that a terminal cannot hand over to a program that reads lines.
func (t *sender) refuseLongLine() error {
	if !t.program.ReadsLines() {
		return nil
	}
	for line := range strings.Lines(t.text) {
		if len(line) > terminalSize {
			e := t.refusal("it reads lines of up to %d bytes, and the prompt has one of %d", terminalSize, len(line))
			e.Err = fmt.Errorf("%w: %w", ErrNotTyped, e.Err)
			return e
		}
	}
	return nil
}
