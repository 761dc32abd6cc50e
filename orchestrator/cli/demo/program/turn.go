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
	"syscall"
	"time"

	"paw/config/poll"
	"paw/orchestrator/cli/internal/steps"
	"paw/session/history"
	turnlog "paw/session/turn"
)

// turn runs one prompt in a goroutine of its own. Its creator reads said and asked until done
// yields the error, and answers each question, unless the turn is cancelled.
type turn struct {
	*agent
	prompt  string
	answer  []string // texts so far; owned by the turn until it is done
	outcome string   // footer of the next commit

	cancel  context.CancelCauseFunc // called with a signalError
	said    chan string
	asked   chan string
	answers chan bool
	done    chan error // yields nil, exitRequest, signalError, or the failure
}

// exitRequest is the step exit, which ends the turn and the program.
type exitRequest struct{ code int }

func (e exitRequest) Error() string { return fmt.Sprintf("exit %d", e.code) }

// signalError ends a turn from outside: SIGINT is the user's interrupt, other signals end the
// program.
type signalError struct{ syscall.Signal }

func (e signalError) Error() string { return e.String() }

func (e signalError) code() int { return 128 + int(e.Signal) }

// limitReached ends a turn as a usage limit does.
type limitReached struct{ until time.Time }

func (e limitReached) Error() string {
	return "usage limit reached, resets at " + e.until.Format("15:04")
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

func (a *agent) begin(prompt string) *turn {
	ctx, cancel := context.WithCancelCause(context.Background())
	t := &turn{agent: a, prompt: prompt, cancel: cancel, said: make(chan string), asked: make(chan string),
		answers: make(chan bool, 1), done: make(chan error, 1)}
	go func() {
		defer cancel(nil)
		t.done <- t.run(ctx)
	}()
	return t
}

// run does what the prompt says and records the turn.
func (t *turn) run(ctx context.Context) error {
	t.conversation.turn++
	t.emit(Entry{Event: turnStarted, Prompt: t.prompt})
	t.message(history.RoleUser, t.prompt)
	err := t.work(ctx)
	if answer := t.text(); answer != "" {
		t.message(history.RoleAssistant, answer)
	}
	if errors.Is(err, errRefused) {
		err = nil // the answer says that the step was refused
	}
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err == nil {
		err = t.conversation.err
	}
	switch {
	case err == nil:
		t.emit(Entry{Event: turnEnded, Answer: t.text()})
	case errors.Is(err, signalError{syscall.SIGINT}):
		t.emit(Entry{Event: interrupted})
	case !errors.As(err, new(exitRequest)) && !errors.As(err, new(signalError)):
		e := Entry{Event: failed, Error: err.Error()}
		if limit := (limitReached{}); errors.As(err, &limit) {
			e.Until = &limit.until
		}
		t.emit(e)
	}
	return err
}

func (t *turn) text() string { return strings.Join(t.answer, "\n") }

func (t *turn) work(ctx context.Context) error {
	all, err := grammar.Parse(t.prompt)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		return t.note(ctx)
	}
	for _, s := range all {
		if s.Verb == "say" || s.Verb == "run" {
			t.conversation.append(Entry{Type: TypeStep, Step: s.Verb, Content: s.Text, Turn: t.conversation.turn, Timestamp: time.Now()})
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
func (t *turn) note(ctx context.Context) error {
	const notes = "NOTES.md"
	if err := t.write(notes, t.prompt, os.O_APPEND); err != nil {
		return err
	}
	if _, err := t.git(ctx, "", "add", notes); err != nil {
		return err
	}
	t.outcome = "success"
	return t.commit(ctx, cmp.Or(subject(turnlog.Prompt(t.prompt).Task()), "Take a note"))
}

// subject returns the first line of text, cut to 60 characters.
func subject(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	runes := []rune(strings.TrimSpace(line))
	return strings.TrimSpace(string(runes[:min(len(runes), 60)]))
}

func (t *turn) do(ctx context.Context, s steps.Step) error {
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
		return limitReached{time.Now().Add(s.Duration)}
	case "exit":
		return exitRequest{s.Number}
	}
	return nil
}

func (t *turn) say(ctx context.Context, text string) {
	t.answer = append(t.answer, text)
	select {
	case t.said <- text:
	case <-ctx.Done():
	}
}

// ask waits for the user's permission.
func (t *turn) ask(ctx context.Context, question string) error {
	select {
	case t.asked <- question:
	case <-ctx.Done():
		return ctx.Err()
	}
	t.emit(Entry{Event: waiting, Question: question})
	select {
	case granted := <-t.answers:
		t.emit(Entry{Event: answered, Question: question, Answer: letter(granted)})
		if granted {
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

func (t *turn) path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(t.dir, name)
}

// write puts text and a newline into a file; mode is os.O_TRUNC or os.O_APPEND.
func (t *turn) write(name, text string, mode int) error {
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
func (t *turn) commit(ctx context.Context, message string) error {
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
