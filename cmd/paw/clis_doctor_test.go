//go:build clis

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"paw/orchestrator/cli/fakemodel"
	"paw/orchestrator/selftest"
)

// TestCLIsDoctor runs paw doctor --cli for each real CLI: all tests pass. Two CLIs report nothing
// before their first prompt.
func TestCLIsDoctor(t *testing.T) {
	for _, cli := range fakemodel.CLIs {
		t.Run(cli, func(t *testing.T) {
			w := newCLIWorld(t, cli)
			out := w.pawInput("", "doctor", "--cli", cli, "--json")
			var view trialJSON
			if err := json.Unmarshal([]byte(out.stdout), &view); err != nil {
				t.Fatalf("exit code %d: %v\n%s%s", out.code, err, out.stdout, out.stderr)
			}
			for _, line := range view.Plays {
				silent := line.Name == "before a prompt" && (cli == "codex" || cli == "copilot") && line.Result == selftest.Unknown
				if line.Result != selftest.OK && !silent {
					t.Errorf("%-9s %s: %s", line.Result, line.Name, line.Text)
				}
			}
			if len(view.Plays) == 0 || view.CLIVersion == nil || view.LookedAt == nil || view.Seconds > 380 {
				t.Errorf("%+v", view)
			}
			if out.code != 0 {
				t.Errorf("exit code %d", out.code)
			}
			if running := w.inTrial(); len(running) > 0 {
				t.Errorf("still running: %v", running)
			}
		})
	}
}

// TestCLIsDoctorSeesAConversationLeave: if claude's agent view is on, as in a version with another
// setting for it, doctor says that a key takes the conversation out of its pane, and leaves no
// process behind.
func TestCLIsDoctorSeesAConversationLeave(t *testing.T) {
	w := newCLIWorld(t, "claude")
	claude, err := exec.LookPath("claude")
	if err != nil {
		t.Fatal(err)
	}
	w.write(w.root, "claude.sh", "#!/bin/sh\nfor file; do case $file in */claude-settings.json) sed -i 's/\"disableAgentView\":true/\"disableAgentView\":false/' \"$file\" ;; esac; done\nexec "+claude+" \"$@\"\n")
	wrapper := filepath.Join(w.root, "claude.sh")
	if err := os.Chmod(wrapper, 0o755); err != nil {
		t.Fatal(err)
	}
	w.write(filepath.Join(w.root, "home/.config/paw"), "config.toml", "[clis.claude]\ncommand = [\""+wrapper+"\"]\n")
	out := w.pawInput("", "doctor", "--cli", "claude", "--json")
	var view trialJSON
	if err := json.Unmarshal([]byte(out.stdout), &view); err != nil {
		t.Fatalf("exit code %d: %v\n%s%s", out.code, err, out.stdout, out.stderr)
	}
	told := false
	for _, line := range view.Plays {
		t.Logf("%-9s %s: %s", line.Result, line.Name, line.Text)
		told = told || line.Name == "pane" && line.Result == selftest.Fail && strings.Contains(line.Text, "it left its pane and works in the background")
	}
	if !told || out.code != 1 {
		t.Errorf("exit code %d, and a conversation that left its pane was told: %v", out.code, told)
	}
	if running := w.inTrial(); len(running) > 0 {
		t.Errorf("still running: %v", running)
	}
}
