package ui

import (
	"os"
	"strings"
	"testing"
)

// TestPageOfKeys: docs/desk.md names every key that the desk's help lists.
func TestPageOfKeys(t *testing.T) {
	content, err := os.ReadFile("../../../docs/desk.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(content), "\n## Keys\n")
	for _, part := range helpFor {
		for _, k := range part.keys {
			for _, one := range strings.Fields(k.keys) {
				if !strings.Contains(table, "`"+one+"`") {
					t.Errorf("docs/desk.md: nothing about %s, %s", one, k.does)
				}
			}
		}
	}
}
