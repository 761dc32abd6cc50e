package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"paw/orchestrator/cli"
)

// snippet is a piece of code in a document, with its place.
type snippet struct {
	file string
	line int
	text string
}

var (
	codeSpan = regexp.MustCompile("`([^`]+)`")
	longFlag = regexp.MustCompile(`^--[a-z][a-z-]*`)
	// pawCall matches the beginning of a call of paw: at the start, or where a shell expects a
	// command.
	pawCall = regexp.MustCompile(`(?:^|[$(;|&] ?|\bdo |=\S+ |-u TMUX )(?:git )?paw `)
	// remark matches the end of a command on its line: two spaces or a shell operator.
	remark = regexp.MustCompile(`\s{2,}|\s[|&;<>]|;`)
	quoted = regexp.MustCompile(`"[^"]*"|'[^']*'`)
)

// snippets returns the code of a document: indented lines, and spans in the text.
func snippets(t *testing.T, name string) []snippet {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("..", "..", name))
	if err != nil {
		t.Fatal(err)
	}
	var found []snippet
	for i, line := range strings.Split(string(content), "\n") {
		if code, ok := strings.CutPrefix(line, "    "); ok {
			found = append(found, snippet{name, i + 1, code})
			continue
		}
		for _, span := range codeSpan.FindAllStringSubmatch(line, -1) {
			found = append(found, snippet{name, i + 1, span[1]})
		}
	}
	return found
}

// pawWords returns the words after "paw" of each call in a piece of code.
func pawWords(code string) [][]string {
	var calls [][]string
	code = quoted.ReplaceAllString(strings.TrimSpace(code), "TEXT")
	for _, part := range pawCall.Split(code, -1)[1:] {
		if end := remark.FindStringIndex(part); end != nil {
			part = part[:end[0]]
		}
		if words := strings.Fields(part); len(words) > 0 {
			calls = append(calls, words)
		}
	}
	return calls
}

// checkCall returns which words of a call do not exist.
func checkCall(root *cobra.Command, words []string) (wrong []string) {
	if words[0] == "help" && len(words) > 1 {
		words = words[1:] // cobra adds the help command only when it runs
		if _, topic := topicNamed(strings.Trim(words[0], ".,;:)`")); topic || words[0] == everybody {
			return nil
		}
	}
	cmd, _, err := root.Find(words)
	if err != nil || (cmd == root && !strings.HasPrefix(words[0], "-")) {
		return []string{"no command " + words[0]}
	}
	for _, word := range words {
		word = strings.Trim(word, "[]()|.,\"'")
		switch flag := longFlag.FindString(word); {
		case word == "--":
			return wrong // words after -- are no flags
		case flag != "":
			if !hasFlag(cmd, flag[2:]) {
				wrong = append(wrong, cmd.CommandPath()+" has no flag "+flag)
			}
		case len(word) == 2 && word[0] == '-':
			if word != "-h" && cmd.Flags().ShorthandLookup(word[1:]) == nil {
				wrong = append(wrong, cmd.CommandPath()+" has no flag "+word)
			}
		}
	}
	return wrong
}

// Every line of the documents that is set as a command can be typed: a call of paw has values for
// its flags and the arguments that the command takes, and the programs, scripts and targets of
// other lines exist.
func TestDocsLinesCouldBeTyped(t *testing.T) {
	seen := 0
	for _, name := range pages(t) {
		content, err := os.ReadFile(filepath.Join("..", "..", name))
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for line := range strings.Lines(string(content)) {
			n++
			code, indented := strings.CutPrefix(strings.TrimRight(line, "\n"), "    ")
			if !indented {
				continue
			}
			code, _, _ = strings.Cut(code, "   ")
			for _, words := range pawWords(strings.TrimPrefix(code, "$ ")) {
				seen++
				if wrong := wrongIn(words); wrong != "" {
					t.Errorf("%s:%d: %s: %s", name, n, wrong, code)
				}
			}
			if wrong := notOfPaw(t, code); wrong != "" {
				t.Errorf("%s:%d: %s: %s", name, n, wrong, code)
			}
		}
	}
	if seen < 150 {
		t.Errorf("only %d calls of paw were found", seen)
	}
}

// wrongIn returns what is wrong with a call of paw, "" for nothing.
func wrongIn(words []string) string {
	root := rootForDocs()
	if words[0] == "help" && len(words) > 1 {
		return ""
	}
	words[len(words)-1] = strings.TrimRight(words[len(words)-1], ")") // the end of $( or <(
	cmd, rest, err := root.Find(words)
	if err != nil {
		return err.Error()
	}
	if err := cmd.ParseFlags(rest); err != nil {
		return err.Error()
	}
	if err := cmd.ValidateArgs(cmd.Flags().Args()); err != nil {
		return err.Error()
	}
	return ""
}

// programs are the programs that documents tell readers to run. Each function reports whether what
// the words name exists.
var programs = map[string]func(t *testing.T, words []string) bool{
	"make": func(t *testing.T, words []string) bool {
		makefile, err := os.ReadFile("../../Makefile")
		return err == nil && strings.Contains(string(makefile), "\n"+words[1]+":")
	},
	"sh": func(_ *testing.T, words []string) bool {
		_, err := os.Stat(filepath.Join("../..", words[1]))
		_, dist := os.Stat(filepath.Join("../../.ci", words[1])) // .ci/dist puts such scripts beside the archives
		return err == nil || dist == nil
	},
	"go": func(_ *testing.T, words []string) bool {
		for _, word := range words {
			if strings.HasPrefix(word, "./") {
				_, err := os.Stat(filepath.Join("../..", word))
				return err == nil
			}
		}
		return false
	},
	"git": func(t *testing.T, words []string) bool {
		w := slices.IndexFunc(words[1:], func(word string) bool { return !strings.HasPrefix(word, "-") })
		err := exec.Command("git", words[1+w], "-h").Run()
		var exit *exec.ExitError
		return err == nil || errors.As(err, &exit) && exit.ExitCode() == 129
	},
	"sudo": func(_ *testing.T, words []string) bool { return words[1] == "apt" }, // TestDist checks the package that apt installs
}

// notOfPaw returns what is wrong with a line that runs another program, "" for nothing.
func notOfPaw(t *testing.T, code string) string {
	words := strings.Fields(remark.Split(strings.TrimPrefix(code, "$ "), 2)[0])
	if len(words) < 2 || programs[words[0]] == nil || programs[words[0]](t, words) {
		return ""
	}
	return "there is no such thing"
}

// pages returns the names of all documents.
func pages(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(files) == 0 {
		t.Fatalf("no documents: %v", err)
	}
	inside, err := filepath.Glob("../../docs/internals/*.md")
	if err != nil || len(inside) == 0 {
		t.Fatalf("no documents: %v", err)
	}
	names := []string{"README.md"}
	for _, file := range append(files, inside...) {
		names = append(names, strings.TrimPrefix(file, "../../"))
	}
	return names
}

func hasFlag(cmd *cobra.Command, name string) bool {
	return name == "help" || cmd.Flags().Lookup(name) != nil
}

func rootForDocs() *cobra.Command {
	return newRoot(&invocation{stdin: strings.NewReader(""), printer: printer{stdout: &bytes.Buffer{}, stderr: &bytes.Buffer{}}}, "")
}

// TestDocsNameWhatExists: every call of paw in the documents names a command and flags that exist.
func TestDocsNameWhatExists(t *testing.T) {
	root := rootForDocs()
	calls := map[string]int{}
	for _, name := range pages(t) {
		for _, s := range snippets(t, name) {
			for _, words := range pawWords(s.text) {
				calls[name]++
				for _, wrong := range checkCall(root, words) {
					t.Errorf("%s:%d: %s: %s", s.file, s.line, wrong, s.text)
				}
			}
		}
	}
	for _, name := range []string{"README.md", "docs/first-day.md"} {
		if calls[name] < 10 {
			t.Errorf("%s: only %d calls of paw were found in it", name, calls[name])
		}
	}
}

// TestPageOfCLIsNamesVersions: docs/clis.md names the versions of the CLIs in cli.LookedAts.
func TestPageOfCLIsNamesVersions(t *testing.T) {
	content, err := os.ReadFile("../../docs/clis.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(content), "\nLooked at: ")
	text, _, _ = strings.Cut(text, ". `paw clis`")
	var want []string
	for _, looked := range cli.LookedAts() {
		want = append(want, looked.CLI+" "+looked.Version)
	}
	if got := strings.ReplaceAll(text, "\n", " "); got != strings.Join(want, ", ") {
		t.Errorf("docs/clis.md: looked at %q, want %q", got, strings.Join(want, ", "))
	}
}

// TestHelpIsComplete: every visible command has examples whose calls exist, and says how it exits.
func TestHelpIsComplete(t *testing.T) {
	root := rootForDocs()
	for _, cmd := range root.Commands() {
		if cmd.Hidden || cmd.IsAdditionalHelpTopicCommand() {
			continue
		}
		if cmd.Example == "" {
			t.Errorf("paw %s --help has no examples", cmd.Name())
		}
		if !strings.Contains(cmd.Long, "EXIT STATUS") {
			t.Errorf("paw %s --help does not say how it exits", cmd.Name())
		}
		for _, line := range strings.Split(cmd.Example, "\n") {
			for _, words := range pawWords(line) {
				for _, wrong := range checkCall(root, words) {
					t.Errorf("paw %s --help: %s: %s", cmd.Name(), wrong, strings.TrimSpace(line))
				}
			}
		}
	}
}

// TestAgentsPage: the page for agents is short and names only what exists.
func TestAgentsPage(t *testing.T) {
	calls, root := 0, rootForDocs()
	agentsPage, _ := topicNamed("agents")
	for line := range strings.Lines(agentsPage) {
		for _, words := range pawWords(strings.TrimSpace(line)) {
			calls++
			for _, wrong := range checkCall(root, words) {
				t.Errorf("paw help agents: %s: %s", wrong, strings.TrimSpace(line))
			}
		}
		if len(line) > 92 {
			t.Errorf("paw help agents: a line of %d characters: %s", len(line), line)
		}
	}
	if n := strings.Count(agentsPage, "\n"); n >= 60 || calls < 8 {
		t.Errorf("paw help agents has %d lines and %d calls of paw", n, calls)
	}
}

// TestDocsNameFilesThatExist: the maps of the code name only files that exist.
func TestDocsNameFilesThatExist(t *testing.T) {
	goFile := regexp.MustCompile(`^[a-z_/]+\.go$`)
	for page, folder := range map[string]string{"docs/internals/how-it-works.md": "orchestrator", "CONTRIBUTING.md": "."} {
		found := 0
		for _, one := range snippets(t, page) {
			if !goFile.MatchString(one.text) {
				continue
			}
			found++
			if _, err := os.Stat(filepath.Join("..", "..", folder, one.text)); err != nil {
				t.Errorf("%s:%d: there is no %s/%s", one.file, one.line, folder, one.text)
			}
		}
		if found == 0 {
			t.Errorf("%s: no file is named", page)
		}
	}
}
