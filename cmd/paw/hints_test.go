package main

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// placeholder matches a word in capitals, which the reader would have to replace.
var placeholder = regexp.MustCompile(`(^|[ /=<])[A-Z]{3,}($|[ /=>])`)

// misunderstood matches the errors about words that paw does not know.
var misunderstood = regexp.MustCompile(`no such (command|flag|session|agent)|: it is paw |needs a value|unknown CLI|takes no value`)

// Each line is an error that a user makes who knows other programs or has not read on. The test
// pastes each hint into a shell: paw may refuse the hint for what it finds, but never for the
// hint's words. No message speaks of the libraries that paw uses.
func TestHintsWorkWhenPasted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.terminal("true") // puts paw into a folder for PATH
	w.start("api", "web")
	w.git(w.repo, "branch", "feat")
	w.git(w.repo, "checkout", "-q", "-b", "side")
	w.ok(w.paw("send", "api", "do: ask May I?"))
	waitFor(t, "api asks", func() bool { return w.agent("api").State == "waiting_input" })
	for _, line := range strings.Split(strings.TrimSpace(triedLines), "\n") {
		out := w.typedLine(line + " </dev/null")
		if out.code == 0 {
			t.Errorf("%s: worked\n%s", line, out.stdout)
		}
		for _, word := range []string{"cobra", "strconv", "pflag", "goroutine", "arg(s)", "invalid syntax", "shorthand", "EOF", "runtime", "nil"} {
			if strings.Contains(out.stderr, word) {
				t.Errorf("%s: says %s\n%s", line, word, out.stderr)
			}
		}
		hinted := false
		for said := range strings.Lines(out.stderr) {
			hint, is := strings.CutPrefix(strings.TrimSpace(said), "paw: hint: ")
			if !is {
				continue
			}
			hinted = true
			if placeholder.MatchString(hint) {
				t.Errorf("%s: the hint has a word to be replaced: %s", line, hint)
			}
			w.pasteHint(line, hint)
		}
		if !hinted {
			t.Errorf("%s: no hint\n%s", line, out.stderr)
		}
	}
}

// typedLine runs a line in a shell in the repository.
func (w *world) typedLine(line string) output {
	w.t.Helper()
	return w.run(w.repo, []string{"PATH=" + w.root + "/bin:" + os.Getenv("PATH")}, "sh", "-c", line)
}

// pasteHint runs a hint, with a prompt on standard input, except hints that end something.
func (w *world) pasteHint(line, hint string) {
	w.t.Helper()
	words := strings.Fields(hint)
	switch {
	case words[0] == "npm" || strings.HasPrefix(hint, "paw stop") || strings.HasPrefix(hint, "paw purge") || strings.HasPrefix(hint, "paw remove"): // later lines need what these hints would end
		return
	case words[0] != "paw":
		if _, err := exec.LookPath(words[0]); err != nil && !strings.Contains(words[0], "=") {
			w.t.Errorf("%s: the hint is no command: %s", line, hint)
		}
	}
	out := w.typedLine("echo hello | " + hint)
	if misunderstood.MatchString(out.stderr) {
		w.t.Errorf("%s: its hint %s ends with %d\n%s", line, hint, out.code, out.stderr)
	}
}

const triedLines = `
paw send api hello
paw wait --timeout 1ms
paw cd
paw exec
paw approve
paw undo
paw rollback api
paw fork api
paw broadcast hi
paw prompt
paw web
paw strat
paw attach -r
paw send -m hi
paw diff
paw sh
paw check
paw seen
paw remove
paw rewind
paw rewind api
paw rewind api 99
paw diff api 99
paw log api 99
paw turns nosuch
paw status nosuch
paw wait --timeout 5
paw status --json=x
paw add --cli api=demo
paw add --cli my-agent=demo
paw add --cli demo --branches feat/a
paw add --cli demo --branches side
paw add --cli demo --base nosuch
paw add --cli nosuch
paw add demo
paw start --cli demo
paw start --cli demo --name my-session
paw start demo
paw bisect web
paw check web
paw answer web yes
paw completion tcsh
paw land
paw update
paw attach
paw ui
paw run web --prompt hello
paw pr web
`
