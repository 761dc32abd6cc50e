package fakemodel

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
)

// readHome returns what Prepare wrote, with every file that has a format read in it.
func readHome(t *testing.T, dir string) map[string]map[string]any {
	t.Helper()
	files := map[string]map[string]any{}
	err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		value := map[string]any{}
		switch filepath.Ext(path) {
		case ".json":
			err = json.Unmarshal(content, &value)
		case ".toml":
			err = toml.Unmarshal(content, &value)
		}
		files[name] = value
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestPrepare(t *testing.T) {
	for cli, want := range map[string]struct {
		env  string
		file string
	}{
		"claude":   {"ANTHROPIC_BASE_URL=http://127.0.0.1:1", ".claude.json"},
		"codex":    {"CODEX_HOME=DIR/.codex", ".codex/config.toml"},
		"opencode": {"XDG_CONFIG_HOME=DIR/.config", ".config/opencode/opencode.json"},
		"gemini":   {"GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:1", ".gemini/policies/scripted.toml"},
		"qwen":     {"OPENAI_BASE_URL=http://127.0.0.1:1/v1", ".qwen/settings.json"},
		"pi":       {"PI_OFFLINE=1", ".pi/agent/models.json"},
		"copilot":  {"COPILOT_PROVIDER_BASE_URL=http://127.0.0.1:1/v1", ".copilot/config.json"},
	} {
		dir := filepath.Join(t.TempDir(), "a home")
		env, err := Prepare(cli, dir, t.TempDir(), "http://127.0.0.1:1/")
		if err != nil {
			t.Errorf("%s: %v", cli, err)
			continue
		}
		for _, variable := range []string{want.env, "HOME=DIR", "GIT_CONFIG_GLOBAL=DIR/.gitconfig"} {
			if !slices.Contains(env, strings.ReplaceAll(variable, "DIR", dir)) {
				t.Errorf("%s: no %s in %q", cli, variable, env)
			}
		}
		if _, ok := readHome(t, dir)[want.file]; !ok {
			t.Errorf("%s: no file %s", cli, want.file)
		}
	}
}

func TestPrepareTrustsTheRealPath(t *testing.T) {
	repo, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(repo, link); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, cli := range []string{"claude", "codex", "copilot"} {
		if _, err := Prepare(cli, dir, link, "http://127.0.0.1:1"); err != nil {
			t.Fatal(err)
		}
	}
	files := readHome(t, dir)
	if trusted := dig(any(files[".claude.json"]), "projects", repo, "hasTrustDialogAccepted"); trusted != true {
		t.Errorf("claude: %v", files[".claude.json"])
	}
	if level := dig(any(files[".codex/config.toml"]), "projects", repo, "trust_level"); level != "trusted" {
		t.Errorf("codex: %v", files[".codex/config.toml"])
	}
	if folder := dig(any(files[".copilot/config.json"]), "trusted_folders", 0); folder != repo {
		t.Errorf("copilot: %v", files[".copilot/config.json"])
	}
}

func TestPrepareUnknown(t *testing.T) {
	_, err := Prepare("aider", t.TempDir(), t.TempDir(), "http://127.0.0.1:1")
	const want = "aider: unknown CLI, it is one of claude, codex, opencode, qwen, copilot, pi, gemini, kimi or demo"
	if err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
