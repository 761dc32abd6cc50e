package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// settledView is all that paw status says.
func (w *world) settledView() string {
	w.t.Helper()
	text, err := json.MarshalIndent(w.view(), "", " ")
	if err != nil {
		w.t.Fatal(err)
	}
	return string(text)
}

// A terminal that comes and goes looks at agents, and changes nothing of what they do, whatever that is.
func TestAttachingAndDetachingChangesNoState(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.ok(w.paw("start", "--cli", "idle=demo,busy=demo,asks=demo,failed=demo,parent=demo", "--detach"))
	w.ready("idle", "busy", "asks", "failed", "parent")
	w.spawn("parent", "--cli", "child=demo", "--prompt", "do: hang")
	w.ok(w.paw("send", "idle", "Make it faster"))
	w.ok(w.paw("send", "busy", "do: hang"))
	w.ok(w.paw("send", "asks", "do: ask push it?"))
	w.ok(w.paw("send", "failed", "do: fail overloaded"))
	want := map[string]string{
		"idle": "idle", "busy": "running", "asks": "waiting_input", "failed": "error", "parent": "waiting_children", "child": "running",
	}
	waitFor(t, "the child is at work", func() bool { return w.agent("child").State == "running" })
	w.ok(w.pawWith(asAgent("parent"), "wait", "--notify"))
	waitFor(t, "everybody has come to rest", func() bool {
		for name, state := range want {
			if a := w.agent(name); a.State != state || name == "idle" && a.TurnsCompleted == 0 {
				return false
			}
		}
		return true
	})
	before := w.settledView()

	outer := w.socket + "-outer"
	t.Cleanup(func() { killServer(outer) })
	attach := fmt.Sprintf("while test -e %s; do env -u TMUX paw attach; done", w.repo)
	w.ok(w.run(w.repo, nil, "tmux", "-S", outer, "-f", "/dev/null", "new-session", "-d", "-x", "120", "-y", "40", "-c", w.repo, "sh", "-c", attach))
	last := ""
	for i := range 100 {
		client := ""
		waitFor(t, "a terminal is attached", func() bool {
			client = strings.TrimSpace(w.tmux("list-clients", "-F", "#{client_pid} #{client_name}").stdout)
			return client != "" && client != last
		})
		if i%10 == 0 {
			if diff := cmp.Diff(before, w.settledView()); diff != "" {
				t.Fatalf("attached for the %dth time (-before +now)\n%s", i+1, diff)
			}
		}
		_, name, _ := strings.Cut(client, " ")
		w.ok(w.tmux("detach-client", "-t", name))
		last = client
	}
	killServer(outer)
	waitFor(t, "the last terminal is gone", func() bool { return strings.TrimSpace(w.tmux("list-clients").stdout) == "" })
	if diff := cmp.Diff(before, w.settledView()); diff != "" {
		t.Errorf("after 100 times (-before +now)\n%s", diff)
	}
}
