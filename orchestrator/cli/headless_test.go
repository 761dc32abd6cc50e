package cli_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"paw/orchestrator/cli"
)

// status401 is codex' word for it, in two pieces because HTTP does not spell as this project does.
const status401 = "unexpected status 401 Unauth" + "orized: fakellm scripted error 401, url: http://127.0.0.1:8765/v1/responses"

func TestHeadlessResults(t *testing.T) {
	for cliName, c := range map[string]struct {
		shown  string
		failed cli.TurnError
	}{
		"claude": {"headless ok\n", cli.TurnError{Message: "API Error: 400 fake error 400", ExitCode: 1}},
		"codex": {
			"Model metadata for `fake-model` not found. Defaulting to fallback metadata; this can degrade performance and cause issues.\n" +
				"· shell: /bin/bash -lc 'echo one'\nheadless ok\n",
			cli.TurnError{Message: status401, ExitCode: 1},
		},
		"pi": {"· bash: printf '%s\\n' '1' > 'a.txt'\n· bash: cat a.txt\nheadless ok\n", cli.TurnError{
			Message: `400: {"code":null,"message":"scripted overload","param":null,"type":"invalid_request_error"}`,
		}},
	} {
		t.Run(cliName, func(t *testing.T) {
			read := func(name string) []byte {
				content, err := os.ReadFile(filepath.Join("testdata", "headless", cliName+"-"+name+".jsonl"))
				if err != nil {
					t.Fatal(err)
				}
				return content
			}
			stdout := read("ok")
			if message, err := get(t, cliName).HeadlessResult(stdout, 0); message != "headless ok" || err != nil {
				t.Errorf("%q, %v", message, err)
			}
			var shown strings.Builder
			for line := range bytes.Lines(stdout) {
				text, _ := get(t, cliName).HeadlessLine(line)
				shown.WriteString(text)
			}
			if diff := cmp.Diff(c.shown, shown.String()); diff != "" {
				t.Error(diff)
			}
			var failed *cli.TurnError
			c.failed.CLI = cliName
			if _, err := get(t, cliName).HeadlessResult(read("err"), c.failed.ExitCode); !errors.As(err, &failed) {
				t.Error(err)
			} else if diff := cmp.Diff(c.failed, *failed); diff != "" {
				t.Error(diff)
			}
			// Killed, it prints half of its output.
			half := stdout[:bytes.LastIndexByte(bytes.TrimSpace(stdout), '\n')]
			if _, err := get(t, cliName).HeadlessResult(half, 143); !errors.As(err, &failed) || failed.ExitCode != 143 {
				t.Error("killed:", err)
			}
		})
	}
	if message, err := get(t, "demo").HeadlessResult([]byte("a\nb\n"), 0); message != "a\nb" || err != nil {
		t.Error("demo:", message, err)
	}
	if _, err := get(t, "demo").HeadlessResult(nil, 130); err == nil || err.Error() != "demo: ended with exit code 130" {
		t.Error("demo:", err)
	}
}

func TestHeadlessArgv(t *testing.T) {
	for cliName, want := range map[string]string{
		"claude": "-p --output-format stream-json --verbose --session-id " + id + " -v -- /x y",
		"codex":  "exec --json -C /r.paw/s/a -c check_for_update_on_startup=false -v resume -- " + id + " /x y",
		"pi":     "--mode json --session-id " + id + " -v -- /x y",
		"demo":   "demo-agent --session-id " + id + " -v -p /x y",
	} {
		s := with(func(s *cli.Spec) { s.Prompt, s.Args, s.Hook = "/x y", []string{"-v"}, "/opt/paw" })
		s.Env = []string{"HOME=" + t.TempDir()}
		command, err := get(t, cliName).Headless(s)
		if err != nil {
			t.Errorf("%s: %v", cliName, err)
			continue
		}
		if got := strings.Join(command.Argv[1:], " "); got != want && got != strings.Replace(want, "-- /x", "--  /x", 1) {
			t.Errorf("%s: %s", cliName, got)
		}
		for _, file := range command.Files {
			if strings.Contains(string(file.Content), "/opt/paw") {
				t.Errorf("%s: a headless turn calls hooks: %s", cliName, file.Content)
			}
		}
		if slices.ContainsFunc(command.Env, func(entry string) bool { return strings.Contains(entry, "/opt/paw") }) {
			t.Errorf("%s: a headless turn calls hooks: %s", cliName, command.Env)
		}
	}
	for _, cliName := range []string{"aider"} {
		if _, err := get(t, cliName).Headless(spec); !errors.Is(err, cli.ErrNoHeadless) {
			t.Errorf("%s: %v", cliName, err)
		}
	}
}

func TestFork(t *testing.T) {
	const from = "1f1f1f1f-0000-4000-8000-000000000000"
	s := with(func(s *cli.Spec) { s.Prompt = "go on" })
	for cliName, want := range map[string]string{
		"claude": "--resume " + from + " --fork-session --session-id " + id + " -- go on",
		"codex":  "fork -C /r.paw/s/a -c check_for_update_on_startup=false -- " + from + " go on",
		"pi":     "--session-id " + id + " --fork " + from + " -- go on",
		"demo":   "demo-agent --session-id " + id + " --fork " + from + " -- go on",
	} {
		command, err := get(t, cliName).Fork(s, from)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(command.Argv[1:], " "); got != want {
			t.Errorf("%s: %s", cliName, got)
		}
		var refused *cli.ConversationError
		if _, err := get(t, cliName).Fork(s, "--last"); !errors.As(err, &refused) {
			t.Errorf("%s: %v", cliName, err)
		}
	}
	for _, cliName := range []string{"opencode", "qwen", "copilot", "aider"} {
		if _, err := get(t, cliName).Fork(s, from); !errors.Is(err, cli.ErrCannotFork) {
			t.Errorf("%s: %v", cliName, err)
		}
	}
	// The first event of claude's fork has the id of the original.
	s.Hook = "/opt/paw"
	command, err := get(t, "claude").Fork(s, from)
	if err != nil {
		t.Fatal(err)
	}
	if got := settings(t, content(t, command)).Hooks["SessionStart"][0].Hooks[0].Command; got != "/opt/paw hook claude ForkStart" {
		t.Error(got)
	}
}

func TestLiteral(t *testing.T) {
	for _, c := range []struct{ cli, prompt, want string }{
		{"claude", "!ls", " !ls "},
		{"claude", "\u200e!ls", " \u200e!ls "},
		{"claude", "/etc/hosts is wrong", "/etc/hosts is wrong"},
		{"claude", "exit the loop early", "exit the loop early"},
		{"claude", "a /b !c", "a /b !c "},
		{"claude", "see @README", "see @README "},
		{"codex", "/quit", " /quit "},
		{"codex", "ask @alice", "ask @alice "},
		{"opencode", "/exit", " /exit "},
		{"opencode", "!ls", " !ls "},
		{"qwen", "!ls", " !ls"},
		{"copilot", "/exit", " /exit "},
		{"pi", "see @README", "see @README "},
		{"pi", "#note", "#note "},
		{"demo", "/exit now", "/exit now"},
	} {
		if got, err := get(t, c.cli).Literal(c.prompt); got != c.want || err != nil {
			t.Errorf("%s: %q, %v", c.cli, got, err)
		}
	}
}
