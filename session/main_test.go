package session

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// childMode makes the test binary play one of the processes in children instead of running tests.
const childMode = "PAW_SESSION_TEST_CHILD"

// deadline bounds every wait of a test.
const deadline = 10 * time.Second

var children = map[string]func(args []string) error{
	"update":      childUpdate,
	"save-loop":   childSaveLoop,
	"lock":        childLock,
	"hold":        childHold,
	"hold-exec":   childHoldExec,
	"hold-drop":   childHoldDrop,
	"hold-turn":   childHoldTurn,
	"small-files": childSmallFiles,
	"save":        childSave,
}

func TestMain(m *testing.M) {
	if mode := os.Getenv(childMode); mode != "" {
		if err := children[mode](os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// process is a child that runs one of children.
type process struct {
	*exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	stderr *strings.Builder
	done   chan struct{} // closed when the process has been waited for
}

// spawn starts a child; its standard input stays open until in is closed.
func spawn(t *testing.T, mode string, args ...string) *process {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, os.Args[0], args...)
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), childMode+"="+mode, "GORACE=atexit_sleep_ms=0") // that is a second each
	cmd.WaitDelay = deadline
	p := &process{Cmd: cmd, stderr: &strings.Builder{}, done: make(chan struct{})}
	cmd.Stderr = p.stderr
	var err error
	if p.in, err = cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout = write
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	write.Close()
	p.out = bufio.NewReader(read)
	go func() {
		_ = cmd.Wait()
		close(p.done)
	}()
	t.Cleanup(func() {
		cancel()
		p.wait(t)
		read.Close()
	})
	return p
}

// expect reads one line of the child's output.
func (p *process) expect(t *testing.T, want string) {
	t.Helper()
	got, err := p.out.ReadString('\n')
	if err != nil {
		p.wait(t)
		t.Fatalf("child said %q and ended: %v: %s", got, err, p.stderr)
	}
	if strings.TrimSpace(got) != want {
		t.Fatalf("child said %q, want %q", got, want)
	}
}

// wait lets the child end by itself.
func (p *process) wait(t *testing.T) {
	t.Helper()
	select {
	case <-p.done:
	case <-time.After(2 * deadline):
		t.Fatalf("child %d does not end", p.Process.Pid)
	}
}

// kill ends the child with SIGKILL and waits until it is gone.
func (p *process) kill(t *testing.T) {
	t.Helper()
	if err := p.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Fatal(err)
	}
	p.wait(t)
}

func (p *process) signal(t *testing.T, s syscall.Signal) {
	t.Helper()
	if err := p.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

func waitFor(t *testing.T, what string, condition func() bool) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(deadline); !condition(); <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

// within returns a context for one operation of a test.
func within(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), d)
	t.Cleanup(cancel)
	return ctx
}

// newStore is a store in folders that do not exist yet.
func newStore(t *testing.T) Store {
	t.Helper()
	dir := t.TempDir()
	return Store{Dir: filepath.Join(dir, "data", "sessions"), LocksDir: filepath.Join(dir, "state", "locks")}
}

// minimal is the least a record needs.
func minimal(name, repo string) *Session {
	return &Session{Name: name, RepoPath: repo, Status: StatusActive}
}

func mustSave(t *testing.T, st Store, s *Session) {
	t.Helper()
	if err := st.Save(within(t, deadline), s); err != nil {
		t.Fatal(err)
	}
}

func mustLoad(t *testing.T, st Store, name string) *Session {
	t.Helper()
	s, err := st.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	if s == nil {
		t.Fatalf("no session %s", name)
	}
	return s
}

// goAhead tells the parent that a child is ready and waits until the parent closes the child's input.
func goAhead() error {
	fmt.Println("ready")
	_, err := io.Copy(io.Discard, os.Stdin)
	return err
}

func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		panic(err)
	}
	return n
}
