package orchestrator

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"

	"paw/orchestrator/agent"
	"paw/session"
	"paw/session/turn"
)

// maxGrowth bounds how much of a file is searched for a prompt.
const maxGrowth = 8 << 20

// arrival is what tells that a prompt arrived: a new turn or, while one runs,
// the prompt in the log of that turn, when the CLI's hook reports that it joined,
// in the CLI's own transcript, when the CLI keeps it for later, or in the CLI's
// list of the prompts that it took from the user. A CLI that keeps it for later in
// its memory alone shows that by an empty input box.
type arrival struct {
	number  int // of the last turn before
	prompt  mark
	records []grown // that have the prompt when it has joined or is kept
	prompts grown   // that has it as soon as the CLI took it, busy or not
}

// grown is a file, and its size before the prompt was typed.
type grown struct {
	path string
	size int64
	with []byte // must be in the prompt's line, too
}

func (p *Paw) arrivalOf(ctx context.Context, s *session.Session, w *session.Worktree, cli agent.CLI, prompt string) arrival {
	a := arrival{prompt: markOf(prompt), records: []grown{growing(w.TranscriptPath)}}
	if last, err := p.turnDir(s.Name, w.Agent).Last(); err == nil && last != nil {
		a.number = last.Number
		a.records = append(a.records, growing(last.LogFile))
	}
	spec := p.specFor(s, w, "")
	if spec.ConversationID == "" {
		return a
	}
	if found, err := cli.Conversation(ctx, spec); err == nil {
		a.prompts = growing(found.Prompts)
		a.prompts.with = []byte(spec.ConversationID) // the list is that of all conversations
	}
	return a
}

// growing is the file as it is now; without a path there is none.
func growing(path string) grown {
	one := grown{path: path}
	if info, err := os.Stat(path); err == nil {
		one.size = info.Size()
	}
	return one
}

// queued tells whether the prompt joined the turn or is kept for later by now.
func (a arrival) queued() bool {
	for _, one := range a.records {
		if one.has(a.prompt) {
			return true
		}
	}
	return false
}

// taken tells whether the CLI took the prompt from the user by now.
func (a arrival) taken() bool { return a.prompts.has(a.prompt) }

// has tells whether the file has the prompt in what was added to it.
func (g grown) has(prompt mark) bool {
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
		if bytes.Contains(line, g.with) && prompt.in(line) {
			return true
		}
	}
	return false
}

// stillRuns tells whether that turn is open, and the CLI's own record has no end of it.
func (p *Paw) stillRuns(ctx context.Context, s *session.Session, w *session.Worktree, number int) bool {
	last, err := p.turnDir(s.Name, w.Agent).Last()
	if err != nil || last == nil || last.Number != number || last.State != turn.InProgress {
		return false
	}
	return p.observed(ctx, s, w, last).Ended == nil
}

// mark is the first line of a prompt as it stands in JSON, where neither logs
// nor transcripts escape <, > and &.
type mark []byte

func markOf(prompt string) mark {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(firstLine(prompt)); err != nil {
		return nil
	}
	quoted := bytes.TrimSpace(b.Bytes())
	return quoted[1 : len(quoted)-1]
}

// in tells whether a line of JSON has a string with that first line: a short
// prompt such as "go on" may be part of anything else that a busy CLI writes.
func (m mark) in(line []byte) bool {
	for len(m) > 0 {
		before, after, found := bytes.Cut(line, m)
		if !found {
			return false
		}
		if opensString(before) && endsLine(after) {
			return true
		}
		line = line[len(before)+1:]
	}
	return false
}

// blanks are what a CLI may leave around a prompt, as JSON has them.
var blanks = [][]byte{[]byte(" "), []byte(`\n`), []byte(`\r`), []byte(`\t`)}

// opensString tells whether a string begins at the end of some JSON.
func opensString(text []byte) bool {
	for trimmed := true; trimmed; {
		trimmed = false
		for _, blank := range blanks {
			if bytes.HasSuffix(text, blank) && !bytes.HasSuffix(text, append([]byte(`\`), blank...)) {
				text, trimmed = text[:len(text)-len(blank)], true
			}
		}
	}
	return bytes.HasSuffix(text, []byte(`"`)) && !bytes.HasSuffix(text, []byte(`\"`))
}

// endsLine tells whether a line of text ends where some JSON goes on.
func endsLine(text []byte) bool {
	for {
		switch {
		case bytes.HasPrefix(text, []byte(`"`)), bytes.HasPrefix(text, []byte(`\n`)), bytes.HasPrefix(text, []byte(`\r`)):
			return true
		case bytes.HasPrefix(text, []byte(" ")):
			text = text[1:]
		case bytes.HasPrefix(text, []byte(`\t`)):
			text = text[2:]
		default:
			return false
		}
	}
}
