//go:build clis

package main

import (
	"strings"
	"testing"
)

// TestCLIsRecoverAfterClear: a conversation that the user has cleared does not come back after a
// crash, and paw says what it did.
func TestCLIsRecoverAfterClear(t *testing.T) {
	w := newCLIWorld(t, "claude")
	w.ok(w.paw("start", "--cli", "claude", "--detach"))
	w.work("do: say The parrot is called Kiki.")
	w.press("/clear", "Enter")
	before := w.agent("claude").ConversationID
	w.await("paw has heard of the new conversation", func() bool { // the screen is cleared before the hook has reported the new conversation
		now := w.agent("claude").ConversationID
		return now != nil && *now != *before
	})
	killServer(w.socket)
	out := w.ok(w.paw("recover", "--detach"))
	if !strings.Contains(out.stdout, "claude  claude  fresh  its conversation was cleared, and nothing was said since") {
		t.Errorf("recover says\n%s", out.stdout)
	}
	w.work("do: say Hello again.")
	if body := w.bodies.first("do: say Hello again."); body == "" || strings.Contains(body, "Kiki") {
		t.Errorf("the model is told of the parrot:\n%s", body)
	}
}
