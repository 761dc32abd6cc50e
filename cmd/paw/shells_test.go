package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Tab lists the agents with their states in each shell.
func TestShellsComplete(t *testing.T) {
	t.Parallel()
	w := started(t, "api", "web")
	w.ok(w.paw("send", "api", "do: ask May I?"))
	waitFor(t, "api asks", func() bool { return w.agent("api").State == "waiting_input" })
	bashCompletion := "/usr/share/bash-completion/bash_completion"
	w.write(w.root, "bashrc", "source "+bashCompletion+"\nsource <(paw completion bash)\nPS1='ready$ '\n")
	ofGit, err := os.ReadFile("../../.ci/packages/_git-paw")
	if err != nil {
		t.Fatal(err)
	}
	w.write(w.root, "zsh/site-functions/_git-paw", string(ofGit))
	w.write(w.root, "zsh/site-functions/_paw", w.ok(w.paw("completion", "zsh")).stdout)
	w.write(w.root, "zsh/.zshrc", "fpath=($ZDOTDIR/site-functions $fpath)\nautoload -U compinit\ncompinit -u -D\nPS1='ready$ '\n")
	w.write(w.root, "fishrc", "paw completion fish | source\nfunction fish_prompt\n echo -n 'ready$ '\nend\nset -g fish_greeting\n")
	for _, shell := range []struct {
		needs, start string
		lines        []string
	}{
		{bashCompletion, "bash --noprofile --rcfile " + w.root + "/bashrc -i", []string{"paw attach ", "git paw attach "}},
		{"zsh", "ZDOTDIR=" + w.root + "/zsh zsh -i", []string{"paw attach ", "git paw attach "}},
		{"fish", "fish -N -C 'source " + w.root + "/fishrc'", []string{"paw attach "}},
	} {
		t.Run(filepath.Base(shell.needs), func(t *testing.T) {
			if _, err := exec.LookPath(shell.needs); err != nil {
				if _, err := os.Stat(shell.needs); err != nil {
					t.Skipf("there is no %s", shell.needs)
				}
			}
			shown := w.terminal(shell.start)
			defer killServer(shown.socket)
			press := func(keys ...string) {
				t.Helper()
				w.ok(shown.tmux(append([]string{"send-keys"}, keys...)...))
			}
			for _, line := range shell.lines {
				waitFor(t, "the shell is ready", func() bool { return strings.HasSuffix(strings.TrimRight(shown.screen(), "\n "), "ready$") })
				press("-l", line)
				shown.awaits("ready$ " + strings.TrimSpace(line))
				waitFor(t, "the states are shown", func() bool {
					press("Tab")
					screen := shown.screen()
					return strings.Contains(screen, "waits for you: May I?") && strings.Contains(screen, "demo, idle") && strings.Contains(screen, "session, active")
				})
				press("C-c")
				press("-l", "clear")
				press("Enter")
			}
		})
	}
}
