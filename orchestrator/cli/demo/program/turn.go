package program

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"paw/config/poll"
	"paw/orchestrator/cli/internal/plain"
	"paw/orchestrator/cli/internal/steps"
	"paw/session/history"
	"paw/session/turn"
)

// work is what one prompt makes the agent do.
type work struct {
	*agent
	*plain.Turn
	answer  []string // texts so far; owned by the turn until it is done
	outcome string   // footer of the next commit
}

var errRefused = errors.New("refused")

// grammar defines the steps of a prompt; usage describes them.
var grammar = steps.Grammar{
	"write": steps.PathAndText, "append": steps.PathAndText, "remove": steps.Path,
	"run": steps.Text("command"), "commit": steps.Text("message"), "ask": steps.Text("question"),
	"outcome": steps.Word, "sleep": steps.Seconds, "limit": steps.Seconds, "exit": exiting,
	"say": steps.Anything, "fail": steps.Anything, "hang": steps.Anything,
}

func exiting(s *steps.Step) error {
	code, err := strconv.ParseUint(s.Text, 10, 8)
	if err != nil {
		return fmt.Errorf("do: exit: %q is not an exit code", s.Text)
	}
	s.Number = int(code)
	return nil
}

// run does what the prompt says and records the turn.
func (t *work) run(ctx context.Context, of *plain.Turn) error {
	t.Turn = of
	return t.record.Take(of, func() (string, error) {
		err := t.work(ctx)
		if answer := t.text(); answer != "" {
			t.record.Message(history.RoleAssistant, answer)
		}
		switch {
		case errors.Is(err, errRefused):
			err = nil // the answer says that the step was refused
		case err != nil && ctx.Err() != nil:
			err = context.Cause(ctx)
		}
		return t.text(), err
	})
}

func (t *work) text() string { return strings.Join(t.answer, "\n") }

func (t *work) work(ctx context.Context) error {
	all, err := grammar.Parse(t.Prompt)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		return t.note(ctx)
	}
	for _, s := range all {
		if s.Verb == "say" || s.Verb == "run" {
			t.record.Append(plain.Entry{Type: plain.TypeStep, Step: s.Verb, Content: s.Text, Turn: t.record.Turn})
		}
		if err := t.do(ctx, s); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// note handles a plain prompt: it appends the prompt to NOTES.md and commits.
func (t *work) note(ctx context.Context) error {
	const notes = "NOTES.md"
	if err := t.write(notes, t.Prompt, os.O_APPEND); err != nil {
		return err
	}
	if _, err := t.git(ctx, "", "add", notes); err != nil {
		return err
	}
	t.outcome = "success"
	return t.commit(ctx, cmp.Or(subject(turn.Prompt(t.Prompt).Task()), "Take a note"))
}

// subject returns the first line of text, cut to 60 characters.
func subject(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	runes := []rune(strings.TrimSpace(line))
	return strings.TrimSpace(string(runes[:min(len(runes), 60)]))
}

func (t *work) do(ctx context.Context, s steps.Step) error {
	switch s.Verb {
	case "write":
		return t.write(s.Path, s.Text, os.O_TRUNC)
	case "append":
		return t.write(s.Path, s.Text, os.O_APPEND)
	case "remove":
		return os.Remove(t.path(s.Path))
	case "run":
		output, err := t.child(ctx, "", "sh", "-c", s.Text)
		t.say(ctx, strings.TrimSpace("run "+s.Text+"\n"+output))
		if err != nil {
			return fmt.Errorf("run %s: %w", s.Text, err)
		}
	case "commit":
		if _, err := t.git(ctx, "", "add", "--all"); err != nil {
			return err
		}
		return t.commit(ctx, s.Text)
	case "outcome":
		t.outcome = s.Text
	case "ask":
		return t.ask(ctx, s.Text)
	case "sleep":
		poll.Sleep(ctx, s.Duration)
	case "hang":
		<-ctx.Done()
	case "say":
		t.say(ctx, s.Text)
	case "fail":
		return errors.New(s.Text)
	case "limit":
		return plain.Limit{Until: time.Now().Add(s.Duration)}
	case "exit":
		return plain.Exit{Code: s.Number}
	}
	return nil
}

func (t *work) say(ctx context.Context, text string) {
	t.answer = append(t.answer, text)
	select {
	case t.Said <- plain.Said{Text: text}:
	case <-ctx.Done():
	}
}

// ask waits for the user's permission.
func (t *work) ask(ctx context.Context, question string) error {
	select {
	case t.Asked <- plain.Question{Text: question, Keys: "yn"}:
	case <-ctx.Done():
		return ctx.Err()
	}
	t.record.Emit(plain.Entry{Event: plain.Waiting, Question: question})
	select {
	case n := <-t.Answers:
		t.record.Emit(plain.Entry{Event: plain.Answered, Question: question, Answer: letter(n == 0)})
		if n == 0 {
			return nil
		}
		t.say(ctx, "refused: "+question)
		return errRefused
	case <-ctx.Done():
		return ctx.Err()
	}
}

func letter(granted bool) string {
	if granted {
		return "y"
	}
	return "n"
}

func (t *work) path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(t.dir, name)
}

// write puts text and a newline into a file; mode is os.O_TRUNC or os.O_APPEND.
func (t *work) write(name, text string, mode int) error {
	path := t.path(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|mode, 0o666)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text + "\n")
	return errors.Join(err, f.Close())
}

// commit commits the index, with the footer of the step outcome.
func (t *work) commit(ctx context.Context, message string) error {
	if t.outcome != "" {
		message += "\n\noutcome: " + t.outcome
		t.outcome = ""
	}
	// A configured commit.cleanup could drop a subject that begins with #.
	if _, err := t.git(ctx, message, "commit", "--quiet", "--cleanup=whitespace", "--file=-"); err != nil {
		return err
	}
	hash, err := t.git(ctx, "", "rev-parse", "--short", "HEAD")
	if err == nil {
		t.say(ctx, "committed "+hash+" "+subject(message))
	}
	return err
}
