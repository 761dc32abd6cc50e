package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// shownOnTerminals are commands that print tables and sentences.
var shownOnTerminals = []string{
	"status", "status --all", "status --dirty --forecast", "turns", "turns --since yesterday", "forecast", "usage", "queue", "land --list", "land docs --dry-run",
	"land docs", "land --undo", "land docs search", "clis", "host", "doctor", "answer auth </dev/null", "wait billing", "blame README.md", "log --grep search", "send auth hi", "staus", "remove auth --dry-run",
	"rewind docs 1 --dry-run", "update docs", "stop later", "recover later --detach", "queue add docs 'and then the index of all the chapters of that book, please'", "queue", "--help", "--help all", "land --help",
}

// On terminals of 40 to 200 columns no line is too long, except a command to paste and a single
// word, and no word is cut, also through a pager. A terminal with 16 colours gets no others, and with NO_COLOR there are
// none.
func TestEveryWidth(t *testing.T) {
	t.Parallel()
	w := started(t, "search", "auth", "billing", "docs", "later")
	w.did("search", "Please add fuzzy matching to the search of this shop, with tests\ndo: write s.txt fuzzy\ndo: commit Search: fuzzy matching")
	w.did("docs", "Write the chapter about the fuzzy search and all of its many options\ndo: append README.md Search is fuzzy.\ndo: commit Docs: search")
	for agent, prompt := range map[string]string{
		"auth":    "Make the login tests run\ndo: ask Bash: npm test -- --watch=false --coverage --reporter=verbose internal/auth --maxWorkers=4",
		"billing": "Round the invoices\ndo: fail overloaded_error: the server is overloaded, and will be so for some time",
		"later":   "do: hang",
	} {
		w.ok(w.paw("send", agent, prompt))
	}
	waitFor(t, "all are at it", func() bool {
		return w.agent("auth").State == "waiting_input" && w.agent("billing").State == "error" && w.agent("later").State == "running"
	})
	for _, look := range []struct {
		width int
		env   string
	}{{40, ""}, {60, "NO_COLOR=1"}, {80, ""}, {120, "TERM=linux"}, {200, ""}} {
		coloured := ""
		for some := range slices.Chunk(shownOnTerminals, 8) {
			var script strings.Builder
			for i, command := range some {
				fmt.Fprintf(&script, "echo '~ %s'; env GIT_PAGER='sed -n p' %s paw %s; : >%s/shown.%d; ", strings.ReplaceAll(command, "'", ""), look.env, command, w.root, i)
			}
			terminal := w.sized(look.width, 50, script.String()+"echo '~ end'; exec cat") // tmux would write into the output that the pane is dead
			for i, command := range some {
				shown := filepath.Join(w.root, fmt.Sprintf("shown.%d", i))
				waitFor(t, "paw "+command+" has been shown", func() bool { return os.Remove(shown) == nil })
			}
			screen := ""
			waitFor(t, "all of it is on the terminal", func() bool {
				screen = terminal.tmux("capture-pane", "-p", "-J", "-S", "-").stdout
				return strings.Contains(screen, "~ end")
			})
			checkWidth(t, look.width, screen)
			coloured += terminal.tmux("capture-pane", "-p", "-e", "-S", "-").stdout
			killServer(terminal.socket)
		}
		checkColours(t, look.env, coloured)
	}
}

// checkWidth reports lines that are wider than the terminal.
func checkWidth(t *testing.T, width int, screen string) {
	t.Helper()
	command := ""
	for line := range strings.Lines(screen) {
		line = strings.TrimRight(line, " \n")
		if name, is := strings.CutPrefix(line, "~ "); is {
			command = name
			continue
		}
		said := strings.TrimSpace(line)
		toPaste := strings.HasPrefix(said, "paw: hint: ") || strings.HasPrefix(said, "paw ") || strings.HasPrefix(said, "git ")
		if columns.Width(line) > width && !toPaste && strings.Contains(said, " ") {
			t.Errorf("%d columns: paw %s: %s", width, command, line)
		}
	}
}

var (
	manyColours = regexp.MustCompile(`\x1b\[[0-9;]*[34]8[;:][25][;:]`)
	anyColour   = regexp.MustCompile(`\x1b\[(?:[0-9;]*;)?(?:3[0-7]|4[0-7]|9[0-7]|10[0-7])[;m]`)
)

func checkColours(t *testing.T, env, screen string) {
	t.Helper()
	if found := manyColours.FindString(screen); found != "" && env == "TERM=linux" {
		t.Errorf("%s: more than 16 colours: %q", env, found)
	}
	if coloured := anyColour.MatchString(screen); coloured == (env == "NO_COLOR=1") {
		t.Errorf("%s: coloured: %v", env, coloured)
	}
}
