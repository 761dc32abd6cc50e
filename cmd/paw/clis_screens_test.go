//go:build clis

package main

import (
	"slices"
	"strings"
	"testing"

	"paw/orchestrator/cli/fakemodel"
)

// TestCLIsDialogs runs the CLIs side by side, each in another state: one asks for trust before its
// hooks work, one asks for a permission, one works, one was interrupted, and the others have had no
// prompt. paw shows the right state of each, in small panes as well.
func TestCLIsDialogs(t *testing.T) {
	for layout, size := range map[string][2]string{"tiled": {"200", "50"}, "windows": {"100", "30"}} {
		t.Run(layout, func(t *testing.T) { atDialogs(t, layout, size) })
	}
}

func atDialogs(t *testing.T, layout string, size [2]string) {
	w := newCLIWorld(t, fakemodel.CLIs...)
	t.Cleanup(func() { t.Log(w.paw("status").stdout) })
	w.env = append(w.env, "PAW_TMUX_LAYOUT="+layout)
	w.env = slices.DeleteFunc(w.env, func(kv string) bool { return strings.HasPrefix(kv, "GEMINI_CLI_TRUST_WORKSPACE=") })
	w.ok(w.paw("start", "--cli", strings.Join(fakemodel.CLIs, ","), "--detach"))
	w.ok(w.tmux("set-option", "-g", "window-size", "manual"))
	for _, window := range strings.Fields(w.ok(w.tmux("list-windows", "-a", "-F", "#{window_id}")).stdout) {
		w.ok(w.tmux("resize-window", "-t", window, "-x", size[0], "-y", size[1]))
	}
	is := func(cli, state, source, says string) {
		t.Helper()
		w.await(cli+" is "+state+" by "+source+": "+says, func() bool {
			a := w.agent(cli)
			return a.State == state && (source == "" || a.StateSource == source) && strings.Contains(text(a.Reason), says)
		})
	}
	is("gemini", "waiting_input", "tmux", "asks whether to trust the folder")
	is("codex", "idle", "tmux", "")
	is("copilot", "idle", "tmux", "")
	w.as("claude").send("do: ask touch granted.txt")
	w.as("codex").send("do: sleep 300")
	w.as("qwen").send("do: hang")
	is("claude", "waiting_input", "", "granted.txt")
	is("codex", "running", "", "")
	w.as("qwen").press("Escape")
	is("qwen", "idle", "", "interrupted")
	out := w.paw("wait", "gemini")
	if want := "gemini: waits for your answer (asks whether to trust the folder)"; out.code != 4 || !strings.Contains(out.stderr, want) {
		t.Errorf("paw wait gemini: exit code %d, %s", out.code, out.stderr)
	}
	if out := w.paw("send", "gemini", "hello"); out.code != 3 || !strings.Contains(out.stderr, "asks whether to trust the folder") {
		t.Errorf("paw send gemini: exit code %d, %s", out.code, out.stderr)
	}
	for _, cli := range fakemodel.CLIs {
		t.Logf("%s:\n%s", cli, w.as(cli).visible())
	}
}
