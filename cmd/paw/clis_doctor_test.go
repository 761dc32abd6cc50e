//go:build clis

package main

import (
	"encoding/json"
	"os"
	"testing"

	"paw/orchestrator/cli/fakemodel"
	"paw/orchestrator/selftest"
)

// TestCLIsDoctor has paw doctor try each real CLI: all of it works. Two CLIs report nothing before their first prompt.
func TestCLIsDoctor(t *testing.T) {
	for _, cli := range fakemodel.CLIs {
		t.Run(cli, func(t *testing.T) {
			if cli == "gemini" && os.Geteuid() != 0 {
				t.Skip("gemini takes hooks from root's files only")
			}
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
			if len(view.Plays) == 0 || view.CLIVersion == nil || view.LookedAt == nil || view.Seconds > 120 {
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
