package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"paw/orchestrator/cli"
	"paw/orchestrator/launch"
	"paw/session"
	"paw/session/turn"
)

// turnResult is the answer of a CLI, or why the turn is aborted.
func turnResult(c cli.CLI, e cli.Ended) (answer string, failed *turn.Abort) {
	if e.Err != nil {
		return "", &turn.Abort{Reason: turn.ReasonError, Message: e.Err.Error(), Cause: e.Err}
	}
	if e.Signal != 0 {
		return "", &turn.Abort{Reason: turn.ReasonError, ErrorType: "signal", Trace: e.Trace,
			Message: fmt.Sprintf("%s was killed by signal %d (%s)", c.Name(), int(e.Signal), unix.SignalName(e.Signal))}
	}
	answer, err := c.HeadlessResult(e.Stdout, e.ExitCode)
	if err == nil && e.ExitCode == 0 {
		return answer, nil
	}
	failed = &turn.Abort{Reason: turn.ReasonError, Trace: e.Trace, Cause: err}
	var said *cli.TurnError
	if errors.As(err, &said) {
		failed.ErrorType, failed.Message = said.Type, said.Message
	}
	if failed.Message == "" {
		failed.Message = lastLine(e.Trace)
	}
	if failed.Message == "" {
		failed.Message = fmt.Sprintf("%s ended with exit code %d", c.Name(), e.ExitCode)
	}
	return "", failed
}

// execute runs the command of a headless turn until it ends or ctx does, shows
// what it says and keeps that beside the log.
func (r *headlessTurn) execute(ctx context.Context) cli.Ended {
	kept := &launch.SharedWriter{W: r.output()}
	defer kept.Close()
	return cli.Process{
		Argv: r.command.Argv, Dir: r.w.WorktreePath, Env: r.environment(),
		Lock: r.lock, // killed or not, paw must not let anybody start a second CLI
		Stdout: func(line []byte) {
			text := r.cli.HeadlessLine(line)
			show(kept, text)
			show(r.o.Out, text)
		},
		Stderr: func(line []byte) {
			text := string(line) + "\n"
			show(kept, text)
			show(r.o.Err, text)
		},
		Began: func(pid int) { _ = session.NoteCLI(r.lock, pid) }, // only a CLI that closes its lock needs it
		Started: func(kill func()) {
			if r.o.Started != nil {
				r.o.Started(kill)
			}
		},
	}.Run(ctx)
}

// environment is that of a launch, without its mark: no hook of this CLI, or of
// one that it starts, is to count a turn that paw itself counts.
func (r *headlessTurn) environment() []string {
	env := launch.Environment(r.home, r.s, r.w, r.generation, r.command)
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

// show writes to the user, who may have gone away.
func show(to io.Writer, text string) {
	if to != nil && text != "" {
		_, _ = io.WriteString(to, text)
	}
}

// lastLine is the last line of text that says something.
func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:])
}
