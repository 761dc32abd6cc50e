//go:build clis

package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"paw/orchestrator/cli/fakemodel"
)

const errand = `Please do this.
do: write greeting.txt hello from here
do: append notes/log.txt it's done
do: run wc -l greeting.txt > count.txt
do: commit Add a greeting
do: run echo "$((20+3))"
do: say The "greeting" is there.`

// TestCLIsRun has each real CLI do several turns without a terminal in one conversation.
func TestCLIsRun(t *testing.T) {
	for _, cli := range fakemodel.CLIs {
		if cli == "kimi" { // asks for each command
			continue
		}
		t.Run(cli, func(t *testing.T) {
			w := newCLIWorld(t, cli)
			if cli == "copilot" { // would ask for each command
				w.write(w.root, "home/.config/paw/config.toml", "[clis.copilot]\nargs = [\"--allow-all-tools\"]\n")
			}
			run := func(code int, prompt string, args ...string) output {
				t.Helper()
				out := w.pawInput(prompt, append([]string{"run"}, args...)...)
				if out.code != code {
					t.Fatalf("exit code %d\n%s%s", out.code, out.stdout, out.stderr)
				}
				return out
			}
			show := func(want string, args ...string) {
				t.Helper()
				if got := strings.TrimSpace(w.git(w.worktree(cli), args...)); got != want {
					t.Errorf("git %s: %q, want %q", strings.Join(args, " "), got, want)
				}
			}
			w.ok(w.paw("start", "--cli", "demo", "--detach"))
			if out := run(0, errand, "--cli", cli); !strings.Contains(out.stdout, `The "greeting" is there.`) {
				t.Errorf("the answer is not shown:\n%s%s", out.stdout, out.stderr)
			}
			show("Add a greeting", "log", "-1", "--format=%s")
			show("hello from here", "show", "HEAD:greeting.txt")
			show("it's done", "show", "HEAD:notes/log.txt")
			show("1 greeting.txt", "show", "HEAD:count.txt")
			show("", "status", "--porcelain")

			run(0, "Make it faster", cli)
			if asked, _ := w.model.Asked("Make it faster", 0); asked.Prompts != 2 {
				t.Errorf("the second prompt is the %d. of its conversation", asked.Prompts)
			}
			run(0, "do: write NOTES.md other notes\ndo: commit Rewrite the notes", cli) // the CLI also overwrites a file that exists
			show("Rewrite the notes\nMake it faster\nAdd a greeting\nfirst", "log", "--format=%s")
			show("Make it faster", "show", "HEAD~:NOTES.md")
			show("other notes", "show", "HEAD:NOTES.md")
			show("success", "log", "-1", "--format=%(trailers:key=outcome,valueonly)", "HEAD~")

			if acpCommands[cli] != nil {
				config := filepath.Join(w.root, "home/.config/paw/config.toml")
				allowed, err := os.ReadFile(config)
				if err != nil {
					t.Fatal(err)
				}
				w.write(w.root, "home/.config/paw/config.toml", "")
				asksInRun(t, w)
				w.write(w.root, "home/.config/paw/config.toml", string(allowed))
			}
			if out := run(5, "do: fail 400 scripted overload", cli); !strings.Contains(out.stderr, "scripted overload") {
				t.Errorf("the error is not told:\n%s", out.stderr)
			}
			if acpCommands[cli] == nil || slices.Contains(fakemodel.ByACP, cli) {
				return
			}
			w.ok(w.paw("recover", "shop/"+cli, "--detach")) // the pane goes on with the conversation, and paw run with that
			w.send("Make it louder")
			w.over(w.last().Number - 1)
			if asked, _ := w.model.Asked("Make it louder", 0); asked.Prompts < 4 {
				t.Errorf("the pane's prompt is the %d. of its conversation", asked.Prompts)
			}
			w.ok(w.paw("stop", cli, "--only"))
			run(0, "Make it quiet", cli)
			if asked, _ := w.model.Asked("Make it quiet", 0); asked.Prompts < 5 {
				t.Errorf("the prompt after the pane's is the %d. of its conversation", asked.Prompts)
			}
		})
	}
}

// asksInRun: a permission that a headless turn asks for is answered by paw answer.
func asksInRun(t *testing.T, w *cliWorld) {
	before := w.last().Number
	done := make(chan output)
	go func() { done <- w.paw("run", w.cli, "--prompt", "do: ask touch granted.txt\ndo: say Over.") }()
	w.await("it asks", func() bool { return w.agent(w.cli).State == "waiting_input" })
	w.ok(w.paw("answer", w.cli, "yes"))
	if out := w.ok(<-done); !strings.Contains(out.stdout, "Over.") || !w.has("granted.txt") || w.last().Number != before+1 {
		t.Errorf("granted: %v, %s%s", w.has("granted.txt"), out.stdout, out.stderr)
	}
}
