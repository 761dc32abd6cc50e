package errs

import (
	"os/exec"
	"testing"
)

// TestQuote: what is pasted into a shell arrives as it was.
func TestQuote(t *testing.T) {
	for _, text := range []string{
		"", "plain", "/a/b.c", "two words", "it's", `"`, `\`, "$HOME", "`id`", "a;b", "a\nb", "*", "~", "ä", "-n", "#", "!x", "a=b",
	} {
		out, err := exec.Command("sh", "-c", "printf %s "+Quote(text)).Output()
		if err != nil || string(out) != text {
			t.Errorf("%q as %s arrives as %q, %v", text, Quote(text), out, err)
		}
	}
}
