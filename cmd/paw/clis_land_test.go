//go:build clis

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestCLIsLand goes from two prompts to main with claude and codex: their work is checked, lands
// and is taken back, each of them resolves a conflict when paw asks for it, and a branch becomes a
// pull request.
func TestCLIsLand(t *testing.T) {
	w := newCLIWorld(t, "claude", "codex")
	t.Cleanup(func() {
		if t.Failed() {
			t.Log("screen of codex:\n" + w.screen("codex"))
		}
	})
	resolve := filepath.Join(w.root, "resolve.sh")
	w.write(w.root, "resolve.sh", "sed -i '/^[<=>]/d' README.md\n") // removes the conflict markers, and so keeps the lines of both sides
	// The scripted model does what the prompt of paw send --conflict asks for; that prompt ends
	// with this text.
	w.bodies.understood = []understanding{{text: "not main, and push nothing.", steps: strings.Join([]string{
		"do: commit What is not committed yet", "do: run git merge --no-edit main", "do: run sh " + resolve,
		"do: run git commit -q -a --no-edit", "do: say Resolved.",
	}, "\n")}}
	w.ok(w.paw("start", "--cli", "claude,codex", "--detach"))
	claude, codex := w.as("claude"), w.as("codex")
	claude.work("do: write README.md by claude\ndo: write c.txt not committed")
	codex.work("do: run echo by codex > README.md\ndo: write x.txt committed\ndo: commit Work of codex\ndo: write y.txt not committed")

	// The work of claude lands, is taken back, and lands again, without any change of the agent or
	// its worktree.
	base := w.oid("main")
	before := w.files(w.worktree("claude")) + w.git(w.worktree("claude"), "status", "--porcelain") + w.git(w.worktree("claude"), "rev-parse", "HEAD")
	w.during(t, "land", func(t *testing.T) {
		if out := w.paw("land", "claude", "--check", "false"); out.code != 9 || w.oid("main") != base {
			t.Errorf("a failed check: exit code %d\n%s", out.code, out.stderr)
		}
		w.ok(w.paw("land", "claude", "--check", "test -f c.txt && grep -q claude README.md"))
		w.ok(w.paw("land", "--undo"))
		if w.oid("main") != base || w.git(w.repo, "status", "--porcelain") != "" {
			t.Error("it is not taken back")
		}
		out := w.ok(w.paw("land", "claude", "--json"))
		t.Log(w.git(w.repo, "log", "-1", "--format=%B"))
		if !strings.Contains(out.stdout, `"behind":["claude","codex"]`) {
			t.Errorf("it says %s", out.stdout)
		}
		after := w.files(w.worktree("claude")) + w.git(w.worktree("claude"), "status", "--porcelain") + w.git(w.worktree("claude"), "rev-parse", "HEAD")
		if diff := cmp.Diff(before, after); diff != "" {
			t.Errorf("the worktree has changed:\n%s", diff)
		}
		if message := w.git(w.repo, "log", "-1", "--format=%(trailers:key=Paw-CLI,valueonly)"); !strings.HasPrefix(message, "claude 2.") {
			t.Errorf("made with %q", message)
		}
	})

	w.during(t, "codex resolves", func(t *testing.T) {
		codex := *codex
		codex.t = t
		codex.resolves("README.md (landed by shop/claude)")
		if got := w.readFile("README.md"); got != "by codex\nby claude\n" {
			t.Errorf("README.md is %q", got)
		}
		for _, name := range []string{"c.txt", "x.txt", "y.txt"} {
			if _, err := os.Stat(filepath.Join(w.repo, name)); err != nil {
				t.Error(err)
			}
		}
	})
	w.during(t, "claude resolves", func(t *testing.T) {
		claude := *claude
		claude.t = t
		claude.work("do: run sed -i '1i again by claude' README.md") // in the place where codex has added a line
		claude.resolves("README.md (landed by shop/codex)")
		for _, line := range []string{"by claude\n", "by codex\n", "again by claude\n"} {
			if !strings.Contains(w.readFile("README.md"), line) {
				t.Errorf("README.md is %q", w.readFile("README.md"))
			}
		}
	})

	w.during(t, "update", func(t *testing.T) {
		w.ok(w.paw("update", "codex"))
		if got := w.git(w.worktree("codex"), "rev-parse", "HEAD^{tree}"); got != w.git(w.repo, "rev-parse", "main^{tree}") {
			t.Error("codex does not have main now")
		}
		codex := *codex
		codex.t = t
		codex.work("do: write z.txt after the update")
	})
	w.during(t, "pull request", func(t *testing.T) {
		server := filepath.Join(w.root, "server.git")
		w.git(w.root, "init", "-q", "--bare", server)
		w.git(w.repo, "remote", "add", "origin", server)
		w.git(w.repo, "push", "-q", "origin", "main")
		out := w.ok(w.paw("pr", "codex"))
		t.Log(out.stdout)
		if got := w.git(server, "show", "paw/shop/codex:z.txt"); got != "after the update\n" {
			t.Errorf("it pushed %q", got)
		}
		if refs := w.git(server, "for-each-ref", "--format=%(refname)"); refs != "refs/heads/main\nrefs/heads/paw/shop/codex\n" {
			t.Errorf("it pushed\n%s", refs)
		}
	})
}

// resolves has an agent resolve the conflict of its work with main, and lands the work.
func (w *cliWorld) resolves(file string) {
	w.t.Helper()
	tip := w.oid("main")
	if out := w.paw("land", w.cli); out.code != 8 || !strings.Contains(out.stderr, "paw send "+w.cli+" --conflict") || !strings.Contains(out.stderr, file) {
		w.t.Fatalf("exit code %d\n%s%s", out.code, out.stdout, out.stderr)
	}
	n := w.last().Number
	w.ok(w.paw("send", w.cli, "--conflict"))
	one := w.finished(n)
	if !strings.Contains(one.Prompt, "   - "+file+"\n") {
		w.t.Errorf("it was told %q", one.Prompt)
	}
	if w.oid("main") != tip {
		w.t.Error("main has moved")
	}
	out := w.ok(w.paw("land", w.cli))
	w.t.Log(out.stdout)
	if got := w.git(w.repo, "status", "--porcelain"); got != "" {
		w.t.Errorf("git status says\n%s", got)
	}
}
