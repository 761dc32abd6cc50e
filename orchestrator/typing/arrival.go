package typing

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"os"
	"slices"
	"time"

	"paw/config/disk"
	"paw/orchestrator/app"
	"paw/orchestrator/cli"
	"paw/orchestrator/observe"
	"paw/session/turn"
)

// maxGrowth is how many bytes of a file are searched for a prompt.
const maxGrowth = 8 << 20

// Arrival recognizes that a prompt arrived as it was sent: by a new turn or, while a turn runs, by
// the prompt in the log of that turn (a hook reported that it joined), in the CLI's transcript (the
// CLI queued it), or in the CLI's list of the user's prompts. A CLI that queues prompts only in
// memory shows it by an empty input box.
type Arrival struct {
	cli     cli.CLI
	prompt  string    // prompt in the CLI's canonical form
	since   time.Time // lines with an earlier time are about an earlier prompt, however late those lines are written
	number  int       // number of the last turn before the prompt
	last    string    // prompt of that turn in the canonical form, with which an interrupted CLI may begin again
	open    bool      // the last turn before the prompt was still open
	records []grown   // files that get the prompt when it joins a turn or is queued
	prompts grown     // file that gets the prompt as soon as the CLI takes it, busy or not
}

// grown is a file that may get the prompt, with its size before the prompt was typed.
type grown struct {
	path string
	size int64
	with []byte // the prompt's line must contain this as well
}

// expect returns the Arrival of a prompt before it is typed. It looks up the CLI's list of prompts,
// which may take long for some CLIs.
func expect(ctx context.Context, a app.Agent, cli cli.CLI, prompt string) Arrival {
	e := Arrival{cli: cli, prompt: cli.Canonical(prompt)}
	spec := a.App.Specs().Read(a.Session, a.Record, "")
	if spec.ConversationID == "" {
		return e
	}
	if found, err := cli.Conversation(ctx, spec); err == nil {
		e.prompts = grown{path: found.Prompts, with: []byte(spec.ConversationID)} // the list has the prompts of all conversations
	}
	return e
}

// begin notes what the arrival is compared with, right before the prompt is typed.
func (a *Arrival) begin(agent app.Agent) {
	a.since, a.records = agent.App.Now(), []grown{growing(agent.Record.TranscriptPath)}
	if last, err := agent.TurnDir().Last(); err == nil && last != nil {
		a.number, a.open, a.last = last.Number, last.State == turn.InProgress, a.cli.Canonical(string(last.Prompt))
		a.records = append(a.records, growing(last.LogFile))
	}
	a.prompts.size = growing(a.prompts.path).size
}

// growing returns a file with its present size; an empty path is a file that never grows.
func growing(path string) grown {
	one := grown{path: path}
	if info, err := os.Stat(path); err == nil {
		one.size = info.Size()
	}
	return one
}

// is reports whether a text is the sent prompt, up to the CLI's changes.
func (a Arrival) is(text string) bool { return a.cli.Canonical(text) == a.prompt }

// Queued reports whether the prompt has joined the turn or was queued.
func (a Arrival) Queued() bool {
	for _, one := range a.records {
		if a.in(one) {
			return true
		}
	}
	return false
}

// taken reports whether the CLI's list of prompts has the prompt.
func (a Arrival) taken() bool { return a.in(a.prompts) }

// in reports whether the part added to a file has the prompt.
func (a Arrival) in(g grown) bool {
	f, err := disk.Open(g.path)
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

// inLine reports whether a line of JSON has the prompt as one of its strings, unless the line is
// about an earlier prompt.
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

// lineTime returns the time in a line written by a CLI or paw, and the precision of that time; zero
// where the line has none.
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

// hasString reports whether a JSON value contains a string, at any depth, for which fits holds.
func hasString(value any, fits func(string) bool) bool {
	switch value := value.(type) {
	case string:
		return fits(value)
	case []any:
		return slices.ContainsFunc(value, func(one any) bool { return hasString(one, fits) })
	case map[string]any:
		return hasString(slices.Collect(maps.Values(value)), fits)
	}
	return false
}

// stillRuns reports whether the turn with that number is open, and the CLI's own record has no end
// of it.
func stillRuns(ctx context.Context, a app.Agent, number int) bool {
	last, err := a.TurnDir().Last()
	if err != nil || last == nil || last.Number != number || last.State != turn.InProgress {
		return false
	}
	return observe.AskRecord(ctx, a, last).Ended == nil
}
