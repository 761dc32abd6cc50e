package cli_test

import (
	"fmt"
	"os"
	"testing"

	"paw/config/disk"
	"paw/session/turn"
)

// TestCopilotShown: /new worktree takes copilot to another conversation in another folder, which a hook reports with the first
// prompt alone. Its log tells which of the conversations that it has open is on the screen.
func TestCopilotShown(t *testing.T) {
	l := newLab(t)
	const id, other = "11111111-2222-4333-8444-555555555555", "11111111-2222-4333-8444-666666666666"
	state, log := ".copilot/session-state/", fmt.Sprintf(".copilot/logs/process-1795998801439-%d.log", os.Getpid())
	register := func(ids ...string) (lines string) {
		for _, id := range ids {
			lines += "2026-11-30T00:34:47.831Z [INFO] Registering foreground session: " + id + "\n2026-11-30T00:34:48.000Z [INFO] Unregistering foreground session: " + id + "\n"
		}
		return lines
	}
	l.put(state+id+"/workspace.yaml", "id: "+id+"\ncwd: /own\n")
	l.put(state+other+"/workspace.yaml", "id: "+other+"\ncwd: /else where\ngit_root: /root\n")
	l.put(state+id+"/events.jsonl", `{"type":"user.message","timestamp":"2026-11-30T00:33:21Z","data":{}}`+"\n")
	hold := fmt.Sprintf("/inuse.%d.hold", os.Getpid())
	lock, err := os.Open(l.put(state+id+hold, ""))
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if locked, err := disk.TryLock(lock); !locked || err != nil {
		t.Fatal(locked, err)
	}
	for _, c := range []struct{ what, open, log, want string }{
		{"one conversation", "", register(other), "/own"},
		{"no log", state + other + hold, "", "/own"},
		{"gone to another", state + other + hold, register(id, other), "/else where"},
		{"back", state + other + hold, register(id, other, id), "/own"},
	} {
		if c.open != "" {
			l.put(c.open, "")
		}
		l.put(log, c.log)
		for _, last := range []*turn.Record{nil, {State: turn.InProgress}} {
			seen, err := get(t, "copilot").Observe(t.Context(), l.with(id), last)
			if err != nil || seen.Folder != c.want {
				t.Errorf("%s: works in %q, %v; %s is expected", c.what, seen.Folder, err, c.want)
			}
		}
	}
}
