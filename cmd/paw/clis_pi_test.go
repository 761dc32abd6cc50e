//go:build clis

package main

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestPiForks: a copy of a conversation goes on by itself in another worktree, and the copied tokens are not counted twice.
func TestPiForks(t *testing.T) {
	w := newCLIWorld(t, "pi")
	w.model.Bills = true
	w.ok(w.paw("start", "--cli", "pi", "--detach"))
	w.work("do: write one.txt 1\ndo: say The parrot is called Kiki.")
	w.ok(w.paw("add", "--cli", "copy=pi", "--from", "pi", "--prompt", "do: say Copied."))
	copied := w.as("copy")
	copied.finished(0)
	w.work("do: say Alone.")
	for _, prompt := range []string{"do: say Copied.", "do: say Alone."} {
		if asked, ok := w.model.Asked(prompt, 0); !ok || asked.Prompts != 2 {
			t.Errorf("%q was asked %v as prompt %d of its conversation", prompt, ok, asked.Prompts)
		}
	}
	if !strings.Contains(copied.visible(), "Kiki") || !copied.has("one.txt") || *w.agent("copy").ConversationID == *w.agent("pi").ConversationID {
		t.Errorf("the copy shows\n%s", copied.visible())
	}
	var usage usageJSON
	if err := json.Unmarshal([]byte(w.ok(w.paw("usage", "copy", "--json")).stdout), &usage); err != nil {
		t.Fatal(err)
	}
	if total := usage.Agents[0].Total; total == nil || total.Answers != 1 {
		t.Errorf("the copy has used %+v", total)
	}
}

// TestPiAsksForText: what an extension wants to be typed is a question that paw leaves to the user.
func TestPiAsksForText(t *testing.T) {
	w := newCLIWorld(t, "pi")
	w.write(w.root, "home/.pi/agent/extensions/name.js", `export default (pi) => {
  pi.on("tool_call", async (_, ctx) => { await ctx.ui.input("Who are you?") })
}
`)
	w.ok(w.paw("start", "--cli", "pi", "--detach"))
	w.awaitState("idle")
	w.send("do: run true\ndo: say Done.")
	if a := w.awaitState("waiting_input"); !strings.Contains(text(a.Reason), "Who are you?") {
		t.Errorf("it waits with %q", text(a.Reason))
	}
	w.await("it is asked on the screen", func() bool { return strings.Contains(w.visible(), "enter submit") })
	if out := w.paw("answer", "pi", "yes"); out.code != 3 {
		t.Errorf("answer: exit code %d\n%s%s", out.code, out.stdout, out.stderr)
	}
	w.press("m", "e", "Enter")
	if one := w.finished(0); text(one.Message) != "Done." {
		t.Errorf("the answer is %q", text(one.Message))
	}
}

// TestPiAsksForTrust: pi's own question about a folder with extensions is answered by paw, and only then a prompt is taken.
func TestPiAsksForTrust(t *testing.T) {
	w := newCLIWorld(t, "pi")
	w.write(w.repo, ".pi/extensions/x.js", "export default () => {}\n")
	w.git(w.repo, "add", "-A")
	w.git(w.repo, "commit", "-q", "-m", "an extension")
	w.ok(w.paw("start", "--cli", "pi", "--detach"))
	if a := w.awaitState("waiting_input"); text(a.Reason) != "asks whether to trust the folder" {
		t.Errorf("it waits with %q", text(a.Reason))
	}
	if out := w.paw("send", "pi", "do: say Too early."); out.code != 3 {
		t.Errorf("send: exit code %d\n%s%s", out.code, out.stdout, out.stderr)
	}
	w.question("pi")
	w.ok(w.paw("answer", "pi", "Trust (this session only)"))
	if one := w.work("do: say Trusted."); one.Number != 1 || text(one.Message) != "Trusted." {
		t.Errorf("turn %d: %q", one.Number, text(one.Message))
	}
}
