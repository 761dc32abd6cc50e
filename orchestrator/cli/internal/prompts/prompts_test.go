package prompts

import "testing"

// TestClosed: behind a last word that begins with a mark stands a space.
func TestClosed(t *testing.T) {
	for prompt, want := range map[string]string{
		"ask @alice": "ask @alice ", "/x": "/x ", "a \\": "a \\ ", "fix #1\n#2": "fix #1\n#2 ", "plain": "plain", "\u65e5": "\u65e5", "ends ": "ends ", "": "",
	} {
		if got := Closed(prompt); got != want {
			t.Errorf("%q: %q", prompt, got)
		}
	}
}
