package config

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// mistake is a file with one mistake; « marks the line that an error names.
type mistake struct {
	name    string
	text    string
	key     string
	nearest string
	message string // part of the message
}

func checkMistake(t *testing.T, m mistake) {
	t.Helper()
	before, _, marked := strings.Cut(m.text, "«")
	if !marked {
		t.Fatal("no place is marked")
	}
	line := strings.Count(before, "\n") + 1
	text := strings.Replace(m.text, "«", "", 1)

	for _, inRepository := range []bool{false, true} {
		p := newPlace(t)
		file := p.ConfigFile
		if inRepository {
			file = repositoryFile(p.repo)
		}
		write(t, file, text)
		l, err := Load(p.Paths, p.repo, environment())
		e := l.RepositoryMistake
		if !inRepository && !errors.As(err, &e) || e == nil || inRepository && err != nil {
			t.Fatalf("got %+v, %v, want an Error", l, err)
		}
		if e.File != file || e.Line != line {
			t.Errorf("found at %s:%d, want %s:%d (%v)", e.File, e.Line, file, line, e)
		}
		if e.Key != m.key || e.Nearest != m.nearest {
			t.Errorf("key %q, nearest %q, want %q, %q", e.Key, e.Nearest, m.key, m.nearest)
		}
		if !strings.Contains(e.Message, m.message) {
			t.Errorf("message %q, want %q in it", e.Message, m.message)
		}
		if want := fmt.Sprintf("%s:%d: %s", file, line, e.Message); e.Error() != want {
			t.Errorf("error %q, want %q", e.Error(), want)
		}
		if (e.Hint() == "") != (m.nearest == "") || !strings.Contains(e.Hint(), m.nearest) {
			t.Errorf("hint %q for nearest %q", e.Hint(), m.nearest)
		}
		for _, goType := range []string{"interface", "map[", "config.", "int64", "[]"} {
			if strings.Contains(e.Message, goType) {
				t.Errorf("message %q shows a Go type", e.Message)
			}
		}
	}
}

func TestUnknownKeysAreFoundWhereTheyStand(t *testing.T) {
	for _, m := range []mistake{
		{"in a table", "[worktree]\npath = '{parent}/{repo}'\n«copi = []\n", "worktree.copi", "worktree.copy", "unknown key worktree.copi"},
		{"dotted", "worktree.«copi = []\n", "worktree.copi", "worktree.copy", "unknown key worktree.copi"},
		{"dotted with spaces", "worktree . «copi = []\n", "worktree.copi", "worktree.copy", ""},
		{"inline", "worktree = { copy = [], «copi = [] }\n", "worktree.copi", "worktree.copy", ""},
		{"inline over lines", "worktree = {\n  copy = [ # } ]\n  ],\n  «copi = [],\n}\n", "worktree.copi", "worktree.copy", ""},
		{"inline dotted", "clis = { x = { command = ['x'] }, y.«comand = ['y'] }\n", "clis.y.comand", "clis.y.command", ""},
		{"header", "\n# c\n[«worktre]\ncopy = []\n", "worktre", "worktree", "unknown key worktre"},
		{"header below", "[worktree.«copyy]\n", "worktree.copyy", "worktree.copy", ""},
		{"nested table", "[clis.x]\ncommand = ['x']\n[clis.x.«enw]\nA = '1'\n", "clis.x.enw", "clis.x.env", ""},
		{"nested key", "[clis.x]\ncommand = ['x']\n«resum = []\n", "clis.x.resum", "clis.x.resume", ""},
		{"dotted in a table", "[clis]\nx.command = ['x']\nx.«promt = 'arg'\n", "clis.x.promt", "clis.x.prompt", ""},
		{"indented with a tab", "[turns]\n\t«snapshot_second = 1\n", "turns.snapshot_second", "turns.snapshot_seconds", ""},
		{"array of tables", "[[«preset]]\n", "preset", "presets", ""},
		{"top", "«default-cli = 'x'\n", "default-cli", "default_cli", ""},
		{"another case", "«DEFAULT_CLI = 'x'\n", "DEFAULT_CLI", "default_cli", ""},
		{"another table", "[turns]\n«max_depth = 1\n", "turns.max_depth", "agents.max_depth", ""},
		{"without its table", "«setup = 'x'\n", "setup", "worktree.setup", ""},
		{"like one of another table", "[notify]\n«when = 'x'\n", "notify.when", "", "unknown key notify.when"},
		{"like none", "«colour_scheme = 'x'\n", "colour_scheme", "", "unknown key colour_scheme"},
		{"quoted", "worktree.«\"co py\" = []\n", `worktree."co py"`, "worktree.copy", `unknown key worktree."co py"`},
		{"empty", "«\"\" = []\n", `""`, "", `unknown key ""`},
		{"escape sequence", "«\"a\\u001b[2K\" = []\n", `"a\x1b[2K"`, "", `unknown key "a\x1b[2K"`},
		{"after a long text", "worktree.setup = '''\n[no.table]\ncopi = 1\n'''\n«copi = 1\n", "copi", "worktree.copy", ""},
		{"after an escaped quote", "worktree.setup = \"\\\"\\\\\" # \"\n«copi = 1\n", "copi", "worktree.copy", ""},
		{"after quotes at the end", "worktree.setup = \"\"\"a\"\"\"\"\"\n«copi = 1\n", "copi", "worktree.copy", ""},
		{"after wide letters", "worktree = { setup = 'äöü→', «copi = 1 }\n", "worktree.copi", "worktree.copy", ""},
		{"the same key in another table first", "[clis.x]\ncommand = ['copi']\nenv = { copi = 'copi' }\n[worktree]\n# copi = 1\n«copi = 1\n", "worktree.copi", "worktree.copy", ""},
		{"the first of two", "«one = 1\ntwo = 2\n", "one", "", ""},
		{"windows line ends", "default_cli = 'x'\r\n[worktree]\r\n«copi = 1\r\n", "worktree.copi", "worktree.copy", ""},
		{"byte order mark", "\ufeff[worktree]\n«copi = 1\n", "worktree.copi", "worktree.copy", ""},
		{"no line end", "[worktree]\n«copi = 1", "worktree.copi", "worktree.copy", ""},
	} {
		t.Run(m.name, func(t *testing.T) { checkMistake(t, m) })
	}
}

func TestWrongValuesAreFoundWhereTheyStand(t *testing.T) {
	for _, m := range []mistake{
		{"number for a string", "default_cli = «3\n", "default_cli", "", "must be a string"},
		{"table for a string", "[«default_cli]\n", "default_cli", "", "must be a string"},
		{"table below a string", "[«default_cli.x]\n", "default_cli", "", "must be a string"},
		{"string for a table", "«worktree = 'x'\n", "worktree", "", "must be a table"},
		{"list for a table", "[[«worktree]]\n", "worktree", "", "must be a table"},
		{"list for a chosen table", "[[presets.«x]]\n", "presets.x", "", "must be a table"},
		{"string for a chosen table", "clis.«x = 'x'\n", "clis.x", "", "must be a table"},
		{"string for a list", "worktree.copy = «'.env'\n", "worktree.copy", "", "must be a list of strings"},
		{"number in a list", "worktree.copy = ['.env', «3]\n", "worktree.copy", "", "must be a list of strings"},
		{"list in a list", "worktree.copy = «['.env',\n [['x']]]\n", "worktree.copy", "", "must be a list of strings"},
		{"tables for a list", "[[worktree.«copy]]\n", "worktree.copy", "", "must be a list of strings"},
		{"tables in a list", "worktree.copy = [«{a = 1}]\n", "worktree.copy", "", "must be a list of strings"},
		{"string for a number", "turns.snapshot_mib = «'3'\n", "turns.snapshot_mib", "", "must be a whole number"},
		{"fraction", "turns.snapshot_mib = «3.0\n", "turns.snapshot_mib", "", "must be a whole number"},
		{"date", "turns.snapshot_mib = «1979-05-27 07:32:00 # x\n", "turns.snapshot_mib", "", "must be a whole number"},
		{"zero", "[turns]\nsnapshot_seconds = «0\n", "turns.snapshot_seconds", "", "0 is not a number from 1 to 1000000"},
		{"negative dwell", "notify.dwell = «-1\n", "notify.dwell", "", "-1 is not a number from 0 to 1000000"},
		{"negative", "agents.max_depth = «-1\n", "agents.max_depth", "", "-1 is not a number from 1"},
		{"huge", "agents.max_children = «0x7fffffffffffffff\n", "agents.max_children", "", "is not a number from 1"},
		{"string for a switch", "clis.codex.git_writable = «'yes'\n", "clis.codex.git_writable", "", "must be true or false"},
		{"list for variables", "clis.codex.env = «['A=1']\n", "clis.codex.env", "", "must be a table of strings"},
		{"number for a variable", "clis.codex.env = { A = '1', B = «2 }\n", "clis.codex.env.B", "", "must be a string"},
		{"table for a variable", "[clis.codex.env]\n[clis.codex.env.«A]\n", "clis.codex.env.A", "", "must be a string"},
		{"bad variable", "[clis.codex.env]\nA = '1'\n«\"a b\" = '1'\n", `clis.codex.env."a b"`, "", "not the name of a variable"},
		{"paw's variable", "clis.codex.env.«PAW_SESSION = 'x'\n", "clis.codex.env.PAW_SESSION", "", "set by paw itself"},

		{"layout", "tmux.layout = «'tile'\n", "tmux.layout", "tiled", `"tile" is not tiled or windows`},
		{"prompt", "clis.codex.prompt = «'sent'\n", "clis.codex.prompt", "send", `"sent" is not arg or send`},
		{"osc", "notify.osc = «'8'\n", "notify.osc", "", `"8" is not "" or 9 or 777 or 99`},
		{"empty layout", "tmux.layout = «''\n", "tmux.layout", "", `"" is not tiled or windows`},
		{"socket", "tmux.socket = «'a/b'\n", "tmux.socket", "", "neither a socket name nor an absolute path"},
		{"dots as socket", "tmux.socket = «'..'\n", "tmux.socket", "", "neither a socket name"},
		{"line break in a socket", "tmux.socket = «\"a\\nb\"\n", "tmux.socket", "", "line break"},
		{"default cli", "default_cli = «'my cli'\n", "default_cli", "", "not a cli name"},
		{"empty default cli", "default_cli = «''\n", "default_cli", "", "not a cli name"},
		{"two lines as default cli", "default_cli = «\"claude\\n\"\n", "default_cli", "", "not a cli name"},

		{"cli name", "[clis.«\"my-cli\"]\ncommand = ['x']\n", `clis.my-cli`, "", `"my-cli" is not a cli name`},
		{"empty cli name", "[clis.«\"\"]\ncommand = ['x']\n", `clis.""`, "", "is not a cli name"},
		{"no command", "[clis]\n[clis.«mine]\nargs = ['x']\n", "clis.mine", "", "needs a command"},
		{"nothing at all", "[clis.«mine]\n", "clis.mine", "", "needs a command"},
		{"acp and a command", "[clis.«mine]\nacp = ['x']\ncommand = ['x']\n", "clis.mine", "", "acp goes with neither"},
		{"acp and hooks", "[clis.«mine]\nacp = ['x']\nhooks = 'claude'\n", "clis.mine", "", "acp goes with neither"},
		{"hooks without a place", "[clis.«mine]\ncommand = ['x']\nresume = ['{settings}']\nhooks = 'claude'\n", "clis.mine", "", "has to stand in command"},
		{"hooks without a place to resume", "[clis.«mine]\ncommand = ['x', '{id}', '{settings}']\nresume = ['{id}']\nhooks = 'claude'\n", "clis.mine", "", "has to stand in command"},
		{"misspelt cli", "[clis.«cluade]\nargs = ['x']\n", "clis.cluade", "claude", "needs a command"},
		{"empty command", "clis.mine.command = «[]\n", "clis.mine.command", "", "must name a program"},
		{"command of nothing", "clis.mine.command = «['', 'x']\n", "clis.mine.command", "", "must name a program"},
		{"invisible argument", "clis.codex.args = «['a',\n  \"b\\u001b[2K\"]\n", "clis.codex.args", "", "invisible character (U+001B)"},
		{"nul", "worktree.setup = «\"a\\u0000\"\n", "worktree.setup", "", "invisible character (U+0000)"},
		{"turned text", "worktree.setup = «\"a\\u202Eb\"\n", "worktree.setup", "", "invisible character (U+202E)"},

		{"absolute pattern", "worktree.copy = «['.env',\n # '\n '/etc/passwd']\n", "worktree.copy", "", "is absolute"},
		{"pattern outside", "worktree.link = [«'../x']\n", "worktree.link", "", "leaves the repository"},
		{"pattern outside and back", "worktree.link = [«'a/../../x']\n", "worktree.link", "", "leaves the repository"},
		{"escaped dots", "worktree.link = [«'a/\\.\\./x']\n", "worktree.link", "", "leaves the repository"},
		{"git's files", "worktree.copy = [«'.git/config']\n", "worktree.copy", "", "git's own files"},
		{"bad pattern", "worktree.copy = [«'a[']\n", "worktree.copy", "", "not a valid pattern"},
		{"empty pattern", "worktree.copy = [«'']\n", "worktree.copy", "", "does not name a file"},
		{"everything", "worktree.copy = [«'./.']\n", "worktree.copy", "", "does not name a file"},
		{"two lines as pattern", "worktree.copy = [«\"a\\nb\"]\n", "worktree.copy", "", "line break"},

		{"placeholder", "worktree.path = «'{parent}/{repos}'\n", "worktree.path", "{repo}", "unknown placeholder {repos}"},
		{"strange placeholder", "worktree.path = «\"/{\\u009b}\"\n", "worktree.path", "", "invisible character"},
		{"relative path", "worktree.path = «'{repo}/x'\n", "worktree.path", "", "is relative"},
		{"home", "worktree.path = «'~/x'\n", "worktree.path", "", "is relative"},
		{"open brace", "worktree.path = «'/x/{agent'\n", "worktree.path", "", "brace without its partner"},
		{"close brace", "worktree.path = «'/x/agent}'\n", "worktree.path", "", "brace without its partner"},
		{"line break in a path", "worktree.path = «\"/x\\n\"\n", "worktree.path", "", "line break"},
		{"empty path", "worktree.path = «''\n", "worktree.path", "", "must not be empty"},

		{"preset name", "[presets.«\"a b\"]\ncli = ['demo']\n", `presets."a b"`, "", "not a preset name"},
		{"preset name like an option", "[presets.«-x]\ncli = ['demo']\n", `presets.-x`, "", "not a preset name"},
		{"prompt name", "[prompts]\n«\"a b\" = 'x'\n", `prompts."a b"`, "", "not the name of a prompt"},
		{"empty prompt", "[prompts]\na = «' '\n", "prompts.a", "", "is empty"},
		{"prompt as a number", "prompts.a = «1\n", "prompts.a", "", "must be a string"},
		{"preset cli", "presets.a.cli = ['demo', «'a b']\n", "presets.a.cli", "", "not a cli name"},
		{"preset agent", "presets.a.cli = [«'a-b=demo']\n", "presets.a.cli", "", "not an agent name"},
		{"preset cli missing", "presets.a.cli = [«'a=']\n", "presets.a.cli", "", "not a cli name"},
		{"branch like an option", "presets.a.branches = [«'-D']\n", "presets.a.branches", "", "not the name of a branch"},
		{"empty branch", "presets.a.branches = ['a', «'']\n", "presets.a.branches", "", "not the name of a branch"},
		{"branch with a space", "presets.a.branches = [«'a b']\n", "presets.a.branches", "", "not the name of a branch"},
		{"base like an option", "presets.a.base = «'--all'\n", "presets.a.base", "", "not the name of a branch"},
		{"branches that do not pair", "[presets.a]\nbranches = «['a', 'b']\ncli = ['claude', 'codex', 'demo']\n", "presets.a.branches", "", "2 branches do not pair with 3 clis"},
	} {
		t.Run(m.name, func(t *testing.T) { checkMistake(t, m) })
	}
}

func TestSyntaxErrorsAreFoundWhereTheyStand(t *testing.T) {
	for _, c := range []struct {
		name, text, message string
		line                int
	}{
		{"no value", "default_cli = 'x'\nworktree.setup =\n", "expected value", 2},
		{"no equals", "[worktree]\n\nsetup\n", "expected", 3},
		{"twice", "[worktree]\nsetup = 'a'\nsetup = 'b'\n", "already been defined", 3},
		{"table twice", "[worktree]\n[tmux]\n[worktree]\n", "already", 3},
		{"open string", "\n\ndefault_cli = 'x\n", "newline", 3},
		{"open long string", "a = '''\n\n", "unexpected", 2}, // the last line that is not empty
		{"open list", "a = [\n1,\n", "expected value", 2},
		{"bad escape", "a = 1\nb = \"\\q\"\n", "escape", 2},
		{"dots", "\n" + strings.Repeat("a.", largestFile/2-1), "nested too deeply", 2},
		{"dots in a header", "[" + strings.Repeat("a.", largestFile/2-1), "nested too deeply", 1},
		{"brackets", "a = " + strings.Repeat("[", largestFile-4), "nested too deeply", 1},
		{"braces", "a = " + strings.Repeat("{\na=", largestFile/5), "nested too deeply", 17},
		{"long table name", "\n[" + strings.Repeat("a", largestFile/2) + "]\n" + strings.Repeat("b=1\n", 1000), "a key that is longer than 128 bytes", 2},
		{"long key of a table in a line", "\n\n'" + strings.Repeat("a", largestFile/2) + "' = {b=1}", "a key that is longer than 128 bytes", 3},
		{"not text", "a = 1\nb = '\xff'\n", "UTF-8", 2},
		{"nul first", "\x00", "NULL", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPlace(t)
			p.user(t, c.text)
			_, err := Load(p.Paths, p.repo, environment())
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("got %v", err)
			}
			if e.Line != c.line || e.File != p.ConfigFile || !strings.Contains(e.Message, c.message) {
				t.Errorf("got %s:%d %q, want line %d and %q", e.File, e.Line, e.Message, c.line, c.message)
			}
			if first := e.Message[0]; first >= 'A' && first <= 'Z' && !strings.HasPrefix(e.Message, "TOML") || strings.HasSuffix(e.Message, ".") {
				t.Errorf("message %q does not fit behind a colon", e.Message)
			}
		})
	}
}

func TestRepositoryMayRelyOnTheUsersCommand(t *testing.T) {
	p := newPlace(t)
	p.user(t, "clis.mine.command = ['mine']\n")
	p.repository(t, "clis.mine.prompt = 'send'\n")
	if got := p.load(t).CLIs["mine"]; got.Prompt != "send" || len(got.Command) != 1 {
		t.Errorf("got %+v", got)
	}
	p.user(t, "")
	if l := p.load(t); l.RepositoryMistake == nil || len(l.CLIs) != 0 {
		t.Error("a cli without a command was accepted")
	}
}

func TestPresetsPair(t *testing.T) {
	for _, preset := range []string{
		"cli = ['claude']\nbranches = ['a', 'b', 'c']\n",
		"cli = ['claude', 'codex']\nbranches = ['a', 'b']\n",
		"cli = ['claude', 'two=claude']\n",
		"branches = ['feat/a', 'release-1.0']\nbase = 'HEAD~2'\n",
		"base = ''\n",
		"",
	} {
		p := newPlace(t)
		p.user(t, "[presets.my-preset]\n"+preset)
		p.load(t)
	}
}

func TestNearest(t *testing.T) {
	words := []string{"copy", "link", "setup", "path", "snapshot_seconds"}
	for name, want := range map[string]string{
		"copy": "copy", "copi": "copy", "cpoy": "copy", "COPY": "copy", "cop": "copy", "copyy": "copy",
		"pathh": "path", "snapshot-seconds": "snapshot_seconds", "snapshots": "", "x": "", "": "", "lnik": "link",
		"ünïcödé": "",
	} {
		if got := Nearest(name, words); got != want {
			t.Errorf("nearest of %q is %q, want %q", name, got, want)
		}
	}
	names := []string{"a", "b", "ui", "api"}
	for name, want := range map[string]string{"c": "", "A": "a", "aa": "", "u": "", "uo": "ui", "apo": "api", "xyi": ""} {
		if got := Nearest(name, names); got != want {
			t.Errorf("nearest of %q is %q, want %q", name, got, want)
		}
	}
	if got := Nearest("x", nil); got != "" {
		t.Errorf("nearest of no words is %q", got)
	}
}
