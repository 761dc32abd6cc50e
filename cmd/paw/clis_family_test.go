//go:build clis

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"paw/orchestrator/cli/fakemodel"
)

// TestCLIsFamily has real CLIs start each other, wait for each other, and go on with the results.
func TestCLIsFamily(t *testing.T) {
	paw, err := exec.LookPath("paw")
	if err != nil {
		t.Fatal(err)
	}
	t.Run("claude and its child codex", func(t *testing.T) { playFamily(t, "claude", "codex", paw, func(*cliWorld) {}) })
	t.Run("codex and its child claude", func(t *testing.T) {
		playFamily(t, "codex", "claude", paw, func(w *cliWorld) {
			// docs/agents.md tells users to write this rule
			w.write(filepath.Join(w.root, "home/.codex/rules"), "paw.rules",
				fmt.Sprintf("prefix_rule(pattern=[%q, [\"spawn\", \"wait\", \"done\"]], decision=\"allow\")\n", paw))
		})
	})
	t.Run("codex in its sandbox", func(t *testing.T) { inSandbox(t, paw) })
	t.Run("codex in a wider sandbox", func(t *testing.T) { inWiderSandbox(t, paw) })
}

// playFamily: the parent starts a child with its uncommitted work and ends its turn. When the child
// has ended, the parent gets one prompt, goes on, merges the child's work, and reports with paw
// done.
func playFamily(t *testing.T, parent, child, paw string, prepare func(*cliWorld)) {
	w := newCLIWorld(t, parent, child)
	prepare(w)
	w.ok(w.paw("start", "--cli", parent, "--detach"))
	// The child asks first, so that its turn lasts as long as the test wants.
	w.write(w.root, "task.md", "do: ask touch granted.txt\ndo: write child.txt by the child\ndo: commit Work of the child")
	w.send(strings.Join([]string{
		"do: write draft.txt not committed",
		"do: run " + paw + " spawn --cli " + child + " --prompt-file " + filepath.Join(w.root, "task.md"),
		"do: run " + paw + " wait --notify",
		"do: say I wait.",
	}, "\n"))

	// The parent has ended its turn, and waits while the child works.
	w.await("the parent has ended its turn", func() bool { return w.last().State == "finished" })
	waiting := w.awaitState("waiting_children")
	if text(waiting.Reason) != "waits for "+child+" (0 of 1 done)" || waiting.StateSource != "record" || waiting.CurrentTurn != nil {
		t.Errorf("the parent waits: %s by %s, turn %v", text(waiting.Reason), waiting.StateSource, waiting.CurrentTurn)
	}
	c := *w
	c.cli = child
	if a := c.awaitState("waiting_input"); text(a.Parent) != parent || a.CLI != child {
		t.Errorf("the child: %+v", a)
	}
	if !c.has("draft.txt") {
		t.Error("the parent's uncommitted work is not in the child's worktree")
	}
	if n := len(w.turnsOf(parent)); n != 1 {
		t.Errorf("the parent has %d turns while it waits", n)
	}

	// After the child's end, the parent gets one prompt and goes on.
	c.answer(fakemodel.MannersOf[child].Allow)
	told := w.finished(1)
	if told.Number != 2 || !strings.HasPrefix(told.Prompt, "[paw wait ") || text(told.Outcome) != "success" {
		t.Errorf("the parent's turn %d: %s, %q", told.Number, text(told.Outcome), told.Prompt)
	}
	for _, part := range []string{"\n\n" + child + " (" + child + "): success, branch paw/shop/" + child + ", turn 1, ", "\n> Work of the child", "git merge"} {
		if !strings.Contains(told.Prompt, part) {
			t.Errorf("the prompt has no %q:\n%s", part, told.Prompt)
		}
	}
	if one := c.finished(0); text(one.Outcome) != "success" || one.Number != 1 || *one.CommitHash != w.oid("paw/shop/"+child) {
		t.Errorf("the child's turn: %+v", one)
	}
	asked := map[string]bool{}
	for _, e := range w.model.Last(1000) {
		if strings.Contains(e.Prompt, "[paw wait ") && len(e.Tools) > 0 {
			asked[e.Prompt] = true
		}
	}
	if len(asked) != 1 {
		t.Errorf("the model was asked with %d prompts of paw: %v", len(asked), asked)
	}

	// The parent merges the child's work and reports with paw done.
	w.send("do: run git add --all && git commit -q -m draft\ndo: run git merge -q --no-edit paw/shop/" + child + "\ndo: run " + paw + " done --message Merged")
	if done := w.awaitState("completed"); text(done.Reason) != "Merged" || done.StateSource != "record" {
		t.Errorf("completed by %s: %s", done.StateSource, text(done.Reason))
	}
	w.await("the third turn is closed", func() bool { return w.last().Number == 3 && w.last().State == "finished" })
	if last := w.last(); text(last.Message) != "Merged" || !w.has("child.txt") {
		t.Errorf("turn 3: %s, child.txt %v", text(last.Message), w.has("child.txt"))
	}
	out := w.ok(w.paw("stop", parent))
	if !strings.HasPrefix(out.stdout, parent+", "+child+" stopped;") {
		t.Errorf("stop: %s", out.stdout)
	}
	w.checkTurns(parent)
	w.checkTurns(child)
	if hooks, err := os.ReadFile(filepath.Join(w.root, "home/.local/state/paw/hooks.log")); err == nil {
		t.Errorf("hooks failed:\n%s", hooks)
	}
}

// inSandbox: codex runs commands in a sandbox in which paw can neither write nor reach tmux. paw
// says what it needs, and does nothing.
func inSandbox(t *testing.T, paw string) {
	w := newCLIWorld(t, "codex")
	w.write(filepath.Join(w.root, "home/.config/paw"), "config.toml", "") // with codex's own defaults, the sandbox also forbids writing git's directories
	w.ok(w.paw("start", "--cli", "codex", "--detach"))
	before := w.git(w.repo, "for-each-ref", "--format=%(refname)", "refs/heads", "refs/tags")
	w.work("do: run " + paw + " spawn --prompt 'do: say hello'\ndo: run " + paw + " wait --notify\ndo: run " + paw + " done\ndo: say Nothing worked.")
	said := w.commandOutput()
	data, state, socket := filepath.Join(w.root, "home/.local/share/paw"), filepath.Join(w.root, "home/.local/state/paw"), w.socket
	if want := fmt.Sprintf("paw: error: codex: paw cannot write %s, %s, %s, %s (read-only file system), nor reach the tmux socket %s (operation not permitted); "+
		"if codex runs commands in a sandbox, that has to allow it", data, state, filepath.Join(w.repo, ".git"), filepath.Dir(w.worktree("codex")), socket); !strings.Contains(said, want) {
		t.Errorf("paw spawn did not say %s", want)
	}
	if want := fmt.Sprintf("paw: error: codex: paw cannot write %s, %s (read-only file system); if codex", data, state); strings.Count(said, want) != 2 {
		t.Errorf("paw wait --notify and paw done did not both say %s", want)
	}
	if n := strings.Count(said, "paw: hint: paw help agents"); n != 3 {
		t.Errorf("%d hints", n)
	}
	if t.Failed() {
		t.Log(said)
	}
	after := w.git(w.repo, "for-each-ref", "--format=%(refname)", "refs/heads", "refs/tags")
	if strings.TrimPrefix(after, before) != "refs/tags/afk-shop_codex-1\n" || len(w.view().Sessions[0].Agents) != 1 {
		t.Errorf("left behind: %s", after)
	}
}

// inWiderSandbox: with the folders and the network access that docs/agents.md names, the three
// commands work in the sandbox.
func inWiderSandbox(t *testing.T, paw string) {
	w := newCLIWorld(t, "codex")
	home := filepath.Join(w.root, "home")
	config, err := os.ReadFile(filepath.Join(home, ".codex/config.toml"))
	if err != nil {
		t.Fatal(err)
	}
	w.write(filepath.Join(home, ".codex"), "config.toml", string(config)+fmt.Sprintf("\n[sandbox_workspace_write]\nnetwork_access = true\nwritable_roots = [%q, %q, %q, %q]\n",
		filepath.Join(home, ".local/share/paw"), filepath.Join(home, ".local/state/paw"), filepath.Join(w.repo, ".git"), w.repo+".paw"))
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(w.commandOutput())
		}
	})
	w.ok(w.paw("start", "--cli", "codex", "--detach"))
	w.send("do: write draft.txt not committed\ndo: run " + paw + " spawn --cli child=codex --prompt 'do: say Hello.'\ndo: run " + paw + " wait --notify\ndo: say I wait.")
	w.await("the parent is told", func() bool { return w.last().Number == 2 && w.last().State == "finished" })
	if told := w.last(); !strings.Contains(told.Prompt, "child (codex): success, branch paw/shop/child, turn 1, 0 files changed\n> Hello.") {
		t.Errorf("told %q", told.Prompt)
	}
	if data, err := os.ReadFile(filepath.Join(w.worktree("child"), "draft.txt")); err != nil || string(data) != "not committed\n" {
		t.Errorf("the child has %q, %v", data, err)
	}
}

// commandOutput returns the output of the commands that codex ran, from codex's own record.
func (w *cliWorld) commandOutput() string {
	w.t.Helper()
	files, err := filepath.Glob(filepath.Join(w.root, "home/.codex/sessions/*/*/*/*.jsonl"))
	if err != nil {
		w.t.Fatal(err)
	}
	var said strings.Builder
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			w.t.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			if strings.Contains(line, `_call_output"`) {
				said.WriteString(line)
			}
		}
	}
	return said.String()
}
