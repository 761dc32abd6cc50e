package typing

import (
	"context"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"paw/config/display"
	"paw/config/lazyregexp"
	"paw/config/poll"
	"paw/orchestrator/app"
	"paw/orchestrator/cli"
)

// stillFor is how long the screen of a CLI whose input box paw does not know must stay as it is before anything is typed.
const stillFor = time.Second

// unknown reports whether paw cannot read the CLI's screen.
func (t *sender) unknown() bool { return !t.ready.Box && !t.ready.Event }

// lookAtUnknown returns an empty box once the screen is drawn and stands still. A program that draws nothing at all is not
// waited for once it is no longer young.
func (t *sender) lookAtUnknown(ctx context.Context) (cli.Screen, error) {
	shown, since, grown := "", t.App.Now(), t.found.Agent(t.Record.Name).Lock.Holder.At.Add(youngPatience)
	for end := since.Add(readyPatience); t.App.Now().Before(end) && ctx.Err() == nil; poll.Sleep(ctx, 2*poll.Tick) {
		now := display.Strip(t.onScreen(ctx))
		if now != shown {
			shown, since = now, t.App.Now()
		}
		switch {
		case t.App.Now().Sub(since) < stillFor || strings.TrimSpace(shown) == "" && t.App.Now().Before(grown):
		case asksPlainly().MatchString(shown):
			return cli.Screen{}, t.refusal("asks something on its screen, a prompt would be taken for the answer")
		default:
			return cli.Screen{Box: cli.BoxEmpty}, t.refuseBehind(ctx)
		}
	}
	return cli.Screen{}, t.refusal("its screen does not stand still, and paw does not know its input box")
}

// asksPlainly matches the end of a screen on which a program asks yes or no, or with a list whether to trust something.
var asksPlainly = lazyregexp.New(`(?i)(\(|\[)(y/n|yes/no|y)(\)|\]|\)es)[^\n]*\s*$|\btrust\b[^\n]*\?\s*\n([^\n]*\n){0,8}?\W*1[.)] ([^\n]*\n){1,6}[^\n]*\s*$`)

// placeholder matches what CLIs show in place of a long paste.
var placeholder = lazyregexp.New(`(?i)\[[^\]\n]*\b(pasted|paste)\b[^\]\n]*\]`)

// goOn lets a CLI go on that has stopped itself: no shell stands behind it in its pane.
func (t *sender) goOn() (cli.Screen, error) {
	if err := unix.Kill(t.program.PID, unix.SIGCONT); err != nil {
		return cli.Screen{}, t.refusal("has stopped itself by Ctrl-Z: %v", err)
	}
	return cli.Screen{}, nil // await looks again
}

// scrollback is how many lines above its screen are read of a CLI whose input box paw does not know.
const scrollback = 1000

// written returns what the CLI has written last: its screen, and what a prompt of many lines has scrolled off it.
func (t *sender) written(ctx context.Context) (string, error) {
	text, err := t.client.CaptureTail(ctx, t.program.Pane, scrollback)
	return text, app.TmuxError(err)
}

// awaitEcho waits until the prompt can be read, more often than before: an input box shows what is pasted, a list of answers does
// not. Otherwise Enter must not be pressed. A part of it is enough once the screen stands still: while the terminal echoes the last
// line, a program that answers line by line writes into the middle of it.
func (t *sender) awaitEcho(ctx context.Context, before string) error {
	now, since := "", t.App.Now()
	if poll.Until(ctx, poll.Tick, pastePatience+t.long, func() bool {
		if text, err := t.written(ctx); err == nil && text != now {
			now, since = text, t.App.Now()
		}
		end, part := echoed(before, now, t.text)
		return end || part && t.App.Now().Sub(since) >= stillFor
	}) {
		return nil
	}
	return t.unconfirmed("the prompt was typed and cannot be read on its screen, so Enter was not pressed: it may ask you something, or not read yet")
}

// partLength is how many characters of a prompt, without blanks, are looked for at once.
const partLength = 16

// echoed reports whether the end of prompt, or any part of it, is more often in now than in before. What CLIs show in place of a
// long paste counts as its end.
func echoed(before, now, prompt string) (end, part bool) {
	text := []rune(inked(prompt))
	end = len(placeholder().FindAllString(now, -1)) > len(placeholder().FindAllString(before, -1))
	before, now = inked(before), inked(now)
	more := func(some []rune) bool { return strings.Count(now, string(some)) > strings.Count(before, string(some)) }
	end = end || more(text[max(0, len(text)-partLength):])
	for some := range slices.Chunk(text, partLength) {
		part = part || len(some) == partLength && more(some)
	}
	return end, part
}

// inked removes blanks, and the characters of which frames are drawn: a box breaks a text anywhere.
func inked(text string) string {
	return squeezed(strings.NewReplacer("│", "", "┃", "", "|", "").Replace(text))
}
