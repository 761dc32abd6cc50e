package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
	"github.com/google/go-cmp/cmp"

	"paw/orchestrator/cli"
)

// reporting are the CLIs that have hooks.
var reporting = []string{"claude", "codex", "opencode", "qwen", "copilot", "pi", "demo"}

// hooked is the spec of a launch with hooks.
func hooked(s cli.Spec, args ...string) cli.Spec {
	s.Hook, s.ConversationID, s.Args = "/opt/paw", id, args
	return s
}

// content is the first file of a launch; behind it stand those of its channel alone.
func content(t *testing.T, command cli.Command) string {
	t.Helper()
	if len(command.Files) == 0 {
		t.Fatal("no file")
	}
	return string(command.Files[0].Content)
}

func launch(t *testing.T, cli string, s cli.Spec) cli.Command {
	t.Helper()
	command, err := get(t, cli).Launch(s)
	if err != nil {
		t.Fatal(err)
	}
	return command
}

type hookGroups []struct {
	Matcher string
	Hooks   []struct {
		Type, Command string
		Timeout       int
	}
}

type hookSettings struct {
	Model string
	Hooks map[string]hookGroups
}

func settings(t *testing.T, text string) hookSettings {
	t.Helper()
	var s hookSettings
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestClaudeHooks(t *testing.T) {
	l := newLab(t)
	command := launch(t, "claude", hooked(l.spec, "--model", "x"))
	file := filepath.Join(l.spec.StateDir, "claude-settings.json")
	want := []string{"/nowhere/cli", "--session-id", id, "--settings", file, "--model", "x"}
	if diff := cmp.Diff(want, command.Argv); diff != "" {
		t.Error(diff)
	}
	if command.Files[0].Path != file {
		t.Error("written to", command.Files[0].Path)
	}
	s := settings(t, content(t, command))
	for _, event := range []string{"SessionStart", "UserPromptSubmit", "PermissionRequest", "Stop", "StopFailure", "SessionEnd"} {
		groups := s.Hooks[event]
		if len(groups) != 1 || groups[0].Matcher != "" || groups[0].Hooks[0].Command != "/opt/paw hook claude "+event || groups[0].Hooks[0].Timeout == 0 {
			t.Errorf("%s: %+v", event, groups)
		}
	}
	if got := s.Hooks["PostToolUse"][0].Matcher; got != "AskUserQuestion|ExitPlanMode" {
		t.Error("a process at each tool call that matches", got)
	}
	resumed, err := get(t, "claude").Resume(hooked(l.spec))
	if err != nil || content(t, resumed) != content(t, command) {
		t.Error("resumed without the same hooks:", err)
	}
}

// claude takes one --settings only, so the user's becomes part of paw's.
func TestClaudeHooksKeepSettings(t *testing.T) {
	l := newLab(t)
	user := `{"model":"opus","hooks":{"Stop":[{"hooks":[{"type":"command","command":"mine && \"<x>\""}]}]}}`
	path := l.put("mine.json", user)
	for _, args := range [][]string{{"--settings", path, "-v"}, {"--settings=" + user, "-v"}, {"--settings", "{}", "-v", "--settings", path}} {
		command := launch(t, "claude", hooked(l.spec, args...))
		if got := strings.Join(command.Argv[3:], " "); got != "--settings "+command.Files[0].Path+" -v" {
			t.Errorf("%q: %s", args, got)
		}
		s := settings(t, content(t, command))
		if s.Model != "opus" || len(s.Hooks["Stop"]) != 2 || s.Hooks["Stop"][0].Hooks[0].Command != `mine && "<x>"` {
			t.Errorf("%q: %+v", args, s)
		}
	}
	for _, given := range []string{filepath.Join(l.home, "missing.json"), "{", `{"hooks":[]}`, `{"hooks":{"Stop":{}}}`} {
		if _, err := get(t, "claude").Launch(hooked(l.spec, "--settings", given)); err == nil || !strings.HasPrefix(err.Error(), "claude: --settings: ") {
			t.Errorf("%s: %v", given, err)
		}
	}
	// Without hooks nothing is touched.
	s := l.with(id)
	s.Args = []string{"--settings", "missing.json"}
	if got := launch(t, "claude", s); len(got.Files) > 0 || !slices.Contains(got.Argv, "missing.json") {
		t.Errorf("%+v", got)
	}
}

func TestCodexHooks(t *testing.T) {
	l := newLab(t)
	s := hooked(l.spec)
	s.Hook = `/o p/<é>&"x'`
	command := launch(t, "codex", s)
	options := configuration(t, command.Argv)
	if len(command.Files) > 0 || len(command.Env) > 0 {
		t.Errorf("%+v", command)
	}
	for _, event := range []string{"SessionStart", "UserPromptSubmit", "PermissionRequest", "Stop", "Interrupt", "SessionEnd"} {
		groups := options.Hooks[event]
		want := `'/o p/<é>&"x'\''' hook codex ` + event
		var command string
		if len(groups) == 1 && len(groups[0].Hooks) == 1 {
			command = groups[0].Hooks[0].Command
		}
		if command != want {
			t.Errorf("%s: %q", event, command)
		}
	}
	// As hooks/list of codex 0.169 says.
	const end = `/<session-flags>/config.toml:session_end:0:0`
	if got := options.State[end].TrustedHash; got != "sha256:acaf3881fc62bca3fb917401e08b97d111917624d086caf7e6ef0636ca6befd7" {
		t.Error("hash of SessionEnd:", got)
	}
	s.Hook = "/opt/paw"
	const stop = `/<session-flags>/config.toml:stop:0:0`
	if got := configuration(t, launch(t, "codex", s).Argv).State[stop].TrustedHash; got != "sha256:b89de57356e062b683bc2b4e19ac832c321399eac843fb970bd320cc791af356" {
		t.Error("hash of Stop:", got)
	}
	resumed, err := get(t, "codex").Resume(s)
	if err != nil || len(configuration(t, resumed.Argv).Hooks) != len(options.Hooks) {
		t.Error("resumed without hooks:", err)
	}
}

type codexOptions struct {
	Hooks map[string]hookGroups
	State map[string]struct {
		TrustedHash string `toml:"trusted_hash"`
	}
}

// configuration reads the -c options as codex does.
func configuration(t *testing.T, argv []string) codexOptions {
	t.Helper()
	var lines []string
	for i, word := range argv {
		if word == "-c" {
			lines = append(lines, argv[i+1])
		}
	}
	var raw struct {
		Hooks map[string]toml.Primitive
	}
	meta, err := toml.Decode(strings.Join(lines, "\n"), &raw)
	if err != nil {
		t.Fatal(err)
	}
	options := codexOptions{Hooks: map[string]hookGroups{}}
	for event, value := range raw.Hooks {
		if event == "state" {
			err = meta.PrimitiveDecode(value, &options.State)
		} else {
			groups := options.Hooks[event]
			err = meta.PrimitiveDecode(value, &groups)
			options.Hooks[event] = groups
		}
		if err != nil {
			t.Fatal(event, err)
		}
	}
	return options
}

func TestHooksNeedPlaces(t *testing.T) {
	for _, cliName := range reporting {
		for _, s := range []cli.Spec{
			with(func(s *cli.Spec) { s.Hook = "bin/paw" }),
			with(func(s *cli.Spec) { s.Hook = "/opt/paw"; s.StateDir = "" }),
		} {
			if (cliName == "demo" || cliName == "codex") && s.StateDir == "" {
				continue // they need no files
			}
			if _, err := get(t, cliName).Launch(s); err == nil || !strings.HasPrefix(err.Error(), cliName+": ") {
				t.Errorf("%s: hook %q, folder %q: %v", cliName, s.Hook, s.StateDir, err)
			}
		}
	}
}

// What a launch needs lies in its own folder; the worktree and HOME stay as they are.
func TestHooksWriteNothing(t *testing.T) {
	for _, cli := range reporting {
		l := newLab(t)
		command := launch(t, cli, hooked(l.spec))
		for _, file := range command.Files {
			if !strings.HasPrefix(file.Path, l.spec.StateDir+"/") {
				t.Errorf("%s: %s", cli, file.Path)
			}
		}
		for _, dir := range []string{l.home, l.worktree, l.spec.StateDir} {
			if entries, _ := os.ReadDir(dir); len(entries) > 0 {
				t.Errorf("%s: wrote %s into %s", cli, entries[0].Name(), dir)
			}
		}
	}
}

func TestOpencodePlugin(t *testing.T) {
	l := newLab(t)
	s := hooked(l.with("", `OPENCODE_CONFIG_CONTENT={/* mine */ "model":"x","plugin":["mine"]}`))
	s.Hook = `/o p/"x"`
	command := launch(t, "opencode", s)
	plugin := filepath.Join(l.spec.StateDir, "paw-opencode.js")
	want := []string{`OPENCODE_CONFIG_CONTENT={"model":"x","plugin":["mine","file://` + plugin + `"]}`}
	if diff := cmp.Diff(want, command.Env[:1]); diff != "" {
		t.Error(diff)
	}
	code := content(t, command)
	if command.Files[0].Path != plugin || !strings.Contains(code, `const hook = "/o p/\"x\""`) || strings.Contains(code, "@") {
		t.Error(code)
	}
	for _, given := range []string{"{", `{"plugin":{}}`, "null"} {
		s := hooked(l.with("", "OPENCODE_CONFIG_CONTENT="+given))
		if _, err := get(t, "opencode").Launch(s); err == nil || !strings.HasPrefix(err.Error(), "opencode: OPENCODE_CONFIG_CONTENT: ") {
			t.Errorf("%s: %v", given, err)
		}
	}
}

// TestEndsHaveTime: a hook that ends a turn makes its snapshot, which is killed with the hook when its time is over. At the notice after an
// Esc, too.
func TestEndsHaveTime(t *testing.T) {
	for cli, ends := range map[string][]string{"qwen": {"Stop", "StopFailure", "Notification"}} {
		s := settings(t, content(t, launch(t, cli, hooked(newLab(t).spec))))
		for _, event := range ends {
			if got := s.Hooks[event][0].Hooks[0].Timeout; got != 60_000 {
				t.Errorf("%s %s: %d ms", cli, event, got)
			}
		}
	}
}

// qwen gets a copy of the system's settings, whose hooks stay.
func TestSystemSettings(t *testing.T) {
	for _, c := range []struct{ cli, variable, guard string }{
		{"qwen", "QWEN_CODE_SYSTEM_SETTINGS_PATH", "QWEN_CODE"},
	} {
		l := newLab(t)
		system := l.put("etc/settings.json", `{"model":"m", // of the company
			"hooks":{"SessionEnd":[{"hooks":[{"type":"command","command":"mine"}]}]}}`)
		command := launch(t, c.cli, hooked(l.with(id, c.variable+"="+system)))
		defaults := strings.Replace(c.variable, "_SETTINGS_", "_DEFAULTS_", 1)
		want := []string{c.variable + "=" + command.Files[0].Path, defaults + "=" + filepath.Join(l.home, "etc", "system-defaults.json")}
		if diff := cmp.Diff(want, command.Env); diff != "" {
			t.Errorf("%s: %s", c.cli, diff)
		}
		s := settings(t, content(t, command))
		if s.Model != "m" || len(s.Hooks["SessionEnd"]) != 2 || s.Hooks["SessionEnd"][0].Hooks[0].Command != "mine" {
			t.Errorf("%s: %+v", c.cli, s)
		}
		own := s.Hooks["SessionEnd"][1].Hooks[0]
		if own.Command != `[ -n "$`+c.guard+`" ] || /opt/paw hook `+c.cli+` SessionEnd` || own.Timeout < 1000 {
			t.Errorf("%s: %+v", c.cli, own)
		}
		if !slices.Contains(command.Unset, c.guard) {
			t.Errorf("%s: started from a %s of the user's it would be silent", c.cli, c.cli)
		}
		if _, err := get(t, c.cli).Launch(hooked(l.with(id, c.variable+"="+l.put("bad.json", "[]")))); err == nil ||
			!strings.HasPrefix(err.Error(), c.cli+": system settings "+l.home) {
			t.Errorf("%s: %v", c.cli, err)
		}
	}
}

func TestCopilotPlugin(t *testing.T) {
	l := newLab(t)
	command := launch(t, "copilot", hooked(l.spec, "-v"))
	dir := filepath.Join(l.spec.StateDir, "copilot-plugin")
	if diff := cmp.Diff([]string{"/nowhere/cli", "--session-id=" + id, "--plugin-dir", dir, "-v"}, command.Argv); diff != "" {
		t.Error(diff)
	}
	var hooks struct {
		Version int
		Hooks   map[string][]struct {
			Type, Bash string
			TimeoutSec int
		}
	}
	if err := json.Unmarshal(command.Files[1].Content, &hooks); err != nil {
		t.Fatal(err)
	}
	stop := hooks.Hooks["agentStop"]
	if command.Files[1].Path != filepath.Join(dir, "hooks.json") || hooks.Version != 1 || len(stop) != 1 || stop[0].Bash != "/opt/paw hook copilot agentStop" {
		t.Errorf("%s", command.Files[1].Content)
	}
}
