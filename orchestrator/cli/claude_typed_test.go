package cli_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"paw/orchestrator/cli"
	"paw/orchestrator/cli/clis"
)

func TestClaudePastes(t *testing.T) {
	for _, c := range []struct {
		name, text string
		rows       int
		want       []string
	}{
		{"short", "fix it", 30, []string{"fix it"}},
		{"three lines", "a\nb\nc", 30, []string{"a\nb\nc"}},
		{"four lines", "a\nb\nc\nd", 30, []string{"a\nb\nc", "\nd"}},
		{"empty lines", "a\n\n\n\nb\n", 12, []string{"a\n\n", "\n\nb", "\n"}},
		{"eleven rows", "a\nb\nc", 11, []string{"a\nb", "\nc"}},
		{"a low pane", "a\nb\n\nc\n", 10, []string{"a\nb\n\nc\n"}},
		{"a line in a low pane", "see a.png", 7, []string{"see a.", "png"}},
		{"an image", "see /x/a.png, b.JPG", 30, []string{"see /x/a.", "png, b.", "JPG"}},
	} {
		if diff := cmp.Diff(c.want, get(t, "claude").Pastes(c.text, c.rows)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", c.name, diff)
		}
	}
}

// Whatever a text holds, it is pasted whole, and where the pane is high enough no part is one that claude folds.
func FuzzClaudePastes(f *testing.F) {
	f.Add("a\nb\n\nc.png\nd", 30)
	f.Add(strings.Repeat("é漢🎉", 1000)+"\n", 7)
	c, _ := clis.New(nil).Get("claude")
	f.Fuzz(func(t *testing.T, text string, rows int) {
		text, _ = cli.Typable(text)
		pastes := c.Pastes(text, rows)
		for _, part := range pastes {
			if lines := strings.Count(part, "\n"); rows > 10 && (lines > 2 || rows-lines < 10 || len(part) > 750) {
				t.Errorf("%d bytes and %d line breaks in a pane of %d rows: %q", len(part), lines, rows, part)
			}
		}
		if got := strings.Join(pastes, ""); got != text {
			t.Errorf("pasted %q, want %q", got, text)
		}
	})
}

func TestClaudePastedMarks(t *testing.T) {
	for _, c := range []struct{ name, arrived, want string }{
		{"none", "fix it", "fix it"},
		{"a paste", "\n\n<pasted_content id=\"2092\">\na\n\nb\n</pasted_content id=\"2092\">\n", "a\n\nb"},
		{"trimmed", "<pasted_content id=\"2092\">\na\nb\n</pasted_content id=\"2092\">", "a\nb"},
		{
			"behind typed text", "do it: \n\n<pasted_content id=\"0f9a\">\na\n</pasted_content id=\"0f9a\">\n and so",
			"do it: a and so",
		},
		{
			"two", "\n\n<pasted_content id=\"2092\">\na\n</pasted_content id=\"2092\">\n\n\n<pasted_content id=\"2092\">\n\nb\n</pasted_content id=\"2092\">\n",
			"a\nb",
		},
		{"about them", "what is <pasted_content id=\"x\"> for?", "what is <pasted_content id=\"x\"> for?"},
		{
			"not at a line of its own", "see <pasted_content id=\"2092\">\na\n</pasted_content id=\"2092\">\n",
			"see <pasted_content id=\"2092\">\na\n</pasted_content id=\"2092\">\n",
		},
		{"of another id", "\n\n<pasted_content id=\"2092\">\na\n</pasted_content id=\"2093\">\n", "\n\n<pasted_content id=\"2092\">\na\n</pasted_content id=\"2093\">\n"},
	} {
		payload := `{"session_id":"s","prompt_id":"p","prompt":` + quotedJSON(t, c.arrived) + `}`
		e, err := get(t, "claude").Event("UserPromptSubmit", []byte(payload))
		if err != nil || e.Prompt != c.want {
			t.Errorf("%s: %q, %v, want %q", c.name, e.Prompt, err, c.want)
		}
	}
}

func TestCanonical(t *testing.T) {
	for _, c := range []struct{ cli, arrived, sent string }{
		{"claude", "a    b", "a\tb"},
		{"claude", "ab", "a\u202eb"},
		{"copilot", "a    b", "a\tb"},
		{"claude", " !ls", "!ls"},
		{"codex", "!ls", " !ls"},
		{"opencode", "see @README ", "see @README"},
	} {
		cli := get(t, c.cli)
		if got, want := cli.Canonical(c.arrived), cli.Canonical(c.sent); got != want {
			t.Errorf("%s: %q is not %q: %q, %q", c.cli, c.arrived, c.sent, got, want)
		}
	}
	for _, c := range []struct{ cli, arrived, sent string }{
		{"claude", "rm everything go", "go"},
		{"claude", "a\n\nb", "a\nb"},
		{"codex", "a    b", "a\tb"},
		{"copilot", "go", "Go"},
	} {
		cli := get(t, c.cli)
		if cli.Canonical(c.arrived) == cli.Canonical(c.sent) {
			t.Errorf("%s: %q passes for %q", c.cli, c.arrived, c.sent)
		}
	}
}

func quotedJSON(t *testing.T, text string) string {
	t.Helper()
	quoted, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	return string(quoted)
}
