package main

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// TestCommandsPage: docs/commands.md is a short reference from the texts of paw help.
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
		t.Errorf("docs/commands.md is not what paw help says; make commands writes it anew (-page +help)\n%s", diff)
	}
}

// commandsPageHead begins docs/commands.md. It explains the flags that the tables leave out.
const commandsPageHead = "# Commands\n\n`paw land --help` and `man paw-land` tell the whole of a command, here `land`. This page is the list, from the same texts.\n" +
	"`paw help all` prints the list on a terminal.\n\nMost commands take these flags. The tables leave them out:\n\n" +
	"| flag | paw |\n|---|---|\n| `-h`, `--help` | shows the help of the command |\n| `-j`, `--json` | prints [one object](json.md), for programs |\n" +
	"| `-n`, `--dry-run` | says what it would do, and does nothing |\n| `--session NAME` | works in that session, not in the one of this place |\n" +
	"| `--color WHEN` | colours `always`, `never` or `auto` |\n| `--no-pager` | prints everything at once |\n"

// commandsPage returns a table of the commands of each group, the topics and the exit codes.
func commandsPage() string {
	root, page := rootForDocs(), new(strings.Builder)
	page.WriteString(commandsPageHead)
	for _, group := range groupsOfAll {
		fmt.Fprintf(page, "\n## %s%s\n\n| command | does | flags of its own |\n|---|---|---|\n", group.head[:1], strings.ToLower(group.head[1:]))
		for _, name := range strings.Fields(group.commands) {
			cmd, _, _ := root.Find([]string{name})
			for _, one := range append([]*cobra.Command{cmd}, cmd.Commands()...) {
				fmt.Fprintln(page, commandsRow(one))
			}
		}
	}
	page.WriteString("\n## Topics\n\n| page | about |\n|---|---|\n")
	for _, name := range topicNames() {
		fmt.Fprintf(page, "| `paw help %s` | %s |\n", name, topicAbout(name))
	}
	page.WriteString("\n## Exit codes\n\n| code | meaning |\n|---|---|\n")
	codes, _ := topicNamed("exit-codes")
	for _, row := range regexp.MustCompile(`(?m)^  (\d+) +(.*)$`).FindAllStringSubmatch(codes, -1) {
		fmt.Fprintf(page, "| %s | %s |\n", row[1], row[2])
	}
	return page.String()
}

// commandsRow returns the row about a command: how it is called, what it does, its own flags.
func commandsRow(cmd *cobra.Command) string {
	does := cmd.Short
	if len(cmd.Aliases) > 0 {
		does += "; also `" + strings.Join(cmd.Aliases, "`, `") + "`"
	}
	var flags []string
	cmd.NonInheritedFlags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden && !slices.Contains([]string{"help", "json", "dry-run", "session"}, f.Name) {
			flags = append(flags, "`--"+f.Name+"`")
		}
	})
	return fmt.Sprintf("| `%s` | %s | %s |", strings.ReplaceAll(useLine(cmd), "|", `\|`), does, strings.Join(flags, " "))
}

// TestPagesAreShort: all pages for users together, the list of commands, the page of concepts and
// README.md stay within their numbers of words.
func TestPagesAreShort(t *testing.T) {
	words := map[string]int{}
	for _, name := range pages(t) {
		content, err := os.ReadFile("../../" + name)
		if err != nil {
			t.Fatal(err)
		}
		n := len(strings.Fields(string(content)))
		if words[name] = n; !strings.Contains(name, "internals") {
			words["all"] += n
		}
	}
	for name, most := range map[string]int{"all": 22000, "docs/commands.md": 3000, "docs/concepts.md": 1200, "README.md": 500} {
		if words[name] > most {
			t.Errorf("%s: %d words, at most %d", name, words[name], most)
		}
	}
}
