//go:build linux

package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// readOnly runs paw as an agent with some folders read-only, as in the sandboxes of CLIs.
func (w *world) readOnly(dirs []string, args ...string) output {
	w.t.Helper()
	const script = `while [ "$1" != -- ]; do mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" || exit 99; shift; done; shift; exec "$@"`
	argv := append(append([]string{"--mount", "sh", "-c", script, "sh"}, dirs...), append([]string{"--", pawForTests()}, args...)...)
	out := w.run(w.repo, asAgent("one"), "unshare", argv...)
	if out.code == 99 || strings.HasPrefix(out.stderr, "unshare:") {
		w.t.Skipf("cannot make a read-only mount here: %s", out.stderr)
	}
	return out
}

// A command in a sandbox names all folders that paw needs, and changes nothing.
func TestASandboxIsNamed(t *testing.T) {
	t.Parallel()
	w := started(t, "one")
	data, state, git, trees := filepath.Join(w.root, "home/.local/share/paw"), filepath.Join(w.root, "home/.local/state/paw"), filepath.Join(w.repo, ".git"), filepath.Dir(w.worktree("one"))
	before := w.state()
	for _, c := range []struct {
		args []string
		shut []string // read-only folders
		want []string // folders in the message
	}{
		{[]string{"done"}, []string{data, state, git, trees}, []string{data, state}},
		{[]string{"wait", "--notify"}, []string{data, state, git, trees}, []string{data, state}},
		{[]string{"spawn", "--prompt", "x"}, []string{data, state, git, trees}, []string{data, state, git, trees}},
		{[]string{"spawn", "--prompt", "x"}, []string{trees}, []string{trees}},
		{[]string{"done"}, []string{state}, []string{state}},
	} {
		out := w.readOnly(c.shut, c.args...)
		want := fmt.Sprintf("paw: error: one: paw cannot write %s (read-only file system); if demo runs commands in a sandbox, that has to allow it\npaw: hint: paw help agents\n", strings.Join(c.want, ", "))
		if out.code != 1 || out.stderr != want {
			t.Errorf("paw %s: exit code %d, said\n%s, want\n%s", strings.Join(c.args, " "), out.code, out.stderr, want)
		}
	}
	if diff := cmp.Diff(before, w.state()); diff != "" {
		t.Errorf("something changed:\n%s", diff)
	}
	if out := w.readOnly([]string{git, trees}, "done"); out.code != 0 {
		t.Errorf("paw done where it may write its own folders: exit code %d, %s", out.code, out.stderr)
	}
}
