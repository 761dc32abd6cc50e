package typing

import (
	"context"
	"strings"
	"time"
	"unicode"

	"golang.org/x/sys/unix"

	"paw/config/display"
	"paw/config/lazyregexp"
	"paw/config/poll"
	"paw/orchestrator/cli"
)

// stillFor is how long the screen of a CLI whose input box paw does not know must stay as it is before anything is typed.
const stillFor = time.Second

// stands tracks whether such a screen stands still.
type stands struct {
	shown string
	since time.Time
}

// still reports whether the screen is drawn and has not changed for a while. A program that draws nothing at all is not
// waited for once it is no longer young.
func (s *stands) still(shown string, now time.Time, young bool) bool {
	if shown != s.shown || s.since.IsZero() {
		s.shown, s.since = shown, now
	}
	return now.Sub(s.since) >= stillFor && (strings.TrimSpace(shown) != "" || !young)
}

// unknown reports whether paw cannot read the CLI's screen.
func (t *sender) unknown() bool { return !t.ready.Box && !t.ready.Event }

// lookAtUnknown returns an empty box once the screen stands still.
func (t *sender) lookAtUnknown(ctx context.Context) (cli.Screen, error) {
	for deadline := t.App.Now().Add(readyPatience); ; poll.Sleep(ctx, 2*poll.Tick) {
		shown := display.Strip(t.onScreen(ctx))
		switch now := t.App.Now(); {
		case t.standing.still(shown, now, t.young) && asksPlainly().MatchString(shown):
			return cli.Screen{}, t.refusal("asks something on its screen, a prompt would be taken for the answer")
		case t.standing.still(shown, now, t.young):
			return cli.Screen{Box: cli.BoxEmpty}, nil
		case now.After(deadline) || ctx.Err() != nil:
			return cli.Screen{}, t.refusal("its screen does not stand still, and paw does not know its input box")
		}
	}
}

// asksPlainly matches the last line of a screen on which a program asks yes or no.
var asksPlainly = lazyregexp.New(`(?i)(\(|\[)(y/n|yes/no|y)(\)|\]|\)es)[^\n]*\s*$`)

// placeholder matches what CLIs show in place of a long paste.
var placeholder = lazyregexp.New(`(?i)\[[^\]\n]*\b(pasted|paste)\b[^\]\n]*\]`)

// goOn lets a CLI go on that has stopped itself, and looks at its screen again. No shell stands behind it in its pane.
func (t *sender) goOn(ctx context.Context) (box cli.Screen, err error) {
	if err := unix.Kill(t.program.PID, unix.SIGCONT); err != nil {
		return cli.Screen{}, t.refusal("has stopped itself by Ctrl-Z: %v", err)
	}
	poll.Until(ctx, 2*poll.Tick, pastePatience, func() bool {
		box, err = t.see(ctx)
		return err != nil || !box.Stopped
	})
	return cli.Screen{}, err // await looks again
}

// tailLength is how many characters of a prompt's end are looked for.
const tailLength = 16

// awaitEcho waits until the end of the prompt can be read on the screen, more often than before: an input box shows what is
// pasted, a list of answers does not. Otherwise Enter must not be pressed.
func (t *sender) awaitEcho(ctx context.Context, before string) error {
	seen := func(screen string) int {
		return strings.Count(inked(screen), tailOf(t.text)) + len(placeholder().FindAllString(screen, -1))
	}
	had := seen(before)
	if poll.Until(ctx, poll.Tick, pastePatience+t.long, func() bool { return seen(display.Strip(t.onScreen(ctx))) > had }) {
		return nil
	}
	return t.unconfirmed("the prompt was typed and cannot be read on its screen, so Enter was not pressed: it may ask you something, or not read yet")
}

// tailOf returns the end of a prompt as inked writes it.
func tailOf(prompt string) string {
	all := []rune(inked(prompt))
	return string(all[max(0, len(all)-tailLength):])
}

// inked removes blanks, and the characters of which frames are drawn: a box breaks a text anywhere.
func inked(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || r >= '\u2500' && r <= '\u259f' || r == '|' {
			return -1
		}
		return r
	}, text)
}
