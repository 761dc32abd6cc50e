package cli_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/mod/semver"

	"paw/config"
	"paw/orchestrator/cli"
	"paw/orchestrator/cli/clis"
	"paw/orchestrator/cli/fakemodel"
)

func TestSet(t *testing.T) {
	set := clis.New(map[string]config.CLI{
		"zed": {Command: []string{"zed"}}, "amp": {Command: []string{"amp"}}, "empty": {}, "codex": {Args: []string{"-m", "x"}},
	})
	want := []string{"claude", "codex", "opencode", "qwen", "copilot", "pi", "aider", "demo",
		"auggie", "cline", "cursor", "droid", "gemini", "goose", "junie", "kimi", "kiro", "vibe", "amp", "zed"}
	if diff := cmp.Diff(want, set.Names()); diff != "" {
		t.Error(diff)
	}
	for _, name := range want {
		if cli, ok := set.Get(name); !ok || cli.Name() != name {
			t.Errorf("%s: %v %v", name, cli, ok)
		}
	}
	if _, ok := set.Get("empty"); ok {
		t.Error("a CLI without a command")
	}
	for given, want := range map[string]string{
		"cluade": "claude", "claud": "claude", "codx": "codex", "open-code": "opencode", "Claude": "claude", "zedd": "zed", "emacs": "", "": "",
	} {
		if got := set.Nearest(given); got != want {
			t.Errorf("nearest of %q: %q", given, got)
		}
	}
}

// TestEveryKnownCLICanBeConfigured: package config knows the names of the CLIs as well.
func TestEveryKnownCLICanBeConfigured(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config.toml")
	for _, name := range clis.New(nil).Names() {
		if err := os.WriteFile(file, []byte("default_cli = \""+name+"\"\n[clis."+name+"]\nargs = [\"--more\"]\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := config.Load(config.Paths{ConfigFile: file}, "", func(string) string { return "" }); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestConfiguredCLI(t *testing.T) {
	set := clis.New(map[string]config.CLI{
		"claude": {Command: []string{"box", "run", "claude"}, Args: []string{"--model", "m"}, Env: map[string]string{"B": "2", "A": "1"}},
		"codex":  {Command: []string{"mycodex"}, Resume: []string{"--again", "{id}"}},
		"mine":   {Command: []string{"mine"}, Env: map[string]string{"K": "v"}},
	})
	claude, _ := set.Get("claude")
	command, err := claude.Launch(claude.Extend(with(func(s *cli.Spec) { s.Prompt = "hi you"; s.Args = []string{"--more"} })))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"/bin/x", "run", "claude", "--session-id", id, "--model", "m", "--more", "--", "hi you"}
	if diff := cmp.Diff(want, command.Argv); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"A=1", "B=2"}, command.Env); diff != "" {
		t.Error(diff)
	}
	if claude.Program() != "box" {
		t.Error("program", claude.Program())
	}
	codex, _ := set.Get("codex")
	command, err = codex.Resume(spec)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"/bin/x", "--again", id}, command.Argv); diff != "" {
		t.Error(diff)
	}
	mine, _ := set.Get("mine")
	if c, err := mine.Conversation(t.Context(), spec); err != nil || c.Resumable || c.Reason != "clis.mine.resume is not set" {
		t.Errorf("%+v %v", c, err)
	}
	if _, err := mine.Resume(spec); err == nil {
		t.Error("resumed without clis.mine.resume")
	}
	if command, err := mine.Launch(spec); err != nil || cmp.Diff([]string{"K=v"}, command.Env) != "" {
		t.Error(command, err)
	}
}

func TestVersion(t *testing.T) {
	dir := t.TempDir()
	for text, want := range map[string]string{
		"2.1.197 (Claude Code)": "2.1.197", "GitHub Copilot CLI 1.0.102.": "1.0.102", "codex-cli 0.169.0-alpha.1": "0.169.0-alpha.1",
		"  development build\nmore": "development build", "aider 0.86.1": "0.86.1",
	} {
		path := filepath.Join(dir, "cli")
		script := "#!/bin/sh\n[ \"$1\" = --version ] && printf '%s\\n' '" + text + "'\n"
		if err := os.WriteFile(path, []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
		if got, err := get(t, "claude").Version(t.Context(), path, []string{"PATH=" + os.Getenv("PATH")}); got != want || err != nil {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
	script := "#!/bin/sh\necho starting >&2; echo no such node >&2; exit 1\n"
	path := filepath.Join(dir, "broken")
	if err := os.WriteFile(path, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	_, err := get(t, "claude").Version(t.Context(), path, nil)
	if want := path + " --version: exit status 1: no such node"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

// TestLookedAts: the table has each CLI that the tests with the real programs drive, once, with versions that compare.
func TestLookedAts(t *testing.T) {
	var names []string
	for _, looked := range cli.LookedAts() {
		names = append(names, looked.CLI)
		if !semver.IsValid("v" + looked.Version) {
			t.Errorf("%s: %s", looked.CLI, looked.Version)
		}
		if _, ok := clis.New(nil).Get(looked.CLI); !ok {
			t.Errorf("paw does not know %s", looked.CLI)
		}
	}
	if !slices.Equal(names, fakemodel.CLIs) {
		t.Errorf("the table has %v, the scripted server is for %v", names, fakemodel.CLIs)
	}
}
