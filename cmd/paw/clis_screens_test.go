//go:build clis

package main

import (
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
	w := newCLIWorld(t, fakemodel.TUIs...)
	t.Cleanup(func() { t.Log(w.paw("status").stdout) })
	w.env = append(w.env, "PAW_TMUX_LAYOUT="+layout)
	w.ok(w.paw("start", "--cli", strings.Join(fakemodel.TUIs, ","), "--detach"))
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
	is("codex", "idle", "tmux", "")
	is("copilot", "idle", "tmux", "")
	w.as("claude").send("do: ask touch granted.txt")
	w.as("codex").send("do: sleep 300")
	w.as("qwen").send("do: hang")
	is("claude", "waiting_input", "", "granted.txt")
	is("codex", "running", "", "")
	w.as("qwen").press("Escape")
	is("qwen", "idle", "", "interrupted")
	for _, cli := range fakemodel.TUIs {
		t.Logf("%s:\n%s", cli, w.as(cli).visible())
	}
}
