package acp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"time"

	"github.com/google/uuid"

	"paw/orchestrator/cli"
	"paw/orchestrator/cli/internal/plain"
	"paw/orchestrator/cli/internal/questions"
	"paw/session/history"
)

// work is one turn: a prompt, and what the agent has told since it was sent.
type work struct {
	*program
	*plain.Turn
	events chan any // of the agent, update or permission
	over   chan struct{}

	calls    map[string]*call
	asked    []permission // the first one is open
	question string       // id of the open question
	answer   string       // begin of the last message
	line     string       // end of it that is not on the screen yet
	goesOn   bool         // a part of it is
	more     bool         // the message goes on
	billed   bool         // the usage is recorded
}

// give hands an event over, unless the turn is over.
func (w *work) give(event any) bool {
	select {
	case w.events <- event:
		return true
	case <-w.over:
		return false
	}
}

// run has the agent work on the prompt, and records the turn.
func (w *work) run(ctx context.Context, t *plain.Turn) error {
	w.Turn, w.events, w.over, w.calls = t, make(chan any), make(chan struct{}), map[string]*call{}
	return w.record.Take(t, func() (string, error) {
		err := w.prompt(ctx)
		w.flush(ctx)
		for _, one := range w.asked {
			w.child.Respond(one.request, outcome(""))
		}
		return strings.ToValidUTF8(w.answer, ""), err
	})
}

// prompt sends the prompt once the conversation is open, and returns when the agent has answered it,
// or the reason for which the turn was cancelled.
func (w *work) prompt(ctx context.Context) error {
	select {
	case <-w.opened:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if w.failed != nil {
		return w.exit(w.failed)
	}
	w.mu.Lock()
	w.running = w
	w.mu.Unlock()
	defer func() {
		w.mu.Lock()
		w.running = nil
		w.mu.Unlock()
		close(w.over)
	}()
	var reply struct {
		Stop  string  `json:"stopReason"`
		Usage *tokens `json:"usage"`
		Meta  quota   `json:"_meta"`
	}
	answered, ended := w.child.Ask("session/prompt", object{"sessionId": w.session.ID, "prompt": []object{{"type": "text", "text": w.Prompt}}}), make(chan error, 1)
	go func() { ended <- answered(context.Background(), &reply) }()
	cancelled := ctx.Done()
	for {
		select {
		case event := <-w.events:
			w.take(ctx, event)
		case n := <-w.Answers:
			w.answered(ctx, n)
		case <-cancelled:
			if cause := context.Cause(ctx); !errors.Is(cause, plain.Signal{Signal: syscall.SIGINT}) {
				return cause
			}
			cancelled = nil
			for _, one := range w.asked {
				w.child.Respond(one.request, outcome(""))
			}
			w.asked = nil
			w.child.Notify("session/cancel", object{"sessionId": w.session.ID})
		case err := <-ended:
			if told := reply.Meta.Quota.Tokens; told != nil && reply.Usage == nil {
				reply.Usage = &tokens{Total: told.Input + told.Output, Output: told.Output}
			}
			if !w.billed {
				w.used(reply.Usage)
			}
			return w.ending(ctx, err, reply.Stop)
		}
	}
}

// ending returns what an answer to a prompt means. Of a turn that was cancelled some agents say that it
// has finished or failed.
func (w *work) ending(ctx context.Context, err error, stop string) error {
	var refused *Error
	switch {
	case err != nil && !errors.As(err, &refused):
		select {
		case <-ctx.Done(): // what ends the program, such as paw stop, may end the agent first
			return context.Cause(ctx)
		case <-time.After(termGrace):
			return w.exit(err)
		}
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case stop == "cancelled":
		return plain.Signal{Signal: syscall.SIGINT}
	case err != nil:
		return err
	case stop != "end_turn":
		return fmt.Errorf("it stopped: %s", cmp.Or(stop, "it does not say why"))
	}
	return nil
}

// take records and shows what the agent tells.
func (w *work) take(ctx context.Context, event any) {
	switch e := event.(type) {
	case permission:
		switch {
		case ctx.Err() != nil:
			w.child.Respond(e.request, outcome(""))
		case len(e.Options) == 0:
			w.child.Respond(e.request, outcome(""))
			w.flush(ctx)
			refused := "refused, as it offers no answer: " + e.words()
			w.record.Append(plain.Entry{Type: plain.TypeNotice, Content: refused})
			w.show(ctx, plain.Said{Text: refused})
		default:
			if w.asked = append(w.asked, e); len(w.asked) == 1 {
				w.ask(ctx)
			}
		}
	case update:
		switch u := e.Update; u.Kind {
		case "agent_message_chunk":
			w.say(ctx, textOf(u.Content))
			w.used(u.Meta.Usage)
		case "tool_call", "tool_call_update":
			w.tool(ctx, u.call, textOf(u.Content))
		}
	}
}

// used records the usage of the turn or, of an agent that tells it, of one answer.
func (w *work) used(t *tokens) {
	if t == nil {
		return
	}
	w.billed, t.Sums = true, w.session.Agent == "Copilot" // 1.0.102; the protocol does not say it yet
	w.record.Append(plain.Entry{Type: plain.TypeUsage, Content: string(encoded(t))})
}

// say records a part of the answer, and shows lines of it.
func (w *work) say(ctx context.Context, text string) {
	if text == "" {
		return
	}
	w.record.Append(plain.Entry{Type: plain.TypeChunk, Role: history.RoleAssistant, Content: text})
	if !w.more {
		w.answer, w.line, w.goesOn, w.more = "", "", false, true
	}
	w.answer += text[:min(len(text), longestAnswer-len(w.answer))]
	w.line += text
	at := strings.LastIndexByte(w.line, '\n')
	if at < 0 && len(w.line) > lineWidth {
		at = strings.LastIndexByte(w.line, ' ')
	}
	switch {
	case at >= 0:
		w.show(ctx, plain.Said{Text: w.line[:at], More: w.goesOn})
		w.line, w.goesOn = w.line[at+1:], true
	case len(w.line) > mostUnbroken:
		w.show(ctx, plain.Said{Text: w.line, More: w.goesOn})
		w.line, w.goesOn = "", true
	}
}

// How many bytes of a line are waited for before a part of it is shown, before it is broken where it has no blank, and how many of
// a message are told at the end of the turn.
const (
	lineWidth     = 100
	mostUnbroken  = 4 << 10
	longestAnswer = 64 << 10
)

// flush shows an unfinished line; what is said next is another message.
func (w *work) flush(ctx context.Context) {
	if w.line != "" {
		w.show(ctx, plain.Said{Text: w.line, More: w.goesOn})
	}
	w.line, w.more = "", false
}

func (w *work) show(ctx context.Context, said plain.Said) {
	select {
	case w.Said <- said:
	case <-ctx.Done():
	}
}

// tool records and shows a call once its title is settled, and records what it gave.
func (w *work) tool(ctx context.Context, now call, result string) {
	c := w.calls[now.ID]
	if c == nil {
		c = &call{}
		w.calls[now.ID] = c
	}
	c.changed(now)
	ended := c.Status == "completed" || c.Status == "failed"
	if !c.shown && (ended || c.Status == "in_progress") {
		w.called(ctx, c)
	}
	if ended {
		w.record.Append(plain.Entry{Type: plain.TypeResult, ID: c.ID, Content: result})
	}
}

func (w *work) called(ctx context.Context, c *call) {
	w.flush(ctx)
	c.shown = true
	w.record.Append(plain.Entry{Type: plain.TypeTool, ID: c.ID, Content: c.words(), Input: string(c.Input)})
	w.show(ctx, plain.Said{Text: c.words(), Tool: true})
}

// ask asks the user for the first of the permissions.
func (w *work) ask(ctx context.Context) {
	w.flush(ctx)
	one := &w.asked[0]
	if known := w.calls[one.Call.ID]; known != nil {
		whole := *known
		whole.changed(one.Call)
		one.Call = whole
	}
	text, details := "asks for permission: "+one.words(), one.details()
	all := len(one.Options)
	if one.Options = offered(one.Options); all > len(one.Options) {
		details = strings.TrimPrefix(fmt.Sprintf("%s\n… answers left out here: %d", details, all-len(one.Options)), "\n")
	}
	if details != "" {
		text += "\n  │ " + strings.ReplaceAll(details, "\n", "\n  │ ")
	}
	var options []cli.Option
	for i, o := range one.Options {
		options = append(options, cli.Option{Label: o.label(), Name: questions.Title(o.Name), Key: keys[i : i+1]})
		text += fmt.Sprintf("\n  %c. %s", keys[i], o.label())
	}
	w.question = uuid.NewString()
	select {
	case w.Asked <- plain.Question{ID: w.question, Text: text + "\nyour answer", Keys: keys[:len(options)]}:
		w.record.Emit(plain.Entry{Event: plain.Waiting, ID: w.question, Question: one.words(), Details: details, Options: options})
	case <-ctx.Done():
	}
}

// answered takes the user's answer to the first of the permissions, and asks for the next one.
func (w *work) answered(ctx context.Context, n int) {
	if len(w.asked) == 0 { // the turn was cancelled meanwhile
		return
	}
	one := w.asked[0]
	took := one.Options[n]
	w.child.Respond(one.request, outcome(took.ID))
	w.record.Emit(plain.Entry{Event: plain.Answered, ID: w.question, Question: one.words(), Answer: took.label()})
	if w.asked = w.asked[1:]; len(w.asked) > 0 {
		w.ask(ctx)
	}
}
