package config

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestPageOfKeys: docs/configuration.md has a row for each key, with the variable that sets the key
// and with what a repository may, and no other rows. Its example is a configuration without mistakes.
func TestPageOfKeys(t *testing.T) {
	content, err := os.ReadFile("../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(content), "\n## Keys\n")
	table, _, _ = strings.Cut(table, "\n## ")
	rows := map[string][]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\|(.*)\\|(.*)\\|$").FindAllStringSubmatch(table, -1) {
		rows[row[1]] = row[2:]
	}
	may := map[authority]string{replaces: " yes", yields: " else", lowers: " lower", usersAlone: " no"}
	for _, s := range settings {
		name := strings.Replace(s.key, "*", "NAME", 1)
		row, found := rows[name]
		if !found {
			t.Errorf("docs/configuration.md has no row about %s", name)
			continue
		}
		delete(rows, name)
		if !strings.HasPrefix(row[1], may[s.repository]) || strings.Contains(row[1], "trust") != (s.trust != nil) {
			t.Errorf("docs/configuration.md: %s: a repository may:%s, want%s, trust %v", name, row[1], may[s.repository], s.trust != nil)
		}
		for _, v := range variables {
			if (v.key == s.key) != strings.Contains(row[0], v.name) {
				t.Errorf("docs/configuration.md: %s: variable %s", name, v.name)
			}
		}
	}
	for name := range rows {
		t.Errorf("docs/configuration.md has a row about %s, which there is not", name)
	}

	example, _, _ := strings.Cut(string(content), "\n## Keys\n")
	p := newPlace(t)
	p.user(t, strings.Join(regexp.MustCompile(`(?m)^    .*$`).FindAllString(example, -1), "\n"))
	if loaded := p.load(t); loaded.Config.Presets["pair"].CLI == nil || !loaded.Config.CLIs["codex"].GitWritable {
		t.Errorf("the example sets %+v", loaded.Config)
	}
}
