package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"paw/orchestrator/selftest"
)

// tried runs paw doctor --cli demo, and returns the output and its results by name.
func (w *world) tried(extra ...string) (trialJSON, map[string]selftest.Line, output) {
	w.t.Helper()
	out := w.pawWith(append(extra, "TMPDIR="+w.root), "doctor", "--cli", "demo", "--json")
	var view trialJSON
	if err := json.Unmarshal([]byte(out.stdout), &view); err != nil {
		w.t.Fatalf("exit code %d: %v\n%s%s", out.code, err, out.stdout, out.stderr)
	}
	lines := map[string]selftest.Line{}
	for _, line := range view.Plays {
		lines[line.Name] = line
	}
	return view, lines, out
}

// untouched fails the test unless HOME has only the named files, and no process and no folder of a
// trial is left.
func (w *world) untouched(names ...string) {
	w.t.Helper()
	home := filepath.Join(w.root, "home")
	var found []string
	err := filepath.WalkDir(home, func(path string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			found = append(found, strings.TrimPrefix(path, home+"/"))
		}
		return err
	})
	if err != nil || strings.Join(found, " ") != strings.Join(names, " ") {
		w.t.Errorf("in HOME: %v, %v", found, err)
	}
	for _, pattern := range []string{filepath.Join(home, ".cache/*"), filepath.Join(w.root, "paw-doctor-*")} {
		if left, err := filepath.Glob(pattern); err != nil || len(left) > 0 {
			w.t.Errorf("left behind: %v, %v", left, err)
		}
	}
	if running := w.inTrial(); len(running) > 0 {
		w.t.Errorf("still running: %v", running)
	}
	if w.tmux("list-sessions").code == 0 {
		w.t.Error("it used the user's own tmux server")
	}
}

// inTrial returns the command lines of the processes of a trial.
func (w *world) inTrial() []string {
	home := "HOME=" + filepath.Join(w.root, "home/.cache/paw-doctor-")
	var lines []string
	for _, p := range processes() {
		if slices.ContainsFunc(p.environment, func(kv string) bool { return strings.HasPrefix(kv, home) }) {
			lines = append(lines, strings.Join(p.words, " "))
		}
	}
	return lines
}

// TestTrial: every test of paw doctor --cli passes with the built-in CLI.
func TestTrial(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	view, lines, out := w.tried("ANTHROPIC_API_KEY=secret", "PAW_SESSION=other", "CLAUDE_CONFIG_DIR=/nowhere")
	if out.code != 0 || view.Version != 1 || view.CLI != "demo" || view.LookedAt != nil || view.Seconds <= 0 {
		t.Errorf("exit code %d, %+v", out.code, view)
	}
	for name, part := range map[string]string{
		"start": "runs after ", "before a prompt": "idle", "turn": "turn 1, 1 file, tag afk-doctor_demo-1",
		"queued prompt": "it arrived, and it was done in turns 5 to 6",
		"question":      "waits for you: touch granted.txt; a prompt is refused meanwhile", "Esc": "turn 3 is interrupted, turn 4 is the next",
		"crash": "resumed; the same conversation goes on with turn 8, turn 7 is ", "conversation": "all understood", "stop": "ended after ",
	} {
		if line := lines[name]; line.Result != selftest.OK || !strings.Contains(line.Text, part) {
			t.Errorf("%s: %+v, want %s", name, line, part)
		}
	}
	w.untouched()
	if got := w.git(w.repo, "for-each-ref", "--format=%(refname)"); got != "refs/heads/main\n" {
		t.Errorf("in the user's repository: %s", got)
	}
}

// TestTrialOfABrokenCLI: what a CLI does not do is a FAIL, and no process or file is left.
func TestTrialOfABrokenCLI(t *testing.T) {
	t.Parallel()
	for name, broken := range map[string]struct {
		script string
		want   map[string]selftest.Result
		said   map[string]string
	}{
		"without hooks": {
			"unset PAW_HOOK; exec \"$PAW\" \"$@\"",
			map[string]selftest.Result{"start": selftest.OK, "before a prompt": selftest.OK, "turn": selftest.Fail, "Esc": selftest.NotTried, "stop": selftest.OK},
			map[string]string{"turn": "the prompt did not get through within 8s; status says "},
		},
		"ends soon": { // but not while start still watches
			"echo needs a newer Node; sleep 1; exit 3",
			map[string]selftest.Result{"before a prompt": selftest.Fail, "turn": selftest.NotTried, "stop": selftest.OK},
			map[string]string{"before a prompt": "not idle; status says error (exit code 3); the screen ends with: needs a newer Node"},
		},
		"forgets": {
			`case $2 in --resume) shift 3; set -- demo-agent --session-id 11111111-2222-4333-8444-555555555555 "$@" ;; esac; exec "$PAW" "$@"`,
			map[string]selftest.Result{"turn": selftest.OK, "Esc": selftest.OK, "crash": selftest.Fail, "stop": selftest.OK},
			nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			wrapper := filepath.Join(w.root, "wrapper")
			w.script(w.root, "wrapper", "#!/bin/sh\nPAW="+pawForTests()+"\n"+broken.script+"\n")
			w.configure("[clis.demo]\ncommand = [\"" + wrapper + "\"]\n")
			view, lines, out := w.tried("PAW_TEST_PATIENCE=4s")
			if out.code != 1 {
				t.Errorf("exit code %d", out.code)
			}
			for play, want := range broken.want {
				if line := lines[play]; line.Result != want || !strings.Contains(line.Text, broken.said[play]) {
					t.Errorf("%s: %+v, want %s with %q", play, line, want, broken.said[play])
				}
			}
			if t.Failed() {
				t.Logf("%+v", view.Plays)
			}
			w.untouched(".config/paw/config.toml")
		})
	}
}

// TestInterruptedTrialLeavesNothing: one Ctrl-C during a trial, and two at once, leave nothing
// behind.
func TestInterruptedTrialLeavesNothing(t *testing.T) {
	t.Parallel()
	for name, signals := range map[string][]syscall.Signal{
		"Ctrl-C": {syscall.SIGINT}, "terminal closed": {syscall.SIGHUP}, "Ctrl-C twice": {syscall.SIGINT, syscall.SIGINT},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			run := w.beginWith([]string{"TMPDIR=" + w.root}, "doctor", "--cli", "demo")
			waitFor(t, "the CLI runs", func() bool {
				return strings.Contains(strings.Join(w.inTrial(), "\n"), "demo-agent")
			})
			for _, signal := range signals {
				run.signal(signal)
			}
			if out := run.end(); out.code != 130 {
				t.Errorf("exit code %d, want 130\n%s", out.code, out.stderr)
			}
			w.untouched()
		})
	}
}

func TestTrialOfAnUnknownCLI(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for cli, want := range map[string]struct {
		code int
		said string
	}{
		"aider": {2, "paw: error: --cli aider: it is one of demo, claude, codex, opencode, qwen, copilot, pi, gemini, kimi\n"},
		"qwen":  {12, "paw: error: qwen: is not installed\n"},
	} {
		if out := w.pawWith([]string{"PATH=/usr/bin:/bin"}, "doctor", "--cli", cli); out.code != want.code || !strings.Contains(out.stderr, want.said) {
			t.Errorf("%s: exit code %d: %s", cli, out.code, out.stderr)
		}
	}
	w.untouched()
}
