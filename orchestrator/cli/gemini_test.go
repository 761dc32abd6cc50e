package cli_test

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"paw/orchestrator/cli"
)

func TestGeminiSettings(t *testing.T) {
	for _, c := range []struct{ name, system, want string }{
		{"none", "", `{"general":{"sessionRetention":{"enabled":false}}}`},
		{
			"merged",
			"{ // for all\n \"a\": \"http://x/*y*/\", /* b\n */ \"general\": {\"vimMode\": true, \"sessionRetention\": {\"maxAge\": \"1d\"}},\n" +
				" \"security\": {\"n\": 12345678901234567890, \"q\": \"\\\"//\"} }",
			`{"a":"http://x/*y*/","general":{"vimMode":true,"sessionRetention":{"enabled":false}},` +
				`"security":{"n":12345678901234567890,"q":"\"//"}}`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newLab(t)
			system := filepath.Join(l.home, "system.json")
			if c.system != "" {
				l.put("system.json", c.system)
			}
			s := l.with(geminiID, "GEMINI_CLI_SYSTEM_SETTINGS_PATH="+system)
			for _, start := range []func(cli.Spec) (cli.Command, error){get(t, "gemini").Launch, get(t, "gemini").Resume} {
				command, err := start(s)
				if err != nil {
					t.Fatal(err)
				}
				if len(command.Files) != 1 || filepath.Dir(command.Files[0].Path) != s.StateDir {
					t.Fatalf("files: %+v", command.Files)
				}
				if !slices.Contains(command.Env, "GEMINI_CLI_SYSTEM_SETTINGS_PATH="+command.Files[0].Path) {
					t.Error("gemini is not told of the file:", command.Env)
				}
				if diff := cmp.Diff(compact(t, c.want), compact(t, string(command.Files[0].Content))); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
	if _, err := get(t, "gemini").Launch(cli.Spec{Executable: "/bin/x", ConversationID: geminiID}); err == nil {
		t.Error("settings go into the current directory")
	}
	for _, bad := range []string{"{", "null", `{"general":[]}`, "{} /* "} {
		l := newLab(t)
		system := l.put("system.json", bad)
		_, err := get(t, "gemini").Launch(l.with(geminiID, "GEMINI_CLI_SYSTEM_SETTINGS_PATH="+system))
		if ok := bad == "{} /* "; (err == nil) != ok {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// compact orders the keys and keeps the numbers as they are.
func compact(t *testing.T, text string) string {
	t.Helper()
	var value map[string]any
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}
