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

// codex ends at once with --add-dir where it does not trust the repository: the directories are opened in another way.
func TestCodexOpensGitOnlyWhereItMay(t *testing.T) {
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
		roots        []string // nil: --add-dir
	}{
		{"nothing known", "", dirs},
		{"no configuration", "none", dirs},
		{"it cannot be read", "[", dirs},
		{"another is trusted", trust("/else", "trusted"), dirs},
		{"not trusted, said so", trust(repo, "untrusted"), dirs},
		{"trusted", trust("/else", "untrusted") + trust(repo, "trusted"), nil},
		{"the worktree is trusted", trust(s.Worktree, "trusted"), nil},
		{"trusted, but read-only", "sandbox_mode = 'read-only'\n" + trust(repo, "trusted"), dirs},
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
			var added, roots []string
			for i, word := range command.Argv {
				if word == "--add-dir" {
					added = append(added, command.Argv[i+1])
				}
				if _, ok := strings.CutPrefix(word, "sandbox_workspace_write."); ok {
					var config ownConfig
					if _, err := toml.Decode(word, &config); err != nil {
						t.Fatalf("codex could not read %s: %v", word, err)
					}
					roots = config.Sandbox.Roots
				}
			}
			want := dirs
			if c.roots != nil {
				want = nil
			}
			if diff := cmp.Diff(want, added); diff != "" {
				t.Errorf("--add-dir: %s", diff)
			}
			if diff := cmp.Diff(c.roots, roots); diff != "" {
				t.Errorf("roots: %s", diff)
			}
		})
	}
}
