//go:build man

// `go run -tags man ./cmd/paw DIR` writes the man pages, which say what --help says, and completions.
// The binary for users does not have this file.

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
)

// init replaces main, because main is defined already.
func init() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go run -tags man ./cmd/paw DIR")
		os.Exit(2)
	}
	if err := errors.Join(writeMan(filepath.Join(os.Args[1], "man")), writeCompletions(os.Args[1])); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// writeMan writes paw.1, a page for each command, git-paw.1, which git looks for at `git paw --help`,
// and in section 7 a page for each topic of paw help, such as paw-states.7.
func writeMan(dir string) error {
	p := helpPrinter{&invocation{stdin: strings.NewReader(""), printer: printer{stdout: io.Discard, stderr: io.Discard, colourFlag: "never"}}}
	root := newRoot(p.invocation, "")
	whole := "DESCRIPTION\n" + p.rootHelp(root)
	pages := map[string]string{"man1/git-paw.1": ".so man1/paw.1\n"}
	for _, cmd := range root.Commands() {
		for _, one := range append([]*cobra.Command{cmd}, cmd.Commands()...) {
			name := strings.ReplaceAll(one.CommandPath(), " ", "-")
			about, _, _ := strings.Cut(one.Long, "\n\nEXIT STATUS\n")
			sections := strings.NewReplacer("USAGE\n", "SYNOPSIS\n", "\nFLAGS\n", "\nOPTIONS\n", "\n\n"+reflowed(about, helpWidth), "\n\nDESCRIPTION\n"+about)
			if !cmd.Hidden {
				pages["man1/"+name+".1"] = manPage(name, 1, one.Short, sections.Replace(p.commandHelp(one)))
			}
		}
	}
	for _, name := range topicNames() {
		if text, _ := topicNamed(name); name != "agents" { // this page is for agents
			title, text, _ := strings.Cut(text, "\n")
			pages["man7/paw-"+name+".7"] = manPage("paw-"+name, 7, title, text)
			whole += "\n" + strings.ToUpper(title) + "\n" + text
		}
	}
	pages["man1/paw.1"] = manPage("paw", 1, "several AI coding CLIs at once on one repository", whole)
	for name, page := range pages {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(page), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// heading matches the heading of a help text alone on its line.
var heading = regexp.MustCompile(`(?m)^[A-Z][A-Z, ]+$`)

// manPage formats the text of a help page for man(7): headings become sections, paragraphs are filled,
// and indented lines and columns stay as they are.
func manPage(name string, section int, about, text string) string {
	var page strings.Builder
	fmt.Fprintf(&page, ".nh\n.TH %q \"%d\" \"\" %q \"paw manual\"\n.SH NAME\n%s \\- %s\n", strings.ToUpper(name), section, "paw "+ownVersion(), name, escaped(about))
	for block := range strings.SplitSeq(heading.ReplaceAllString(text, "\n$0\n"), "\n\n") {
		switch block = strings.Trim(block, "\n"); {
		case block == "":
		case heading.MatchString(block):
			fmt.Fprintf(&page, ".SH %s\n", block)
		case strings.Contains(block, "  "):
			fmt.Fprintf(&page, ".PP\n.EX\n%s\n.EE\n", escaped(block))
		default:
			fmt.Fprintf(&page, ".PP\n%s\n", escaped(block))
		}
	}
	if name != "paw" {
		page.WriteString(".SH SEE ALSO\n.BR paw (1)\n")
	}
	return page.String()
}

// escaped returns a text in which nothing is a request of man(7).
func escaped(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	return regexp.MustCompile(`(?m)^([.'])`).ReplaceAllString(text, `\&$1`)
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
