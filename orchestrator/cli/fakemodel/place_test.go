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
	"syscall"
	"testing"
	"time"
)

// timeout is for anything that a CLI does; some take seconds to start.
const timeout = 2 * time.Minute

// place is a scratch repository and home for one CLI, with a server of its own.
type place struct {
	t          *testing.T
	cli        string
	executable string
	repo       string
	env        []string
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

	p := &place{t: t, cli: cli, executable: executable, repo: filepath.Join(dir, "repo")}
	server := httptest.NewServer(&Server{})
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
