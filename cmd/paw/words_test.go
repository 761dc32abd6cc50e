package main

import (
	"bytes"
	"strings"
	"testing"

	"paw/orchestrator/errs"
)

// typed runs paw with words that must not reach any session.
func typed(words ...string) (code int, stdout, stderr string) {
	var out, said bytes.Buffer
	code = run(append([]string{"paw"}, words...), []string{"HOME=/nonexistent"}, strings.NewReader(""), &out, &said)
	return code, out.String(), said.String()
}

// Names of commands in other programs are answered with paw's command for the same, or with none.
func TestWordsThatAreNoCommands(t *testing.T) {
	for line, want := range map[string]string{
		"strat":                        "strat: no such command (did you mean start?)\npaw: hint: paw start\n",
		"statu":                        "statu: no such command (did you mean status?)\npaw: hint: paw status\n",
		"rewnid":                       "rewnid: no such command (did you mean rewind?)\npaw: hint: paw rewind --help\n",
		"push web":                     "push: no such command\npaw: hint: paw pr web\n",
		"prompt web a b":               "prompt: no such command\npaw: hint: paw send web a b\n",
		"rollback web 2":               "rollback: no such command\npaw: hint: paw rewind web 2\n",
		"goto":                         "goto: no such command\npaw: hint: paw attach\n",
		"detach":                       "detach: no such command\npaw: hint: paw help tmux\n",
		"apply web":                    "apply: no such command\npaw: hint: paw land web\n",
		"up":                           "up: no such command\npaw: hint: paw start\n",
		"cd":                           "cd: no such command\npaw: hint: paw path\n",
		"redo web":                     "redo: no such command\npaw: hint: paw rewind --undo web\n",
		"redo a;b":                     "redo: no such command\npaw: hint: paw rewind --undo 'a;b'\n",
		"dwon":                         "dwon: no such command\npaw: hint: paw --help\n",
		"zz":                           "zz: no such command\npaw: hint: paw --help\n",
		"help nonsense":                "nonsense: no such command\npaw: hint: paw --help\n",
		"start demo":                   "demo: paw start takes CLIs with --cli\npaw: hint: paw start --cli demo\n",
		"add c=demo --from a":          "c=demo: paw add takes CLIs with --cli\npaw: hint: paw add --from a --cli c=demo\n",
		"add demo":                     "demo: paw add takes CLIs with --cli\npaw: hint: paw add --cli demo\n",
		"start shop --cli demo":        "shop: paw start takes CLIs with --cli\npaw: hint: paw start --cli shop=demo\npaw: hint: paw start --cli demo --name shop\n",
		"start nosuch":                 "nosuch: paw start takes CLIs with --cli\npaw: hint: paw clis\n",
		"start --cli demo --session s": "--session: paw start has no such flag (did you mean --name?)\npaw: hint: paw start --cli demo --name s\n",
		"land --agent web --as merge":  "--agent: paw land has no such flag\npaw: hint: paw land web --as merge\n",
		"send --to=web hi":             "--to: paw send has no such flag\npaw: hint: paw send web hi\n",
		"queue add --to web hi":        "--to: paw queue add has no such flag\npaw: hint: paw queue add web hi\n",
		"diff --cached web":            "--cached: paw diff has no such flag\npaw: hint: paw diff web\n",
		"land web --no-verify":         "--no-verify: paw land has no such flag (did you mean --no-check?)\npaw: hint: paw land web --no-check\n",
		"stop --force web":             "--force: paw stop has no such flag\npaw: hint: paw stop web\n",
		"kill-session -t web":          "kill-session: no such command\npaw: hint: paw stop --help\n",
		"run web fix it":               "fix it: paw run takes its prompt with --prompt\npaw: hint: paw run web --prompt 'fix it'\n",
		"issue list":                   "issue: no such command\npaw: hint: gh issue list\n",
		"issue view 12":                "issue: no such command\npaw: hint: gh issue view 12\n",
		"kill-session":                 "kill-session: no such command\npaw: hint: paw stop\n",
		"broadcast a b":                "broadcast: no such command\npaw: hint: paw send --all a b\n",
		"remove":                       "paw remove: it is paw remove AGENT...\npaw: hint: paw remove --help\n",
		"path a b c":                   "paw path a b c: it is paw path [AGENT]\npaw: hint: paw path --help\n",
		"completion tcsh":              "paw completion tcsh: it is paw completion bash|zsh|fish\npaw: hint: paw completion --help\n",
		"status --nosuch":              "--nosuch: paw status has no such flag\npaw: hint: paw status --help\n",
		"status -z":                    "-z: paw status has no such flag\npaw: hint: paw status --help\n",
		"status --json=name":           "--json name: this flag takes no value\npaw: hint: paw status --help\n",
		"wait --timeout 5":             "--timeout 5: not a time, such as 90s or 10m\npaw: hint: paw wait --timeout 5s\npaw: hint: paw wait --help\n",
		"wait a --timeout=5":           "--timeout 5: not a time, such as 90s or 10m\npaw: hint: paw wait a --timeout=5s\npaw: hint: paw wait --help\n",
		"start --branch x":             "--branch: paw start has no such flag (did you mean --branches?)\npaw: hint: paw start --branches x\n",
		"start -c demo":                "-c: paw start has no such flag (did you mean --cli?)\npaw: hint: paw start --cli demo\n",
		"status -o json":               "-o: paw status has no such flag (did you mean --json?)\npaw: hint: paw status --json\n",
		"-V":                           "-V: paw has no such flag (did you mean --version?)\npaw: hint: paw --version\n",
		"status --no-color":            "--no-color: paw status has no such flag (did you mean --color=never?)\npaw: hint: paw status --color=never\n",
		"rewind web --to 1":            "--all and --to TIME go together\npaw: hint: paw rewind --help\n",
		"stop -f":                      "-f: paw stop has no such flag\npaw: hint: paw stop\n",
		"log --turn x":                 "--turn x: not a number\npaw: hint: paw log --help\n",
		"start --cli":                  "--cli: needs a value\npaw: hint: paw start --help\n",
		"status --color blue":          "--color blue: it takes auto, always or never\npaw: hint: paw status --help\n",
	} {
		code, _, said := typed(strings.Fields(line)...)
		if code != 2 || said != "paw: error: "+want {
			t.Errorf("paw %s: exit code %d\n%swant %s", line, code, said, want)
		}
	}
}

// Where there are several agents, a line to paste never names one that was not typed.
func TestWordsWithAgents(t *testing.T) {
	t.Parallel()
	w := started(t, "search", "docs", "docs_1")
	for line, hint := range map[string]string{
		"delete gone":          "paw remove --help",
		"delete":               "paw remove --help",
		"delete docs":          "paw remove docs",
		"delete s/docs":        "paw remove s/docs",
		"ask nosuch hi":        "paw send --help",
		"ask docs hi there":    "paw send docs hi there",
		"tell all hi":          "paw send --all hi",
		"merge-all":            "paw --help",
		"accept all":           "paw land --all",
		"approve gone":         "paw answer --help",
		"approve docs":         "paw answer docs",
		"fork gone":            "paw add --help",
		"fork docs":            "paw add --help",
		"close docs":           "paw stop docs",
		"attach -t docs":       "paw attach docs",
		"capture docs":         "paw log docs",
		"grep W":               "paw log --grep W",
		"search":               "paw attach search",
		"find W":               "paw log --grep W",
		"new fix":              "paw add --branches fix",
		"new":                  "paw add --help",
		"start docs":           "paw recover docs",
		"branch -d docs":       "paw status --help",
		"redo docs":            "paw rewind --undo docs",
		"redo":                 "paw rewind --help",
		"cd list":              "paw path --help",
		"ask search,docs hi":   "paw send search,docs hi",
		"apply s/docs@2":       "paw land s/docs@2",
		"pull main":            "paw update --help",
		"worktree list":        "paw status --all",
		"worktree remove gone": "paw remove --help",
		"pr create docs":       "paw pr docs",
		"pr list":              "gh pr list",
		"pr view 12":           "gh pr view 12",
		"send docs -m hi":      "paw send docs hi",
		"send docs --file p":   "paw send docs --prompt-file p",
		"land --squash docs":   "paw land docs",
		"land --no-ff":         "paw land --as=merge",
		"docs diff":            "paw diff docs",
		"rm -rf docs":          "paw rm docs",
		"stop --force docs":    "paw stop docs",
		"send -m hi docs":      "paw send --help",
		"rename docs web":      "paw help names",
		"status -v":            "paw status",
		"apply docs -n":        "paw land docs -n",
		"apply docs -n --lean": "paw land --help",
		"send docs /help":      "paw send --help",
	} {
		out := w.paw(strings.Fields(line)...)
		if out.code != 2 || !strings.HasSuffix(out.stderr, "\npaw: hint: "+hint+"\n") || strings.Count(out.stderr, "hint") != 1 {
			t.Errorf("paw %s: exit code %d\n%s", line, out.code, out.stderr)
		}
	}
}

// An agent with another number is another agent.
func TestAnotherNumberIsNotSuggested(t *testing.T) {
	t.Parallel()
	w := started(t, "work_1", "work_2")
	for _, line := range []string{"land work_3", "undo work_3", "send work hi"} {
		if out := w.paw(strings.Fields(line)...); out.code != 10 || strings.Count(out.stderr, "hint") != 1 || !strings.Contains(out.stderr, "hint: paw status") {
			t.Errorf("paw %s: exit code %d\n%s", line, out.code, out.stderr)
		}
	}
	if out := w.paw("land", "wrok_2", "--dry-run"); !strings.Contains(out.stderr, "\npaw: hint: paw land work_2 --dry-run\n") {
		t.Error(out.stderr)
	}
}

func TestAliases(t *testing.T) {
	root := rootForDocs()
	for word, want := range map[string]string{
		"ls": "status", "list": "status", "ps": "status", "rm": "remove", "kill": "stop", "open": "attach", "switch": "attach",
		"logs": "log", "history": "log", "resume": "recover", "restore": "recover", "merge": "land",
	} {
		if cmd, _, err := root.Find([]string{word}); err != nil || cmd.Name() != want {
			t.Errorf("%s: %v, %v", word, cmd.Name(), err)
		}
	}
	for line, flags := range map[string]string{
		"status": "ajw", "recover": "adjn", "start": "djnp", "add": "jnp", "remove": "fn", "purge": "fny", "send": "", "rewind": "f", "wait": "aj",
	} {
		cmd, _, _ := root.Find([]string{line})
		for _, short := range flags {
			if cmd.Flags().ShorthandLookup(string(short)) == nil {
				t.Errorf("%s has no -%c", line, short)
			}
		}
	}
	if _, out, _ := typed("--version"); !strings.HasPrefix(out, "paw ") {
		t.Errorf("--version: %q", out)
	}
}

// Every such name leads to a command that exists, and every such flag to a flag.
func TestOtherWordsLeadSomewhere(t *testing.T) {
	root := rootForDocs()
	for line, words := range otherWords {
		for _, word := range words {
			if cmd, _, err := root.Find([]string{word}); err == nil && cmd != root {
				t.Errorf("%s is a command", word)
			}
		}
		if line == "add --branches" || line == "log --grep" {
			line += " x"
		}
		if line == "gh issue" || line == "help" {
			continue
		}
		for _, wrong := range checkCall(root, strings.Fields(line)) {
			t.Errorf("%s: %s", line, wrong)
		}
	}
	for flag, by := range otherFlags {
		words := strings.Fields(flag)
		if len(words) == 1 {
			continue
		}
		cmd, _, err := root.Find(words[:1])
		if err != nil || cmd == root {
			t.Errorf("%s: no such command", words[0])
		} else if hasFlag(cmd, words[1]) || len(words[1]) == 1 && cmd.Flags().ShorthandLookup(words[1]) != nil {
			t.Errorf("%s is a flag", flag)
		}
		if by, _, _ = strings.Cut(by, "="); by != "" && !hasFlag(cmd, by) {
			t.Errorf("%s: no flag --%s", flag, by)
		}
	}
}

func TestHelpFitsATerminal(t *testing.T) {
	_, help, _ := typed("--help")
	if n := strings.Count(help, "\n"); n >= 40 {
		t.Errorf("paw --help has %d lines", n)
	}
	for _, cmd := range rootForDocs().Commands() {
		if cmd.Hidden || cmd.IsAdditionalHelpTopicCommand() {
			continue
		}
		if !strings.Contains(help, " "+cmd.Name()) {
			t.Errorf("paw --help does not name %s", cmd.Name())
		}
		_, text, _ := typed(cmd.Name(), "--help")
		for line := range strings.Lines(help + text) {
			if columns.Width(strings.TrimRight(line, "\n")) > helpWidth {
				t.Errorf("paw %s --help: %s", cmd.Name(), line)
			}
		}
		examples, flags, codes := strings.Index(text, "\nEXAMPLES\n"), strings.Index(text, "\nFLAGS\n"), strings.Index(text, "\nEXIT STATUS\n")
		if examples < 0 || flags < examples || codes < flags {
			t.Errorf("paw %s --help: out of order\n%s", cmd.Name(), text)
		}
	}
}

func TestWantsColour(t *testing.T) {
	for _, c := range []struct {
		flag     string
		terminal bool
		env      string
		want     bool
	}{
		{"auto", true, "TERM=xterm", true}, {"auto", false, "TERM=xterm", false},
		{"auto", true, "TERM=dumb", false}, {"auto", true, "NO_COLOR=1", false}, {"auto", true, "NO_COLOR=", true},
		{"auto", true, "CLICOLOR=0", false}, {"auto", true, "CLICOLOR=1", true},
		{"auto", false, "CLICOLOR_FORCE=1", true}, {"auto", false, "CLICOLOR_FORCE=0", false},
		{"auto", true, "CLICOLOR_FORCE=1 NO_COLOR=1", false},
		{"always", false, "NO_COLOR=1", true}, {"never", true, "CLICOLOR_FORCE=1", false},
	} {
		env := strings.Fields(c.env)
		if got := wantsColour(c.flag, c.terminal, func(name string) string { return lookUp(env, name) }); got != c.want {
			t.Errorf("%+v: %t", c, got)
		}
	}
}

func TestPromptWithoutItsFlag(t *testing.T) {
	if got := (&startOptions{invocation: &invocation{printer: printer{env: []string{"HOME=/nonexistent"}}}}).noWords(rootForDocs(), []string{"claude,codex", "fix it"}); len(errs.HintsOf(got)) != 1 || errs.HintsOf(got)[0] != "paw --cli claude,codex --prompt 'fix it'" {
		t.Errorf("%q", errs.HintsOf(got))
	}
}
