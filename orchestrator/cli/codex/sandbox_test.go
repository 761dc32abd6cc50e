package codex

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
	"github.com/google/go-cmp/cmp"

	"paw/orchestrator/cli"
)

// The directories of git are opened beside those that the user has opened, whether codex trusts the repository or not.
func TestCodexOpensGit(t *testing.T) {
	repo := filepath.Join(t.TempDir(), `a "b" é`)
	s := cli.Spec{
		Executable: "/bin/codex", RepoPath: repo, Worktree: repo + ".paw/a", GitWritable: true,
		GitCommonDir: repo + "/.git", GitDir: repo + "/.git/worktrees/a",
	}
	dirs := []string{s.GitCommonDir, s.GitDir}
	trust := func(path, level string) string {
		return "[projects.'" + path + "']\ntrust_level = '" + level + "'\n"
	}
	for _, c := range []struct {
		name, config string
		roots        []string
	}{
		{"nothing known", "", dirs},
		{"no configuration", "none", dirs},
		{"it cannot be read", "[", dirs},
		{"trusted", trust("/else", "untrusted") + trust(repo, "trusted"), dirs},
		{"the user has roots", "[sandbox_workspace_write]\nwritable_roots = ['/mine']\n", append([]string{"/mine"}, dirs...)},
	} {
		t.Run(c.name, func(t *testing.T) {
			home := t.TempDir()
			if c.config != "none" {
				if err := os.WriteFile(filepath.Join(home, "config.toml"), []byte(c.config), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			s.Env = []string{"CODEX_HOME=" + home}
			command, err := Driver.Launch(s)
			if err != nil {
				t.Fatal(err)
			}
			var roots []string
			for _, word := range command.Argv {
				if _, ok := strings.CutPrefix(word, "sandbox_workspace_write."); ok {
					var config ownConfig
					if _, err := toml.Decode(word, &config); err != nil {
						t.Fatalf("codex could not read %s: %v", word, err)
					}
					roots = config.Sandbox.Roots
				}
			}
			if diff := cmp.Diff(c.roots, roots); diff != "" {
				t.Errorf("roots: %s", diff)
			}
		})
	}
}
