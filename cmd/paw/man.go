//go:build man

// `go run -tags man ./cmd/paw DIR` writes the man pages and completions. The binary for users has
// neither this file nor the library that formats the pages.

package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/cpuguy83/go-md2man/v2/md2man"
	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// init replaces main, because main is defined already.
func init() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go run -tags man ./cmd/paw DIR")
		os.Exit(2)
	}
	if err := errors.Join(writeMan(filepath.Join(os.Args[1], "man", "man1")), writeCompletions(os.Args[1])); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// writeMan writes paw.1, a page for each command, and git-paw.1, which git looks for at `git paw --help`.
func writeMan(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	root := newRoot(&invocation{stdin: strings.NewReader(""), printer: printer{stdout: io.Discard, stderr: io.Discard}}, "")
	root.DisableAutoGenTag = true // the tag would contain the date
	root.Short = "several AI coding CLIs at once on one repository"
	root.Long = rootPage(root)
	for _, cmd := range root.Commands() {
		forMan(cmd)
		for _, sub := range cmd.Commands() {
			forMan(sub)
		}
	}
	header := &doc.GenManHeader{Section: "1", Source: "paw " + ownVersion(), Manual: "paw manual"}
	if err := doc.GenManTree(root, header, dir); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "git-paw.1"), []byte(".so man1/paw.1\n"), 0o644); err != nil {
		return err
	}
	return writeTopics(filepath.Join(filepath.Dir(dir), "man7"), *header)
}

// writeTopics writes a man page for each topic of paw help, such as paw-states.7, without a date.
func writeTopics(dir string, header doc.GenManHeader) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, name := range topicNames() {
		if name == "agents" { // this page is for agents
			continue
		}
		text, _ := topicNamed(name)
		title, text, _ := strings.Cut(text, "\n")
		page := fmt.Sprintf("%% %q \"7\" \"\" %q %q\n# NAME\npaw-%s - %s\n\n%s# SEE ALSO\n**paw(1)**\n",
			"PAW-"+strings.ToUpper(name), header.Source, header.Manual, name, title, headed(text))
		if err := os.WriteFile(filepath.Join(dir, "paw-"+name+".7"), md2man.Render([]byte(page)), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// headed returns the text of a topic with headings marked up as those of a man page.
func headed(text string) string {
	var page strings.Builder
	for part := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		head, body, _ := strings.Cut(part, "\n")
		switch {
		case strings.HasPrefix(part, " "):
			fmt.Fprintf(&page, "%s\n\n", indented(part))
		case head == strings.ToUpper(head):
			fmt.Fprintf(&page, "# %s\n\n%s\n\n", head, indented(body))
		default:
			fmt.Fprintf(&page, "%s\n\n", markdown(part))
		}
	}
	return page.String()
}

// writeCompletions writes the script of each shell to the place below DIR where the shell looks for it.
func writeCompletions(dir string) error {
	for shell, name := range map[string]string{
		"bash": "bash-completion/completions/paw", "zsh": "zsh/site-functions/_paw", "fish": "fish/vendor_completions.d/paw.fish",
	} {
		var script bytes.Buffer
		root := newRoot(&invocation{stdin: strings.NewReader(""), printer: printer{stdout: &script, stderr: io.Discard}}, "")
		root.SetArgs([]string{"completion", shell})
		if err := root.Execute(); err != nil {
			return err
		}
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, script.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// rootPage returns the description in paw(1): the text of paw --help.
func rootPage(root *cobra.Command) string {
	var page strings.Builder
	intro, examples, _ := strings.Cut(rootHelp, "EXAMPLES\n")
	end, _, _ := strings.Cut(fmt.Sprintf(rootHelpEnd, "paw"), "EXIT STATUS  ")
	fmt.Fprintf(&page, "%s\n\n# EXAMPLES\n%s\n\n# COMMANDS\n", markdown(intro), indented(examples))
	for _, group := range helpGroups {
		fmt.Fprintf(&page, "%s\n\n", indented(group.head))
		for _, name := range strings.Fields(group.commands) {
			if cmd, _, err := root.Find([]string{name}); err == nil {
				fmt.Fprintf(&page, "      %-9s %s\n", name, cmd.Short)
			}
		}
		page.WriteString("\n")
	}
	more, end, _ := strings.Cut(end, "\n\n")
	fmt.Fprintf(&page, "%s\n\n%s\n", indented(more), markdown(end))
	for _, name := range topicNames() {
		text, _ := topicNamed(name)
		title := map[string]string{"exit-codes": "EXIT STATUS"}[name]
		if name != "agents" { // this page is for agents
			fmt.Fprintf(&page, "\n# %s\n%s\n", cmp.Or(title, strings.ToUpper(name)), indented(text))
		}
	}
	return page.String()
}

// forMan converts the texts of a command to Markdown, which the library reads.
func forMan(cmd *cobra.Command) {
	text, codes, found := strings.Cut(cmd.Long, "\n\nEXIT STATUS\n")
	if cmd.Long = markdown(text); found {
		cmd.Long += "\n\n# EXIT STATUS\n" + indented(codes)
	}
}

// markdown converts a text to Markdown: indented paragraphs become code.
func markdown(text string) string {
	paragraphs := strings.Split(strings.TrimSpace(text), "\n\n")
	for i, p := range paragraphs {
		if strings.Contains("\n"+p, "\n ") {
			paragraphs[i] = indented(p)
			continue
		}
		paragraphs[i] = plainMarkdown.Replace(p)
	}
	return strings.Join(paragraphs, "\n\n")
}

// plainMarkdown escapes the characters that have a meaning in Markdown.
var plainMarkdown = strings.NewReplacer(`\`, `\\`, "*", `\*`, "_", `\_`, "<", `\<`, "[", `\[`, "]", `\]`, "`", "\\`")

// indented returns a text as a block of code.
func indented(text string) string {
	return "    " + strings.ReplaceAll(strings.Trim(text, "\n"), "\n", "\n    ")
}
