package acp

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// How long an agent may take to end once it gets no input any more, and then once it was asked to.
const (
	endGrace  = 2 * time.Second
	termGrace = time.Second
)

// lastWords are the last bytes that are written to it.
type lastWords []byte

const mostLastWords = 4 << 10

func (w *lastWords) Write(b []byte) (int, error) {
	*w = append(*w, b[max(0, len(b)-mostLastWords):]...)
	*w = (*w)[max(0, len(*w)-mostLastWords):]
	return len(b), nil
}

// child is a running agent, in a process group of its own.
type child struct {
	*Client
	cmd   *exec.Cmd
	input io.Closer
	ended chan struct{} // closed when the process has ended and all that it said is read
	trace lastWords     // of standard error, complete when the process has ended
}

// start runs an agent in a folder. What it tells goes to told.
func start(argv []string, dir string, env []string, told func(method string, id, params json.RawMessage) bool) (*child, error) {
	c := &child{cmd: exec.CommandContext(context.Background(), argv[0], argv[1:]...), ended: make(chan struct{})}
	c.Client = NewClient(told)
	from, out, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	c.cmd.Dir, c.cmd.Env, c.cmd.Stdout, c.cmd.Stderr = dir, env, out, &c.trace
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.cmd.WaitDelay = termGrace
	input, err := c.cmd.StdinPipe()
	if err == nil {
		c.input, err = input, c.cmd.Start()
	}
	_ = out.Close()
	if err != nil {
		_ = from.Close()
		return nil, err
	}
	go c.Write(input)
	go c.Read(from)
	go func() {
		_ = c.cmd.Wait() // the outcome is read from ProcessState
		select {
		case <-c.Over():
		case <-time.After(termGrace): // something that it started has its output open
		}
		_ = from.Close()
		<-c.Over()
		close(c.ended)
	}()
	return c, nil
}

// end ends the agent, and all of its process group that does not end by itself.
func (c *child) end() {
	_ = c.input.Close()
	for _, step := range []struct {
		grace  time.Duration
		signal syscall.Signal
	}{{endGrace, syscall.SIGTERM}, {termGrace, syscall.SIGKILL}} {
		select {
		case <-c.ended:
		case <-time.After(step.grace):
		}
		_ = syscall.Kill(-c.cmd.Process.Pid, step.signal)
	}
	<-c.ended
}

// why says how the agent ended, with the last line of its standard error.
func (c *child) why() error {
	words := strings.TrimSpace(string(c.trace))
	words = words[strings.LastIndexByte(words, '\n')+1:]
	if words != "" {
		words = ": " + words
	}
	return errors.New("it has ended (" + c.cmd.ProcessState.String() + ")" + words)
}

// code returns the exit code for a program whose agent has ended by itself, which is no success.
func (c *child) code() int { return max(1, c.cmd.ProcessState.ExitCode()) }
