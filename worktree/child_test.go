package worktree

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"paw/worktree/git"
	"paw/worktree/gitdir"
	"paw/worktree/refs"
)

// The test binary runs itself as another paw: it waits until its standard input
// closes, then creates the plans it was given.
type childOrder struct {
	Dir   string
	Lock  string
	Plans []Plan
	DieAt string // SIGKILL itself after this step
	Moves *childMove
}

// childMove is a move to make instead: a rewind of the worktree at Path to Target or, with From, a landing.
type childMove struct {
	Path, Target, Rescue string
	Was                  string        // commit that the files must equal, "" for any
	Along                []refs.Change // made with the move
	From, To             string
	FilesFrom, FilesTo   string // see Move
	End                  bool   // end what is open in both places
}

func (c childMove) do(m *Manager, step func(string)) error {
	ctx := context.Background()
	at, err := m.Registry().CheckoutAt(ctx, m.Repository.Path)
	if err != nil {
		return err
	}
	switch {
	case c.End:
		_, err := m.Moves().EndMove(ctx, *at)
		return errors.Join(err, endInSteps(ctx, m.Moves(), c.Path, step))
	case c.From == "":
		_, err := m.Moves().Rewind(ctx, c.Path, c.Target, RewindOptions{
			Rescue: c.Rescue, From: c.Was, Command: "paw rewind", Step: step, Along: func(string, bool) ([]refs.Change, error) { return c.Along, nil },
		})
		return err
	}
	g, err := m.Moves().Hold(ctx)
	if err != nil {
		return err
	}
	defer g.Release()
	return m.Moves().Advance(ctx, g, Move{
		Branch: "main", From: c.From, To: c.To, FilesFrom: c.FilesFrom, FilesTo: c.FilesTo, Checkout: at, Log: "paw land", Command: "paw land", Refs: c.Along,
	}, step)
}

// endInSteps ends a rewind that is open, like EndMoveIn, and calls step after each step.
func endInSteps(ctx context.Context, m *Moves, path string, step func(string)) error {
	admin, err := gitdir.Linked(path, m.Repository.CommonDir, "")
	if err != nil {
		return err
	}
	_, err = m.endMove(ctx, gitdir.Checkout{Path: path, AdminDir: admin}, step)
	return err
}

func child() int {
	var order childOrder
	if err := json.Unmarshal([]byte(os.Getenv("PAW_TEST_CHILD")), &order); err != nil {
		panic(err)
	}
	io.Copy(io.Discard, os.Stdin)
	r, err := gitdir.Discover(order.Dir)
	if err != nil {
		panic(err)
	}
	m := &Manager{Repository: r, Locks: fileLock(order.Lock)}
	step := func(name string) {
		if name == order.DieAt {
			syscall.Kill(os.Getpid(), syscall.SIGKILL)
		}
	}
	if order.Moves != nil {
		err = order.Moves.do(m, step)
	} else {
		_, err = m.Create(context.Background(), order.Plans, step)
	}
	var refused *git.ConflictError
	switch {
	case errors.As(err, &refused):
		fmt.Println("conflict:", err)
		return 3
	case err != nil:
		fmt.Println("error:", err)
		return 1
	}
	return 0
}

// paw is a prepared process; closing start lets it run.
type paw struct {
	cmd   *exec.Cmd
	start io.Closer
	out   *strings.Builder
}

func (w *world) paw(dieAt string, env []string, plans ...Plan) *paw {
	w.t.Helper()
	order, err := json.Marshal(childOrder{Dir: w.Dir, Lock: filepath.Join(filepath.Dir(w.Dir), "repository.lock"), Plans: plans, DieAt: dieAt})
	if err != nil {
		w.t.Fatal(err)
	}
	return w.process(append([]string{"PAW_TEST_CHILD=" + string(order)}, env...))
}

// process is this binary once more, with more environment.
func (w *world) process(env []string, args ...string) *paw {
	w.t.Helper()
	return w.command(env, append([]string{os.Args[0]}, args...)...)
}

func (w *world) command(env []string, words ...string) *paw {
	w.t.Helper()
	p := &paw{cmd: exec.CommandContext(w.t.Context(), words[0], words[1:]...), out: &strings.Builder{}}
	p.cmd.Env = append(os.Environ(), env...)
	p.cmd.Stdout, p.cmd.Stderr = p.out, p.out
	var err error
	if p.start, err = p.cmd.StdinPipe(); err != nil {
		w.t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	return p
}

// end lets the process run and returns its exit code, -1 when it was killed.
func (p *paw) end() int {
	p.start.Close()
	p.cmd.Wait()
	return p.cmd.ProcessState.ExitCode()
}

// race starts all at once and returns their exit codes.
func race(t *testing.T, all []*paw) []int {
	t.Helper()
	for _, p := range all {
		p.start.Close()
	}
	var codes []int
	for i, p := range all {
		code := p.end()
		if code == 1 || code == 2 {
			t.Errorf("process %d: %s", i, p.out)
		}
		codes = append(codes, code)
	}
	return codes
}
