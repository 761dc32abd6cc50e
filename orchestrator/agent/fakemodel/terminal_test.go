//go:build clis

package fakemodel

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestTerminal has each CLI work in a terminal, in a linked worktree of the repository that its home trusts. It must
// reach the permission dialog of the step ask without any other dialog, and go on once that is answered.
func TestTerminal(t *testing.T) {
	for _, cli := range CLIs {
		t.Run(cli, func(t *testing.T) {
			p := newPlace(t, cli)
			worktree := filepath.Join(filepath.Dir(p.repo), "worktree")
			p.git("worktree", "add", "--quiet", "-b", "task", worktree)
			p.repo = worktree
			pane := p.open("do: write a.txt one\ndo: commit One\ndo: ask touch b.txt\ndo: commit Two\ndo: say All done.")
			pane.waitFor("the first commit", func() bool { return p.commits() == "One\nfirst commit" })
			pane.waitFor("the permission dialog", func() bool {
				screen := pane.screen()
				return p.asked() && strings.Contains(screen, "b.txt") && strings.Contains(screen, MannersOf[cli].Asks)
			})
			if p.exists("b.txt") {
				t.Error("the command ran before it was allowed")
			}
			pane.waitFor("the second commit", func() bool {
				if !p.exists("b.txt") && strings.Contains(pane.screen(), MannersOf[cli].Asks) {
					pane.tmux("send-keys", "-t", "cli", "Enter") // the first keys may be ignored
				}
				return p.commits() == "Two\nOne\nfirst commit"
			})
			pane.waitFor("the answer", func() bool { return strings.Contains(pane.screen(), "All done.") })
		})
	}
}

// pane is a CLI in a tmux server of its own.
type pane struct {
	*place
	socket string
}

// open starts the CLI with a prompt.
func (p *place) open(prompt string) *pane {
	p.t.Helper()
	argv := []string{p.executable}
	switch p.cli {
	case "claude":
		argv = append(argv, "--", prompt)
	case "codex": // an option of this kind keeps it from starting a daemon
		argv = append(argv, "-c", "check_for_update_on_startup=false")
		argv = append(append(argv, p.gitDirectories()...), "--", prompt)
	case "opencode":
		argv = append(argv, "--prompt", prompt)
	case "gemini", "qwen":
		argv = append(argv, "-i", prompt)
	case "copilot":
		argv = append(argv, "--allow-tool=write", "--allow-tool=shell(git:*)", "-i", prompt)
	}
	dir, err := os.MkdirTemp("", "paw") // short, as the path of a socket must be
	if err != nil {
		p.t.Fatal(err)
	}
	pane := &pane{place: p, socket: filepath.Join(dir, "tmux")}
	p.t.Cleanup(func() { _ = os.RemoveAll(dir) })
	pane.tmux(append([]string{
		"-f", "/dev/null", "start-server", ";", "set-option", "-g", "remain-on-exit", "on", ";",
		"new-session", "-d", "-s", "cli", "-x", "140", "-y", "45", "-c", p.repo,
	}, argv...)...)
	p.t.Cleanup(pane.end)
	return pane
}

// end ends the server and the CLI, which may need a moment for it.
func (p *pane) end() {
	leader, err := strconv.Atoi(strings.TrimSpace(p.tmux("display-message", "-p", "-t", "cli", "#{pane_pid}")))
	if err != nil {
		p.t.Fatal(err)
	}
	p.tmux("kill-server")
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for deadline := time.After(10 * time.Second); syscall.Kill(-leader, 0) == nil; {
		select {
		case <-ticker.C:
		case <-deadline:
			_ = syscall.Kill(-leader, syscall.SIGKILL)
			return
		}
	}
}

func (p *pane) tmux(args ...string) string {
	p.t.Helper()
	if err := p.command("tmux", append([]string{"-S", p.socket}, args...)...); err != nil {
		p.t.Fatalf("tmux %s: %v\n%s", strings.Join(args, " "), err, p.output)
	}
	return p.output
}

func (p *pane) screen() string { return p.tmux("capture-pane", "-p", "-t", "cli") }

func (p *pane) waitFor(what string, done func() bool) {
	p.t.Helper()
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for deadline := time.After(timeout); !done(); {
		select {
		case <-ticker.C:
		case <-deadline:
			p.t.Fatalf("%s does not come:\n%s\nrequests:\n%s", what, p.screen(), p.log)
		}
	}
}

func (p *place) commits() string { return p.git("log", "--format=%s") }

func (p *place) exists(name string) bool {
	_, err := os.Stat(filepath.Join(p.repo, name))
	return err == nil
}

// asked tells whether the model has asked for the command of the step ask.
func (p *place) asked() bool {
	for line := range strings.Lines(p.log.String()) {
		var e Entry
		if json.Unmarshal([]byte(line), &e) == nil && e.Results == 2 && e.Tool != "" {
			return true
		}
	}
	return false
}
