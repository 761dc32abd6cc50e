package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
)

// TestCommandsPage: docs/commands.md has the help of each command and each topic, word for word.
// `make commands` writes the page.
func TestCommandsPage(t *testing.T) {
	const file = "../../docs/commands.md"
	page := commandsPage()
	if *drawPicture {
		if err := os.WriteFile(file, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	there, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(there), page); diff != "" {
		t.Errorf("docs/commands.md is not what paw help prints; make commands writes it anew (-page +help)\n%s", diff)
	}
}

// commandsPage returns the help of all commands and topics as a document.
func commandsPage() string {
	p := helpPrinter{&invocation{printer: printer{colourFlag: "never"}}}
	root := rootForDocs()
	var page strings.Builder
	page.WriteString("# Commands\n\nEvery command explains itself with `--help`; this page is written from the same texts. `paw help all` lists the commands, and\n" +
		"`man paw-land` shows one. `--json` prints [one object](json.md), `--dry-run` says what would be done and does nothing, `--yes`\n" +
		"answers the question that a terminal is asked. [Exit codes](#exit-codes) and other topics are at the end.\n")
	section := func(mark, name, text string) {
		fmt.Fprintf(&page, "\n%s %s\n\n```text\n%s\n```\n", mark, name, strings.TrimRight(text, "\n"))
	}
	for _, group := range groupsOfAll {
		for _, name := range strings.Fields(group.commands) {
			cmd, _, _ := root.Find([]string{name})
			for _, one := range append([]*cobra.Command{cmd}, cmd.Commands()...) {
				section("##"+strings.Repeat("#", strings.Count(one.CommandPath(), " ")-1), one.CommandPath(), p.commandHelp(one))
			}
		}
	}
	for _, name := range topicNames() {
		if name != "agents" { // docs/agents.md has that one
			text, _ := topicNamed(name)
			section("##", name, text)
		}
	}
	return page.String()
}

// TestPagesAreShort: all pages for users together, the page of concepts and README.md stay within
// their numbers of words. What is generated does not count.
func TestPagesAreShort(t *testing.T) {
	words := map[string]int{}
	for _, name := range pages(t) {
		content, err := os.ReadFile("../../" + name)
		if err != nil {
			t.Fatal(err)
		}
		n := len(strings.Fields(string(content)))
		if words[name] = n; strings.HasPrefix(name, "docs/") && !strings.Contains(name, "internals") {
			words["docs"] += n
		}
	}
	for name, most := range map[string]int{"docs": 22000, "docs/concepts.md": 1200, "README.md": 500} {
		if words[name] > most {
			t.Errorf("%s: %d words, at most %d", name, words[name], most)
		}
	}
}
