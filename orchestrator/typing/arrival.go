package typing

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"paw/config/display"
	"paw/orchestrator/app"
	"paw/orchestrator/cli"
	"paw/orchestrator/observe"
	"paw/session"
	"paw/session/turn"
)

// maxGrowth bounds how much of a file is searched for a prompt.
const maxGrowth = 8 << 20

// Arrival is what tells that a prompt arrived as it was sent: a new turn or, while one runs, the prompt in the log of
// that turn, when the CLI's hook reports that it joined, in the CLI's own transcript, when the CLI keeps it for later, or
// in the CLI's list of the prompts that it took from the user. A CLI that keeps it for later in its memory alone shows
// that by an empty input box.
type Arrival struct {
	cli     cli.CLI
	prompt  string    // in the CLI's canonical form
	since   time.Time // lines that say that they are older are about an earlier prompt, however late they are written
	number  int       // of the last turn before
	open    bool      // that turn ran
	records []grown   // that have the prompt when it has joined or is kept
	prompts grown     // that has it as soon as the CLI took it, busy or not
}

// grown is a file that may come to hold the prompt, and its size before the prompt was typed.
type grown struct {
	path string
	size int64
	with []byte // must be in the prompt's line, too
}

// expectation is what is known of the arrival of a prompt before its time has come: how the CLI changes the prompt, and
// where it lists those that it took.
type expectation struct {
	cli     cli.CLI
	prompt  string
	prompts grown
}

// expect asks the CLI, which may take it long.
func expect(ctx context.Context, h *app.App, s *session.Session, w *session.Agent, cli cli.CLI, prompt string) expectation {
	e := expectation{cli: cli, prompt: cli.Canonical(prompt)}
	spec := h.SpecFor(s, w, "")
	if spec.ConversationID == "" {
		return e
	}
	if found, err := cli.Conversation(ctx, spec); err == nil {
		e.prompts = grown{path: found.Prompts, with: []byte(spec.ConversationID)} // the list is that of all conversations
	}
	return e
}

// now is the arrival of a prompt that is about to be typed.
func (e expectation) now(h *app.App, s *session.Session, w *session.Agent) Arrival {
	a := Arrival{cli: e.cli, prompt: e.prompt, since: h.Now(), records: []grown{growing(w.TranscriptPath)}}
	if last, err := h.TurnDir(s.Name, w.Name).Last(); err == nil && last != nil {
		a.number, a.open = last.Number, last.State == turn.InProgress
		a.records = append(a.records, growing(last.LogFile))
	}
	a.prompts = growing(e.prompts.path)
	a.prompts.with = e.prompts.with
	return a
}

// Expect looks, before a prompt is typed, where its arrival will show.
func Expect(ctx context.Context, h *app.App, s *session.Session, w *session.Agent, cli cli.CLI, prompt string) Arrival {
	return expect(ctx, h, s, w, cli, prompt).now(h, s, w)
}

// growing is the file as it is now; without a path there is none.
func growing(path string) grown {
	one := grown{path: path}
	if info, err := os.Stat(path); err == nil {
		one.size = info.Size()
	}
	return one
}

// is reports whether a text is the prompt that was sent.
func (a Arrival) is(text string) bool { return a.cli.Canonical(text) == a.prompt }

// Queued reports whether the prompt joined the turn or is kept for later by now.
func (a Arrival) Queued() bool {
	for _, one := range a.records {
		if a.in(one) {
			return true
		}
	}
	return false
}

// taken reports whether the CLI took the prompt from the user by now.
func (a Arrival) taken() bool { return a.in(a.prompts) }

// in reports whether a file has the prompt in what was added to it.
func (a Arrival) in(g grown) bool {
	if info, err := os.Stat(g.path); err != nil || info.Size() <= g.size {
		return false
	}
	f, err := os.Open(g.path)
	if err != nil {
		return false
	}
	defer f.Close()
	added, err := io.ReadAll(io.NewSectionReader(f, g.size, maxGrowth))
	if err != nil {
		return false
	}
	for line := range bytes.Lines(added) {
		if bytes.Contains(line, g.with) && a.inLine(line) {
			return true
		}
	}
	return false
}

// inLine reports whether a line of JSON that was not written for an earlier prompt has the prompt as one of its strings.
func (a Arrival) inLine(line []byte) bool {
	var fields map[string]any
	if json.Unmarshal(line, &fields) != nil {
		return false
	}
	at, unit := lineTime(fields)
	if !at.IsZero() && at.Before(a.since.Truncate(unit)) {
		return false
	}
	return hasString(fields, a.is)
}

// lineTime is when something happened that a CLI, or paw, wrote a line about, and how exactly the line tells that. It is
// zero where the line does not.
func lineTime(fields map[string]any) (at time.Time, unit time.Duration) {
	for _, name := range []string{"timestamp", "at"} {
		if text, ok := fields[name].(string); ok {
			if at, err := time.Parse(time.RFC3339Nano, text); err == nil {
				return at, time.Millisecond
			}
		}
	}
	if seconds, ok := fields["ts"].(float64); ok {
		return time.Unix(int64(seconds), 0), time.Second
	}
	return time.Time{}, 0
}

// hasString reports whether a value of JSON holds a string that fits, at any depth.
func hasString(value any, fits func(string) bool) bool {
	switch value := value.(type) {
	case string:
		return fits(value)
	case []any:
		for _, one := range value {
			if hasString(one, fits) {
				return true
			}
		}
	case map[string]any:
		for _, one := range value {
			if hasString(one, fits) {
				return true
			}
		}
	}
	return false
}

// difference says where a prompt that arrived is first another one than that which was sent.
func difference(arrived, sent string) string {
	got, want := []rune(arrived), []rune(sent)
	n := 0
	for n < len(got) && n < len(want) && got[n] == want[n] {
		n++
	}
	line := strings.Count(string(got[:n]), "\n") + 1
	return fmt.Sprintf("from line %d on %s instead of %s", line, excerpt(got[n:]), excerpt(want[n:]))
}

// excerpt is the begin of a text, quoted.
func excerpt(text []rune) string {
	if len(text) == 0 {
		return "nothing"
	}
	return fmt.Sprintf("%q", display.Graphemes.Cut(string(text), 60))
}

// stillRuns reports whether that turn is open, and the CLI's own record has no end of it.
func stillRuns(ctx context.Context, h *app.App, s *session.Session, w *session.Agent, number int) bool {
	last, err := h.TurnDir(s.Name, w.Name).Last()
	if err != nil || last == nil || last.Number != number || last.State != turn.InProgress {
		return false
	}
	return observe.AskRecord(ctx, h, s, w, last).Ended == nil
}
