package orchestrator

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"paw/orchestrator/agent"
	"paw/session"
	"paw/session/turn"
)

// pipeGrace is how long output is awaited of what a finished CLI left running.
const pipeGrace = time.Second

// interruptGrace is how long an interrupted CLI, and what it started, may take to
// end before it is killed. Tests shorten it.
var interruptGrace = 5 * time.Second

// maxTrace bounds how much of a CLI's standard error a failed turn keeps.
const maxTrace = 4 << 10

// oneShotEnd is how a CLI's one-shot mode ended.
type oneShotEnd struct {
	stdout      []byte
	trace       string // the end of its standard error
	exitCode    int
	signal      syscall.Signal // that killed it, 0 for none
	interrupted bool
	err         error // it could not be started
}

// result is the answer, or why the turn is aborted.
func (e oneShotEnd) result(cli agent.CLI) (answer string, failed *turn.Abort) {
	if e.err != nil {
		return "", &turn.Abort{Reason: turn.ReasonError, Message: e.err.Error(), Cause: e.err}
	}
	if e.signal != 0 {
		return "", &turn.Abort{Reason: turn.ReasonError, ErrorType: "signal", Trace: e.trace,
			Message: fmt.Sprintf("%s was killed by signal %d (%s)", cli.Name(), int(e.signal), unix.SignalName(e.signal))}
	}
	answer, err := cli.HeadlessResult(e.stdout, e.exitCode)
	if err == nil && e.exitCode == 0 {
		return answer, nil
	}
	failed = &turn.Abort{Reason: turn.ReasonError, Trace: e.trace, Cause: err}
	var said *agent.TurnError
	if errors.As(err, &said) {
		failed.ErrorType, failed.Message = said.Type, said.Message
	}
	if failed.Message == "" {
		failed.Message = lastLine(e.trace)
	}
	if failed.Message == "" {
		failed.Message = fmt.Sprintf("%s ended with exit code %d", cli.Name(), e.exitCode)
	}
	return "", failed
}

// execute runs the command of a headless turn until it ends or ctx does.
func (r *headlessTurn) execute(ctx context.Context) oneShotEnd {
	out := &sharedWriter{w: r.output()}
	defer out.close()
	var stdout bytes.Buffer
	stderr := &tailWriter{limit: maxTrace}
	lines := &lineWriter{each: func(line []byte) {
		text := r.cli.HeadlessLine(line)
		_, _ = io.WriteString(out, text)
		show(r.o.Out, text)
	}}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), r.command.Argv[0], r.command.Argv[1:]...)
	cmd.Dir, cmd.Env = r.w.WorktreePath, r.environment()
	cmd.Stdout = io.MultiWriter(&stdout, lines)
	cmd.Stderr = &lineWriter{each: func(line []byte) {
		text := string(line) + "\n"
		_, _ = io.WriteString(stderr, text)
		_, _ = io.WriteString(out, text)
		show(r.o.Err, text)
	}}
	cmd.ExtraFiles = []*os.File{r.lock} // killed or not, paw must not let anybody start a second CLI
	cmd.WaitDelay = pipeGrace
	// A terminal session of its own: the CLI cannot ask anything on paw's terminal,
	// Ctrl-C reaches paw alone, and all that the CLI starts is found again.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	interrupted, err := r.await(ctx, cmd)
	lines.flush()
	cmd.Stderr.(*lineWriter).flush()
	end := oneShotEnd{stdout: stdout.Bytes(), trace: stderr.String(), interrupted: interrupted, err: err}
	if state := cmd.ProcessState; state != nil {
		end.exitCode = state.ExitCode()
		if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			end.signal = status.Signal()
		}
	}
	return end
}

// await starts the command and waits for its end; when ctx ends first, it ends
// the command with everything that it started.
func (r *headlessTurn) await(ctx context.Context, cmd *exec.Cmd) (interrupted bool, err error) {
	if err := cmd.Start(); err != nil {
		return false, fmt.Errorf("%s: %w", r.command.Argv[0], err)
	}
	leader := cmd.Process.Pid
	if r.o.Started != nil {
		r.o.Started(func() { killAll(leader) })
		defer r.o.Started(func() {})
	}
	r.p.Step("run.started")
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // ProcessState says it all
		close(ended)
	}()
	select {
	case <-ended:
		return false, nil
	case <-ctx.Done():
		endAll(leader, ended)
		return true, nil
	}
}

// endAll interrupts a CLI as Ctrl-C in its terminal would, and kills what is left
// of it and of its children when they take too long.
func endAll(leader int, ended <-chan struct{}) {
	_ = syscall.Kill(-leader, syscall.SIGINT)
	grace := time.NewTimer(interruptGrace)
	defer grace.Stop()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	gone := ended
	for {
		select {
		case <-gone:
			gone = nil
		case <-tick.C:
			if gone == nil && len(session.Members(leader)) == 0 {
				return
			}
		case <-grace.C:
			killAll(leader)
			<-ended
			return
		}
	}
}

// killAll kills every process of a terminal session.
func killAll(leader int) {
	_ = syscall.Kill(-leader, syscall.SIGKILL)
	for _, pid := range session.Members(leader) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

// environment is that of a launch, without its mark: no hook of this CLI, or of
// one that it starts, is to count a turn that paw itself counts.
func (r *headlessTurn) environment() []string {
	env := r.p.environment(r.s, r.w, r.generation, r.command)
	return slices.DeleteFunc(env, func(kv string) bool { return strings.HasPrefix(kv, "PAW_LAUNCH=") })
}

// output opens the file beside the turn's log that keeps what the user saw; nil
// when it cannot be made: that must not cost the turn.
func (r *headlessTurn) output() io.Writer {
	f, err := os.OpenFile(strings.TrimSuffix(r.one.Path(), ".log")+".output", os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
	if err != nil {
		_ = r.one.Note("its output is not kept: " + err.Error())
		return nil
	}
	return f
}

// close closes what the writer writes to, if that can be closed.
func (s *sharedWriter) close() {
	if c, ok := s.w.(io.Closer); ok {
		_ = c.Close()
	}
}

// show writes to the user, who may have gone away.
func show(to io.Writer, text string) {
	if to != nil && text != "" {
		_, _ = io.WriteString(to, text)
	}
}

// lineWriter hands on whole lines without their ends.
type lineWriter struct {
	each func(line []byte)
	rest []byte
}

func (w *lineWriter) Write(b []byte) (int, error) {
	w.rest = append(w.rest, b...)
	for {
		end := bytes.IndexByte(w.rest, '\n')
		if end < 0 {
			return len(b), nil
		}
		w.each(w.rest[:end])
		w.rest = w.rest[end+1:]
	}
}

func (w *lineWriter) flush() {
	if len(w.rest) > 0 {
		w.each(w.rest)
		w.rest = nil
	}
}

// tailWriter keeps the last bytes.
type tailWriter struct {
	mu    sync.Mutex
	limit int
	kept  []byte
}

func (w *tailWriter) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.kept = append(w.kept, b...)
	if extra := len(w.kept) - w.limit; extra > 0 {
		w.kept = append([]byte{}, w.kept[extra:]...)
	}
	return len(b), nil
}

func (w *tailWriter) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.ToValidUTF8(string(w.kept), "")
}

// lastLine is the last line of text that says something.
func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:])
}
