package copilot

import (
	"os"
	"path/filepath"
	"testing"
)

// A long paste is a file of the conversation for copilot, and the user's own words for everybody else.
func TestCopilotTyped(t *testing.T) {
	root := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	tag := func(path string) string { return `<pasted_content file="` + path + `" size="23.6 KB" lines="251" />` }
	one, two := tag(write("session-state/c1/files/paste-1.txt", "one\n")), tag(write("session-state/c1/files/paste-2.txt", "two"))
	other := tag(write("session-state/c2/files/paste-1.txt", "other"))
	secret := tag(write("secret", "secret"))
	link := filepath.Join(root, "session-state/c1/files/paste-3.txt")
	if err := os.Symlink(filepath.Join(root, "secret"), link); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, prompt, want string }{
		{"the prompt is the paste", one, "one\n"},
		{"pastes between typed words", "see " + one + two + " and so on", "see one\ntwo and so on"},
		{"no paste", "what is <pasted_content file=x> for?", "what is <pasted_content file=x> for?"},
		{"another conversation's", other, other},
		{"any file", secret, secret},
		{"a link", tag(link), tag(link)},
		{"a way around", tag(root + "/session-state/c1/files/paste-x/../../../../secret"), tag(root + "/session-state/c1/files/paste-x/../../../../secret")},
		{"no such file", tag(filepath.Join(root, "session-state/c1/files/paste-9.txt")), tag(filepath.Join(root, "session-state/c1/files/paste-9.txt"))},
	} {
		if got := typed("c1", c.prompt); got != c.want {
			t.Errorf("%s: %q, not %q", c.name, got, c.want)
		}
	}
	if got := typed("", one); got != one {
		t.Errorf("without a conversation: %q", got)
	}
}
