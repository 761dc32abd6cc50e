package program

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"paw/orchestrator/cli/internal/plain"
)

// TestMain lets the test binary be the demo CLI, for tests that need it as a process.
func TestMain(m *testing.M) {
	if os.Getenv("DEMO_AGENT") == "1" {
		os.Exit(Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Environ()))
	}
	os.Exit(m.Run())
}

// place is a git repository with a home of its own.
type place struct {
	t    *testing.T
	root string // short, so that sockets fit
	repo string
	env  []string
}

func newPlace(t *testing.T) *place {
	t.Helper()
	root, err := os.MkdirTemp("", "paw")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(root) })
	p := &place{t: t, root: root, repo: filepath.Join(root, "repo"), env: []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + root, "XDG_STATE_HOME=" + filepath.Join(root, "state"),
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "LANG=C.UTF-8", "TERM=screen",
	}}
	if err := os.Mkdir(p.repo, 0o755); err != nil {
		t.Fatal(err)
	}
	p.git("init", "--quiet", "--initial-branch=main")
	return p
}

// exec runs a program in the repository and returns its output; it must succeed.
func (p *place) exec(name string, args ...string) string {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = p.repo, p.env, time.Second
	out, err := cmd.CombinedOutput()
	if err != nil {
		p.t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return strings.TrimRight(string(out), "\n")
}

func (p *place) git(args ...string) string {
	p.t.Helper()
	return p.exec("git", args...)
}

// main runs Main in the repository with input that is no terminal.
func (p *place) main(input string, args ...string) (code int, out, errw string) {
	p.t.Helper()
	p.t.Chdir(p.repo)
	var o, e bytes.Buffer
	code = Main(args, strings.NewReader(input), &o, &e, p.env)
	return code, o.String(), e.String()
}

func (p *place) transcript(id string) string {
	return filepath.Join(p.root, "state", "paw", "demo", id+".jsonl")
}

func (p *place) entries(id string) []plain.Entry {
	content, _ := os.ReadFile(p.transcript(id))
	return plain.Parse(content)
}

// events returns the names of a conversation's events.
func (p *place) events(id string) string {
	var names []string
	for _, e := range p.entries(id) {
		if e.Type == "event" {
			names = append(names, e.Event)
		}
	}
	return strings.Join(names, " ")
}

func (p *place) read(name string) string {
	p.t.Helper()
	content, err := os.ReadFile(filepath.Join(p.repo, name))
	if err != nil {
		p.t.Fatal(err)
	}
	return string(content)
}

func waitFor(t *testing.T, what string, condition func() bool) {
	t.Helper()
	deadline := time.After(20 * time.Second)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !condition() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

func expect[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func TestVersionAndHelp(t *testing.T) {
	p := newPlace(t)
	code, out, _ := p.main("", "--version")
	expect(t, "exit code of --version", code, 0)
	expect(t, "version", out, "demo 1.0.0\n")
	code, out, _ = p.main("", "--help")
	expect(t, "exit code of --help", code, 0)
	if !strings.Contains(out, "do: STEP") {
		t.Errorf("help does not name the steps: %s", out)
	}
}
