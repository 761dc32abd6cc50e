//go:build clis

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCLIsMessages: a message from one claude session to another becomes a turn of type message,
// with its sender, if the other agent is idle, and else belongs to the running turn. It never
// counts as a prompt of a user.
func TestCLIsMessages(t *testing.T) {
	w := newCLIWorld(t, "claude")
	w.ok(w.paw("start", "--cli", "claude,two=claude", "--detach"))
	two := w.as("two")
	w.work("do: say Hello.")
	two.work("do: say Hello.")
	from, to := w.peerName("claude"), w.peerName("two")
	message := func(said string) string {
		return fmt.Sprintf(`do: tool SendMessage {"to":%q,"message":%q,"summary":"a message"}`+"\n", to, said)
	}
	const tools = `do: tool ToolSearch {"query":"select:SendMessage"}` + "\n"

	w.work(tools + message("Note this") + "do: say Sent.")
	one := two.finished(1)
	if one.Number != 2 || one.Type != "message" || !strings.Contains(one.Prompt, "Note this") || *one.FilesChanged != 1 {
		t.Errorf("turn %d of type %s, %d files: %q", one.Number, one.Type, *one.FilesChanged, one.Prompt)
	}
	if got := w.ok(w.paw("turns", "two")).stdout; !strings.Contains(got, "message from "+from+": Note this") {
		t.Errorf("paw turns:\n%s", got)
	}
	if got := w.ok(w.paw("log", "two", "--turn", "2")).stdout; !strings.Contains(got, "message from "+from+": Note this") {
		t.Errorf("paw log:\n%s", got)
	}

	gate := filepath.Join(w.root, "gate")
	two.send("do: run " + untilExists(gate) + "\ndo: run true\ndo: say Busy no more.")
	two.awaitState("running")
	w.work(message("Join in") + "do: say Sent.")
	w.write(w.root, "gate", "")
	if one := two.finished(2); one.Number != 3 || one.Type != "prompt" {
		t.Errorf("turn %d of type %s: %q", one.Number, one.Type, one.Prompt)
	}
	if got := w.ok(w.paw("log", "two", "--turn", "3")).stdout; !strings.Contains(got, "message from "+from+": Join in") {
		t.Errorf("paw log:\n%s", got)
	}

	two.send("do: slow 8 These are the many words of a long answer")
	two.awaitState("running")
	w.work(message("Note that") + "do: say Sent.")
	last := two.finished(4)
	if before := two.turn(4); before.Type != "prompt" || text(before.Message) != "These are the many words of a long answer" {
		t.Errorf("the turn before: %+v", before)
	}
	if last.Number != 5 || last.Type != "message" || !strings.Contains(last.Prompt, "Note that") {
		t.Errorf("turn %d of type %s: %q", last.Number, last.Type, last.Prompt)
	}
}

// peerName reads the name of an agent's claude session from claude's registry of running sessions.
func (w *cliWorld) peerName(agent string) string {
	w.t.Helper()
	files, err := filepath.Glob(filepath.Join(w.root, "home/.claude/sessions/*.json"))
	if err != nil {
		w.t.Fatal(err)
	}
	for _, file := range files {
		var entry struct {
			Name string `json:"name"`
			Cwd  string `json:"cwd"`
		}
		content, err := os.ReadFile(file)
		if err == nil && json.Unmarshal(content, &entry) == nil && entry.Cwd == w.worktree(agent) {
			return entry.Name
		}
	}
	w.t.Fatalf("claude knows of no session in the worktree of %s", agent)
	return ""
}
