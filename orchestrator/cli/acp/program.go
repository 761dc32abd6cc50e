package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"paw/config/poll"
	"paw/orchestrator/cli"
	"paw/orchestrator/cli/internal/inbox"
	"paw/orchestrator/cli/internal/plain"
	"paw/worktree/git"
)

// openPatience bounds how long an agent may take to open a conversation. Node at a load of many times
// the cores needs a minute.
const openPatience = 5 * time.Minute

// program is the process of an agent's pane.
type program struct {
	launch
	dir      string
	record   *plain.Record
	dialogue *plain.Dialogue
	child    *child

	orders  chan func()   // for the dialogue
	opened  chan struct{} // closed once session or failed is set
	session Session
	failed  error

	mu      sync.Mutex
	running *work // the turn that gets what the agent tells, nil for none
}

// Main runs an agent in the current directory, whose pane in and out are, and returns the exit code:
// 0 when the user leaves. args are those of paw __acp in a command line that launch.argv makes.
func Main(args []string, in io.Reader, out, errw io.Writer, env []string) int {
	err := errors.New("it is started by paw alone")
	if l, ok := launchOf(args); ok {
		var code int
		if code, err = run(l, in, out, env); err == nil {
			return code
		}
	}
	fmt.Fprintf(errw, "paw: error: __acp: %v\n", err)
	return 1
}

func run(l launch, in io.Reader, out io.Writer, env []string) (int, error) {
	dir, err := os.Getwd()
	if err != nil {
		return 0, err
	}
	p := &program{launch: l, dir: dir, orders: make(chan func()), opened: make(chan struct{})}
	if l.ID == oneShot {
		_ = os.Remove(filepath.Join(l.folder(), oneShot+".jsonl"))
	}
	if p.record, err = plain.Open(l.folder(), l.ID, l.Again); err != nil {
		return 0, err
	}
	defer p.record.Close()
	env = git.Unbound(env)
	p.record.ReportTo(l.Hook, l.Name, dir, env)
	before := Session{ID: l.Before}
	if before.ID == "" {
		before = lastSession(p.record.Path)
	}
	if p.child, err = start(append(l.Agent, before.options()...), dir, env, p.told); err != nil {
		return 0, err
	}
	defer p.child.end()
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGHUP, syscall.SIGTERM)
	defer signal.Stop(signals)

	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if l.Prompt != "" {
		p.record.Copy, out = out, io.Discard
		go orphaned(ctx, signals)
	}
	d := plain.NewDialogue(l.Name, p.record, in, out)
	defer d.Close()
	p.dialogue, d.Orders = d, p.orders
	go p.open(ctx, before)
	d.Begin = func(prompt string) *plain.Turn { return plain.NewTurn(prompt, (&work{program: p}).run) }
	d.Ignores = func(os.Signal) bool { return false }
	go p.watch(ctx)
	go inbox.Of(cli.Spec{StateDir: l.State}, kind).Listen(ctx, p.order)
	p.record.Emit(plain.Entry{Event: plain.Started, Directory: dir, PID: os.Getpid()})
	d.Print(l.Name + " in " + dir + "\nEsc interrupts, Ctrl-D leaves.\n")
	code := d.Talk(l.Prompt, signals) // without a terminal it ends with the turn
	if before.refused(code) {
		before.Loads = false
		p.record.Append(plain.Entry{Type: plain.TypeSession, Content: string(encoded(before))})
	}
	p.record.Emit(plain.Entry{Event: plain.Exited, Code: &code})
	return code, nil
}

// parentLook is the time between two looks whether the paw that began a turn is there.
const parentLook = time.Second

// orphaned ends a turn that has no terminal when the process that started it, paw run or the queue, has ended: nobody would see a question of
// the turn any more.
func orphaned(ctx context.Context, signals chan<- os.Signal) {
	for parent := os.Getppid(); os.Getppid() == parent; poll.Sleep(ctx, parentLook) {
		if ctx.Err() != nil {
			return
		}
	}
	signals <- syscall.SIGTERM
}

// open opens the conversation, and tells the user where that fails.
func (p *program) open(ctx context.Context, before Session) {
	before.awaitMinute(p.child.ended)
	ctx, cancel := context.WithTimeoutCause(ctx, openPatience, errors.New("it does not answer"))
	defer cancel()
	p.session, p.failed = p.child.Open(ctx, p.dir, before.ID)
	before.awaitRepeated(ctx)
	if p.session.Began = before.Began; p.session.ID != before.ID {
		p.session.Began = time.Now().UTC()
	}
	if p.failed == nil {
		p.record.Append(plain.Entry{Type: plain.TypeSession, Content: string(encoded(p.session))})
	}
	close(p.opened)
	switch {
	case p.failed != nil:
		p.do(ctx, func() { p.dialogue.Leave(p.exit(p.failed)) })
	case p.session.Anew != "":
		anew := "the conversation begins anew: " + p.session.Anew
		p.record.Append(plain.Entry{Type: plain.TypeNotice, Content: anew})
		p.do(ctx, func() { p.dialogue.Tell(anew) })
	}
}

// watch ends the program with its agent.
func (p *program) watch(ctx context.Context) {
	<-p.child.ended
	p.do(ctx, func() { p.dialogue.Leave(p.exit(nil)) })
}

// exit returns the end of the program after an error of an agent, which may have ended.
func (p *program) exit(err error) plain.Exit {
	select {
	case <-p.child.ended:
		return plain.Exit{Code: p.child.code(), Why: p.child.why().Error()}
	case <-time.After(termGrace):
		return plain.Exit{Code: 1, Why: err.Error()}
	}
}

// do has the dialogue call what only it may do.
func (p *program) do(ctx context.Context, what func()) {
	select {
	case p.orders <- what:
	case <-ctx.Done():
	}
}

// order is what another paw process writes for the program in the pane: a prompt from paw send, or from paw answer the answer to a question.
type order struct {
	Prompt   string `json:"prompt,omitempty"`
	Question string `json:"question,omitempty"` // its id
	Answer   int    `json:"answer"`
}

func (p *program) order(ctx context.Context, text []byte) {
	var o order
	switch err := json.Unmarshal(text, &o); {
	case err != nil: // paw sees whether anybody listens
	case o.Question != "":
		p.do(ctx, func() { p.dialogue.Answer(o.Question, o.Answer) })
	case o.Prompt != "":
		p.do(ctx, func() { p.dialogue.Give(o.Prompt) })
	}
}

// told gives what the agent tells of this conversation to the running turn.
func (p *program) told(method string, id, params json.RawMessage) bool {
	p.mu.Lock()
	to := p.running
	p.mu.Unlock()
	switch method {
	case "session/update":
		var u update
		if json.Unmarshal(params, &u) == nil && to != nil && u.Session == p.session.ID {
			to.give(u)
		}
		return true
	case "session/request_permission":
		asked := permission{request: slices.Clone(id)}
		if json.Unmarshal(params, &asked) != nil || id == nil {
			return false
		}
		if to == nil || asked.Session != p.session.ID || !to.give(asked) {
			p.child.Respond(id, outcome(""))
		}
		return true
	}
	return false
}
