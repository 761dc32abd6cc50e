//go:build clis

package fakemodel

import (
	"bytes"
	"context"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// timeout is for one turn of one CLI; some take seconds to start.
const timeout = 2 * time.Minute

const errand = `Please do this.
do: write greeting.txt hello from here
do: append notes/log.txt it's done
do: run wc -l greeting.txt > count.txt
do: commit Add a greeting
do: run echo "$((20+3))"
do: say The "greeting" is there.`

// TestOneShot has each CLI do one errand without a terminal, and looks at the repository afterwards.
func TestOneShot(t *testing.T) {
	for _, cli := range CLIs {
		t.Run(cli, func(t *testing.T) {
			p := newPlace(t, cli)
			p.run(errand)
			p.expectGit("Add a greeting", "log", "-1", "--format=%s")
			p.expectGit("hello from here", "show", "HEAD:greeting.txt")
			p.expectGit("it's done", "show", "HEAD:notes/log.txt")
			p.expectGit("1 greeting.txt", "show", "HEAD:count.txt")
			p.expectGit("", "status", "--porcelain")
			if !strings.Contains(p.output, `The "greeting" is there.`) {
				t.Errorf("the answer is not in the output:\n%s", p.output)
			}
		})
	}
}

// TestPlainPrompt has each CLI note a prompt without steps, twice, so that a file that exists is written too.
func TestPlainPrompt(t *testing.T) {
	for _, cli := range CLIs {
		t.Run(cli, func(t *testing.T) {
			p := newPlace(t, cli)
			p.run("Make it faster")
			p.run("do: write NOTES.md other notes\ndo: commit Rewrite the notes")
			p.expectGit("Rewrite the notes\nMake it faster\nfirst commit", "log", "--format=%s")
			p.expectGit("Make it faster", "show", "HEAD~:NOTES.md")
			p.expectGit("other notes", "show", "HEAD:NOTES.md")
			p.expectGit("success", "log", "-1", "--format=%(trailers:key=outcome,valueonly)", "HEAD~")
		})
	}
}

// place is a scratch repository and home for one CLI, with a server of its own.
type place struct {
	t          *testing.T
	cli        string
	executable string
	repo       string
	env        []string
	log        *record
	output     string // of the newest run
}

func newPlace(t *testing.T, cli string) *place {
	executable, err := exec.LookPath(cli)
	if err != nil {
		t.Skipf("%s is not installed: %v", cli, err)
	}
	// Not the system's folder for temporary files: see Prepare.
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(cache, 0o700); err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp(cache, "paw-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) }) // what a CLI left running may still write there

	p := &place{t: t, cli: cli, executable: executable, repo: filepath.Join(dir, "repo"), log: &record{}}
	server := httptest.NewServer(&Server{Log: p.log})
	t.Cleanup(server.Close)
	if err := os.Mkdir(p.repo, 0o700); err != nil {
		t.Fatal(err)
	}
	env, err := Prepare(cli, filepath.Join(dir, "home"), p.repo, server.URL)
	if err != nil {
		t.Fatal(err)
	}
	p.env = append(env, "PATH="+os.Getenv("PATH"), "TERM=xterm-256color")
	p.git("init", "--quiet")
	p.git("commit", "--quiet", "--allow-empty", "-m", "first commit")
	return p
}

// run has the CLI take one prompt without a terminal.
func (p *place) run(prompt string) {
	p.t.Helper()
	var args []string
	switch p.cli {
	case "claude":
		args = []string{"-p", "--", prompt}
	case "codex":
		args = append([]string{"exec"}, append(p.gitDirectories(), "--", prompt)...)
	case "opencode":
		args = []string{"run", "--", prompt}
	case "qwen": // without a terminal it offers no tool that could need permission
		args = []string{"-p", prompt, "--yolo"}
	case "gemini":
		args = []string{"-p", prompt}
	case "copilot":
		args = []string{"-p", prompt, "--allow-all-tools"}
	}
	if err := p.command(p.executable, args...); err != nil {
		p.t.Fatalf("%s: %v\n%s\nrequests:\n%s", p.cli, err, p.output, p.log)
	}
	p.t.Cleanup(func() {
		if p.t.Failed() {
			p.t.Logf("%s\nrequests:\n%s", p.output, p.log)
		}
	})
}

// gitDirectories are the options with which codex may commit, in a linked worktree as well.
func (p *place) gitDirectories() []string {
	return []string{
		"--add-dir", p.git("rev-parse", "--path-format=absolute", "--git-dir"),
		"--add-dir", p.git("rev-parse", "--path-format=absolute", "--git-common-dir"),
	}
}

// command runs a program in the repository and keeps its output. It has a process group of its own, which ends with it.
func (p *place) command(program string, args ...string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(p.t.Context()), timeout) // it serves the clean-up too
	defer cancel()
	var output bytes.Buffer
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Env = p.repo, p.env
	cmd.Stdout, cmd.Stderr = &output, &output
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	err := cmd.Run()
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // what it left running
	}
	p.output = output.String()
	return err
}

func (p *place) git(args ...string) string {
	p.t.Helper()
	if err := p.command("git", args...); err != nil {
		p.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, p.output)
	}
	return strings.TrimSpace(p.output)
}

func (p *place) expectGit(want string, args ...string) {
	p.t.Helper()
	said := p.output
	if err := p.command("git", args...); err != nil {
		p.t.Errorf("git %s: %v\n%s", strings.Join(args, " "), err, p.output)
	} else if got := strings.TrimSpace(p.output); got != want {
		p.t.Errorf("git %s: %q, want %q", strings.Join(args, " "), got, want)
	}
	p.output = said
}

// record is the log of a server.
type record struct {
	mu   sync.Mutex
	text strings.Builder
}

func (r *record) Write(line []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.Write(line)
}

func (r *record) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.String()
}
