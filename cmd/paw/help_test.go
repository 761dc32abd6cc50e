package main

import (
	"bytes"
	"os"
	"regexp"
	"slices"
	"strconv"
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

// TestExitCodesTopic holds paw help exit-codes to the codes of package errs and those that shells add.
func TestExitCodesTopic(t *testing.T) {
	source, err := os.ReadFile("../../orchestrator/errs/errs.go")
	if err != nil {
		t.Fatal(err)
	}
	codes := []string{"0"}
	for _, kind := range regexp.MustCompile(`(?m)^\t\w+ +Kind = (\d+)`).FindAllStringSubmatch(string(source), -1) {
		codes = append(codes, kind[1])
	}
	codes = append(codes, strconv.Itoa(exitPipe))
	page, _ := topicNamed("exit-codes")
	var told []string
	for _, row := range regexp.MustCompile(`(?m)^  (\d+) `).FindAllStringSubmatch(page, -1) {
		told = append(told, row[1])
	}
	if len(codes) < 10 || !slices.Equal(codes, told) {
		t.Errorf("the kinds of failures are %v, the topic has %v", codes, told)
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
	for word, hint := range map[string]string{"state": "paw help states", "exit-code": "paw help exit-codes", "exitcodes": "paw help exit-codes", "stauts": "paw help status"} {
		if page, code := helpOf("help", word); code != 2 || !strings.Contains(page, "paw: hint: "+hint+"\n") {
			t.Errorf("%s: ends with %d, prints\n%s", word, code, page)
		}
	}
	if page, code := helpOf("--help", "nosuch"); code != 2 || !strings.Contains(page, "no such command") {
		t.Errorf("ends with %d, prints\n%s", code, page)
	}
}

// TestSkill: the page for agents comes as a SKILL.md, with the front matter that CLIs look for.
func TestSkill(t *testing.T) {
	t.Parallel()
	page, code := helpOf("help", "agents")
	skill, skillCode := helpOf("help", "agents", "--skill")
	if code != 0 || skillCode != 0 || !strings.HasPrefix(skill, "---\nname: paw\ndescription: ") || !strings.HasSuffix(skill, "\n---\n\n"+page) {
		t.Errorf("paw help agents --skill (%d):\n%s", skillCode, skill)
	}
	if page, code := helpOf("help", "land", "--skill"); code != 2 || !strings.Contains(page, "paw: hint: paw help agents --skill\n") {
		t.Errorf("paw help land --skill (%d): %s", code, page)
	}
}
