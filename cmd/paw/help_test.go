package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// helpOf runs paw without a terminal, and returns what paw prints and its exit code.
func helpOf(words ...string) (string, int) {
	var out, problems bytes.Buffer
	code := run(append([]string{"paw"}, words...), os.Environ(), strings.NewReader(""), &out, &problems)
	return out.String() + problems.String(), code
}

// TestTopics: each topic fits a terminal of 80x24 with the prompt below, names only what exists,
// and says in the first line what it is about.
func TestTopics(t *testing.T) {
	root := rootForDocs()
	for _, name := range topicNames() {
		if name == "agents" { // TestAgentsPage tests this topic
			continue
		}
		page, code := helpOf("help", name)
		calls := 0
		lines := strings.Split(strings.TrimRight(page, "\n"), "\n")
		for _, line := range lines {
			if len([]rune(line)) > helpWidth {
				t.Errorf("paw help %s: a line of %d characters: %s", name, len([]rune(line)), line)
			}
			for _, words := range pawWords(strings.TrimSpace(line)) {
				calls++
				for _, wrong := range checkCall(root, words) {
					t.Errorf("paw help %s: %s: %s", name, wrong, line)
				}
			}
		}
		if code != 0 || len(lines) > 28 || calls == 0 && name != "exit-codes" || lines[1] != "" || lines[0] != topicAbout(name) {
			t.Errorf("paw help %s: code %d, %d lines, %d calls of paw:\n%s", name, code, len(lines), calls, page)
		}
	}
}

// TestExitCodesTopic: the topic has the exit codes of docs/reference.md, in the same words.
func TestExitCodesTopic(t *testing.T) {
	reference, err := os.ReadFile("../../docs/reference.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(reference), "\n## Exit codes\n")
	table, _, _ = strings.Cut(table, "\n\nErrors are")
	page, _ := topicNamed("exit-codes")
	var codes []string
	for row := range strings.Lines(table) {
		if cells := strings.Split(row, "|"); len(cells) == 4 && strings.Trim(cells[1], " -0123456789") == "" && strings.Trim(cells[1], " -") != "" {
			codes = append(codes, strings.TrimSpace(cells[1]))
		}
	}
	var told []string
	for line := range strings.Lines(page) {
		if number, _, ok := strings.Cut(strings.TrimPrefix(line, "  "), " "); ok && strings.HasPrefix(line, "  ") && strings.Trim(number, "0123456789") == "" {
			told = append(told, number)
		}
	}
	if len(codes) < 10 || strings.Join(codes, " ") != strings.Join(told, " ") {
		t.Errorf("the reference has %v, the topic %v", codes, told)
	}
}

// TestHelpAll: one page describes every command that is not hidden, and every topic.
func TestHelpAll(t *testing.T) {
	page, code := helpOf("help", "all")
	if again, _ := helpOf("--help", "all"); code != 0 || again != page {
		t.Errorf("paw help all ends with %d, and --help all prints something else:\n%s", code, again)
	}
	for _, cmd := range rootForDocs().Commands() {
		if listed := strings.Contains(page, "\n  "+cmd.Name()+" "); listed == cmd.Hidden {
			t.Errorf("%s: hidden %v, listed %v", cmd.Name(), cmd.Hidden, listed)
		}
	}
	for _, name := range topicNames() {
		if !strings.Contains(page, "\n  paw help "+name+" ") {
			t.Errorf("no line for the topic %s", name)
		}
	}
	for line := range strings.Lines(page) {
		if len([]rune(line)) > helpWidth+1 {
			t.Errorf("a line of %d characters: %s", len([]rune(line)), line)
		}
	}
}

// TestHelpOfWords: --help before a command shows the command's help, and a word that is no command
// is answered as without --help.
func TestHelpOfWords(t *testing.T) {
	of, _ := helpOf("land", "--help")
	for _, words := range [][]string{{"--help", "land"}, {"help", "land"}, {"-h", "land"}, {"help", "merge"}} {
		if page, code := helpOf(words...); page != of || code != 0 {
			t.Errorf("%v: ends with %d, prints\n%s", words, code, page)
		}
	}
	for word, hint := range map[string]string{"state": "paw help states", "exit-code": "paw help exit-codes", "exitcodes": "paw help exit-codes", "stauts": "paw status"} {
		if page, code := helpOf("help", word); code != 2 || !strings.Contains(page, "paw: hint: "+hint+"\n") {
			t.Errorf("%s: ends with %d, prints\n%s", word, code, page)
		}
	}
	if page, code := helpOf("--help", "nosuch"); code != 2 || !strings.Contains(page, "no such command") {
		t.Errorf("ends with %d, prints\n%s", code, page)
	}
}
