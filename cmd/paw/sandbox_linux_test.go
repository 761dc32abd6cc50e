//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
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

// TestAnotherMountNamespace: where the folder of tmux's socket is another one, nothing is started, stopped or recorded, and each
// refusal has the line that shows the agents.
func TestAnotherMountNamespace(t *testing.T) {
	t.Parallel()
	w := started(t, "one")
	inside := func(args ...string) output {
		t.Helper()
		const script = `mount -t tmpfs none "$1" && chmod 700 "$1" || exit 99; shift; exec "$@"`
		out := w.run(w.repo, nil, "unshare", append([]string{"--mount", "sh", "-c", script, "sh", filepath.Dir(w.socket)}, args...)...)
		if out.code == 99 || strings.HasPrefix(out.stderr, "unshare:") {
			t.Skipf("cannot make a mount namespace here: %s", out.stderr)
		}
		return out
	}
	record := filepath.Join(w.root, "home/.local/share/paw/sessions/shop.json")
	var before []byte
	waitFor(t, "the first hook has been recorded", func() bool {
		before, _ = os.ReadFile(record)
		return strings.Contains(string(before), `"transcript_path": "/`)
	})
	refusal := regexp.MustCompile(`paw: error: shop: its tmux server \(process \d+\) sees other files than this shell, which is in a container or a sandbox\npaw: hint: (tmux -S \S+ attach-session) -t '=paw-shop'\n`)
	for _, args := range [][]string{{"recover", "--detach"}, {"add", "--cli", "two=demo"}, {"stop"}, {"stop", "one"}, {"attach"}} {
		if out := inside(append([]string{pawForTests()}, args...)...); out.code != 1 || !refusal.MatchString(out.stderr) {
			t.Errorf("paw %s: exit code %d, %s", strings.Join(args, " "), out.code, out.stderr)
		}
	}
	if out := inside(pawForTests(), "send", "one", "x"); out.code != 3 || !strings.HasSuffix(out.stderr, "paw: hint: paw doctor\n") {
		t.Errorf("paw send: exit code %d, %s", out.code, out.stderr)
	}
	doctor := inside(pawForTests(), "doctor")
	line := regexp.MustCompile(`(tmux -S \S+) attach-session -t '=paw-shop'`).FindStringSubmatch(doctor.stdout)
	if line == nil {
		t.Fatalf("doctor: exit code %d\n%s", doctor.code, doctor.stdout)
	}
	if out := inside("sh", "-c", line[1]+" list-panes -a"); out.code != 0 || !strings.Contains(out.stdout, "paw-shop") {
		t.Errorf("%s: exit code %d, %s%s", line[1], out.code, out.stdout, out.stderr)
	}
	if after, err := os.ReadFile(record); err != nil || string(after) != string(before) {
		t.Errorf("the record is another one (%v): %s", err, after)
	}
	if a := w.agent("one"); a.State != "idle" {
		t.Errorf("outside: %+v", a)
	}
}
