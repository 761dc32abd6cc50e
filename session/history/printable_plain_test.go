package history

import "testing"

// What is printed as it is needs no second look; whatever a terminal obeys gets one.
func TestPlain(t *testing.T) {
	for text, want := range map[string]bool{
		"": true, "a b~\n\tc": true, "a\x1b[2J": false, "a\rb": false, "\x7f": false, "\x00": false, "é": false, "\xff": false, "\u202e": false,
	} {
		if got := plain(text); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
		if want && Printable(text) != text {
			t.Errorf("%q is printed as %q", text, Printable(text))
		}
	}
}
